"""Paired differences by bootstrap, against a direct resampling of the sequences."""

from __future__ import annotations

import numpy as np
import pytest

from lifeboat_kv.compare.intervals import counts_table, difference, retention


def rows(chance: np.random.Generator, count: int, share: float) -> list[dict]:
    totals = {"first": 2, "early": 30, "late": 80}
    return [
        {
            name: {"agree": int(chance.binomial(total, share)), "total": total}
            for name, total in totals.items()
        }
        for _ in range(count)
    ]


def pooled(table: np.ndarray) -> float:
    summed = table.sum(0)
    return float((summed[:, 0] / summed[:, 1]).mean())


def test_intervals_are_those_of_resampled_sequences() -> None:
    chance = np.random.default_rng(0)
    one, two = rows(chance, 60, 0.95), rows(chance, 60, 0.9)
    a, b = counts_table(one), counts_table(two)
    found, gap = retention(a), difference(a, b)
    assert found.value == pytest.approx(pooled(a.numpy()))
    assert gap.value == pytest.approx(pooled(a.numpy()) - pooled(b.numpy()))
    drawn = [chance.integers(0, 60, 60) for _ in range(4000)]
    direct = np.quantile([pooled(a.numpy()[d]) for d in drawn], [0.025, 0.975])
    paired = np.quantile([pooled(a.numpy()[d]) - pooled(b.numpy()[d]) for d in drawn], [0.025, 0.975])
    np.testing.assert_allclose([found.low, found.high], direct, atol=3e-3)
    np.testing.assert_allclose([gap.low, gap.high], paired, atol=3e-3)


def test_a_method_against_itself_is_no_difference() -> None:
    table = counts_table(rows(np.random.default_rng(1), 20, 0.8))
    same = difference(table, table)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="same sequences"):
        difference(table, table[:5])
