"""The buffered, blocked moments: same numbers whatever the block, the buffer and the order of reading."""

from __future__ import annotations

from unittest.mock import patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lifeboat_kv.errors import NumericsError
from lifeboat_kv.host.precision import exact_float32
from lifeboat_kv.moments import second_moments as moments
from lifeboat_kv.moments.second_moments import Moments

SEEDS = st.integers(0, 100_000)


def reference(rows: Tensor, weights: Tensor) -> tuple[float, Tensor, Tensor]:
    """Weight, mean and scatter in float64, in two passes."""
    x, w = rows.double(), weights.double()
    mean = (w[:, None] * x).sum(0) / w.sum()
    return float(w.sum()), mean, ((x - mean) * w[:, None]).T @ (x - mean)


@given(
    seed=SEEDS,
    width=st.integers(1, 23),
    batches=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    block=st.integers(1, 8),
    panel=st.integers(1, 11),
    buffer=st.integers(1, 40),
    weighted=st.booleans(),
    look=st.integers(0, 5),
)
@settings(max_examples=80, deadline=None)
def test_blocks_and_buffers_do_not_show(
    seed: int, width: int, batches: list[int], block: int, panel: int, buffer: int, weighted: bool, look: int
) -> None:
    chance = torch.Generator().manual_seed(seed)
    parts = [torch.randn(n, width, generator=chance) * 3 + 100 for n in [*batches, 2]]
    weights = [torch.rand(len(p), generator=chance) * 30 + 0.1 if weighted else None for p in parts]
    with patch.multiple(moments, BLOCK=block, PANEL=panel, BUFFER_ROWS=buffer):
        found = Moments.empty(width)
        for index, (part, w) in enumerate(zip(parts, weights, strict=True)):
            found.add(part, w)
            if index == look:
                assert torch.isfinite(found.scatter).all()
        n, mean, scatter = reference(
            torch.cat(parts),
            torch.cat([torch.ones(len(p)) if w is None else w for p, w in zip(parts, weights, strict=True)]),
        )
        assert found.n == pytest.approx(n, rel=1e-6)
        torch.testing.assert_close(found.mean, mean, rtol=1e-7, atol=1e-6)
        torch.testing.assert_close(found.scatter, scatter, rtol=1e-4, atol=1e-5 * float(scatter.abs().max()))
        assert torch.equal(found.scatter, found.scatter.T)


@given(seed=SEEDS, scale=st.floats(0.1, 40), block=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_what_waits_takes_part_in_a_merge_and_a_copy(seed: int, scale: float, block: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    here, there = torch.randn(9, 7, generator=chance), torch.randn(5, 7, generator=chance) + 4
    with patch.multiple(moments, BLOCK=block, PANEL=4):
        one, two = Moments.empty(7), Moments.empty(7)
        one.add(here)
        two.add(there)
        twin = one.copy()
        one.merge(two, scale)
        n, mean, scatter = reference(
            torch.cat([here, there]), torch.cat([torch.ones(9), torch.full((5,), scale)])
        )
        assert one.n == pytest.approx(n, rel=1e-6)
        torch.testing.assert_close(one.mean, mean, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(one.scatter, scatter, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(twin.scatter, reference(here, torch.ones(9))[2], rtol=1e-4, atol=1e-4)


def test_a_mean_that_moves_far_between_buffers_is_followed() -> None:
    chance = torch.Generator().manual_seed(0)
    parts = [0.1 * torch.randn(40, 3, generator=chance) + centre for centre in (0.0, 500.0, -2000.0)]
    found = Moments.empty(3)
    for part in parts:
        found.add(part)
        found.settle()
    _, mean, scatter = reference(torch.cat(parts), torch.ones(120))
    torch.testing.assert_close(found.mean, mean, rtol=1e-9, atol=1e-6)
    torch.testing.assert_close(found.scatter, scatter, rtol=1e-6, atol=1e-6 * float(scatter.abs().max()))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("count", [3, 50])
def test_bad_rows_leave_what_waits_as_it_was(bad: float, count: int) -> None:
    with patch.multiple(moments, BUFFER_ROWS=20):
        found = Moments.empty(2)
        good, wrong = torch.randn(7, 2), torch.randn(count, 2)
        wrong[-1, 1] = bad
        with pytest.raises(NumericsError):
            found.add(wrong)
        assert found.n == 0
        found.add(good)
        with pytest.raises(NumericsError):
            found.add(wrong, torch.ones(count))
        torch.testing.assert_close(found.scatter, reference(good, torch.ones(7))[2], rtol=1e-5, atol=1e-5)
        assert found.n == 7


def test_squares_that_overflow_are_refused_and_change_nothing() -> None:
    found = Moments.empty(3)
    found.add(torch.randn(5, 3))
    found.settle()
    before = found.copy()
    found.add(torch.tensor([[1e25, 0.0, 0.0], [-1e25, 0.0, 0.0]]))
    with pytest.raises(NumericsError):
        found.settle()
    assert torch.equal(found._scatter, before._scatter)
    assert torch.equal(found._mean, before._mean)


def test_products_are_exact_whatever_the_host_set() -> None:
    before = torch.backends.mkldnn.matmul.fp32_precision, torch.backends.cuda.matmul.fp32_precision
    torch.set_float32_matmul_precision("medium")
    try:
        with exact_float32():
            assert torch.backends.mkldnn.matmul.fp32_precision == "ieee"
            assert torch.backends.cuda.matmul.fp32_precision == "ieee"
        assert torch.backends.mkldnn.matmul.fp32_precision == "bf16"
    finally:
        torch.set_float32_matmul_precision("highest")
        torch.backends.mkldnn.matmul.fp32_precision, torch.backends.cuda.matmul.fp32_precision = before
