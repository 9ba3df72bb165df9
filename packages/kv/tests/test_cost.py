"""The cost table on a tiny pair: what each row says, and what a left-out point gives as its reason."""

from __future__ import annotations

import pytest
import torch
from tiny import VOCABULARY, tiny_model

from lifeboat_kv.mapper.form import LayerMap, Mapper
from lifeboat_kv.measure import cost
from lifeboat_kv.measure.cost import cost_table, least_tokens
from lifeboat_kv.models.side import Side
from lifeboat_kv.rotation.rope import Rope

FACTS = {"num_hidden_layers": 3, "num_key_value_heads": 2, "head_dim": 16}


@pytest.fixture(scope="module")
def pair():
    model = tiny_model()
    side = Side(model, Rope.from_model(model))
    eye, zero = torch.eye(32), torch.zeros(32)
    layers = tuple(LayerMap((i,), (i,), eye, zero, eye, zero) for i in range(3))
    return Mapper("ridge", FACTS, FACTS, layers), side


def table(pair, **options):
    mapper, side = pair
    return cost_table(mapper, side, side, VOCABULARY, decision_tokens=3, **options)


def test_a_row_holds_the_parts_and_the_three_whole_paths(pair) -> None:
    told = []
    rows = table(pair, lengths=(100, 40), progress=lambda done, total: told.append((done, total)))
    assert [r["tokens"] for r in rows] == [40, 100] and told == [(1, 2), (2, 2)]
    for row in rows:
        assert "left_out" not in row and row["decision_tokens"] == 3
        parts = [row[f"{name}_ms"] for name in ("map", "move", "tail")]
        assert all(value > 0 for value in parts)
        assert row["transfer_ms"] == pytest.approx(sum(parts), abs=0.002)
        assert row["direct_target_ms"] == row["target_prefill_ms"]
        decode = row["escalated_with_transfer_ms"] - row["transfer_ms"] - row["pilot_prefill_ms"]
        assert decode > 0
        whole = row["pilot_prefill_ms"] + decode + row["target_prefill_ms"]
        assert row["escalated_without_transfer_ms"] == pytest.approx(whole, abs=0.01)


def test_points_beyond_context_time_and_memory_are_left_out_with_a_reason(pair, monkeypatch) -> None:
    rows = table(pair, lengths=(40, 4000, 5000), seconds_a_point=1e-3)
    assert rows[0]["transfer_ms"] is not None
    assert "s would be needed, by the point at 40" in rows[1]["left_out"]
    assert rows[2]["left_out"] == "longer than the context of 4,096 tokens"
    assert rows[1]["transfer_ms"] is None and rows[1]["escalated_with_transfer_ms"] is None
    monkeypatch.setattr(cost, "free_bytes", lambda device: 1 << 10)
    (row,) = table(pair, lengths=(40,))
    assert "MiB would be needed" in row["left_out"]


def test_a_foretold_point_is_not_tried(pair, monkeypatch) -> None:
    seen = []
    measure = cost._Bench.measure
    monkeypatch.setattr(
        cost._Bench,
        "measure",
        lambda self, ids, budget: (seen.append(ids.shape[1]), measure(self, ids, budget))[1],
    )
    table(pair, lengths=(40, 4000), seconds_a_point=1e-3)
    assert seen == [40]


def test_least_tokens_is_where_the_transfer_begins_to_win_for_good() -> None:
    def row(tokens: int, prefill: float | None, transfer: float | None) -> dict:
        return {"tokens": tokens, "target_prefill_ms": prefill, "transfer_ms": transfer}

    assert least_tokens([row(64, 5, 4), row(128, 6, 7), row(256, 9, 8), row(512, 20, 9)]) == 256
    assert least_tokens([row(64, 5, 4), row(128, 6, 5), row(8192, None, None)]) == 64
    assert least_tokens([row(64, 5, 4), row(128, 6, 7)]) is None
