"""The bench's arithmetic and its whole course on tiny shapes. No time is asserted."""

from __future__ import annotations

import json
from dataclasses import replace
from unittest.mock import patch

import pytest
import torch

from lifeboat_kv.bench import calibration, clock, kernels, prefill, report, run, shapes
from lifeboat_kv.bench.clock import Clock, Times
from lifeboat_kv.bench.shapes import DecoderShape, PairShape

TINY = PairShape("tiny", 3, 4, 2, 8, 2, {5: (10.0, 2.0)}, "nothing")
DECODER = DecoderShape(3, 16, 4, 2, 8, 32)
CPU = torch.device("cpu")


@pytest.fixture
def tiny_clock() -> Clock:
    return Clock(CPU, side=16)


def counted_flops(work) -> int:
    """Operations that torch itself counts."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


@pytest.mark.parametrize("head_local", [False, True])
@pytest.mark.parametrize("layers", [1, 4])
def test_a_maps_operations_are_those_that_torch_counts(head_local: bool, layers: int) -> None:
    job = kernels.synthetic(TINY, 5, layers, head_local=head_local, dtype=torch.float32, device=CPU)
    assert shapes.map_flops(TINY, 5, layers, head_local=head_local) == counted_flops(job.run)


def test_the_published_sizes_are_the_flops_of_one_token() -> None:
    full = shapes.map_flops(shapes.SMALL, 1, 28, head_local=False)
    assert full == 2 * 234_881_024  # 235 M parameters
    assert shapes.map_flops(shapes.LARGE, 1, 64, head_local=False) == pytest.approx(2 * 1.07e9, rel=0.01)
    assert shapes.map_flops(shapes.SMALL, 1, 28, head_local=True) * 8 == full


def test_moments_count_one_triangle() -> None:
    assert shapes.moments_flops(10, 3) == 10 * 2 * 6  # a product and a sum for 6 entries on or above it
    assert shapes.moments_flops(10, 3, 2) == 10 * 2 * (6 + 6)


def test_share_and_times() -> None:
    assert shapes.share(50.0, 2.0, 100.0) == 0.25
    times = Times([2.0, 1.0, 4.0, 3.0], [1.0, 1.0, 2.0, 1.0])
    assert (times.best, times.median, times.quartiles) == (1.0, 2.5, (1.75, 3.25))
    # Shares of 1/2, 1, 1/2 and 1/3 of the product's rate just before, for as many operations.
    assert times.beside(7.0, 7.0) == 0.5


def test_a_clock_rates_by_its_best_product(tiny_clock: Clock) -> None:
    tiny_clock.products = [0.5, 0.25, 1.0]
    assert tiny_clock.rate == 2 * 16**3 / 0.25
    tiny_clock.products = [1.0, 1.0, 1.0]
    seen = []
    times = tiny_clock.times(lambda: seen.append(len(tiny_clock.products)), 3)
    assert seen == [3, 4, 5, 6]  # the warm-up, then each behind a product of its own
    assert len(times.seconds) == len(times.reference) == len(times.busy) == 3
    tiny_clock.busy_products = [4.0, 2.0]
    assert tiny_clock.busy_rate == 2 * 16**3 / 2.0


def test_a_peak_is_what_a_run_holds(tiny_clock: Clock) -> None:
    peak = tiny_clock.peak(lambda: torch.ones(64 * clock.MIB // 4).sum())
    if peak is not None:
        assert 60 * clock.MIB <= peak <= 160 * clock.MIB


def test_a_point_knows_what_it_ran(tiny_clock: Clock) -> None:
    point = kernels.measure_map(tiny_clock, TINY, 5, 3, 1e9, head_local=False, dtype=torch.float32)
    assert (point.layers, point.of_layers, point.repeats, point.published_ms) == (4, 4, 3, 2.0)
    assert point.best_ms <= point.low_ms <= point.ms <= point.high_ms
    assert point.share == pytest.approx(point.flops / (point.best_ms / 1e3) / tiny_clock.rate, rel=1e-6)
    assert point.busy == pytest.approx(point.flops / (point.busy_ms / 1e3) / tiny_clock.busy_rate, rel=1e-6)
    part = kernels.measure_map(tiny_clock, TINY, 5, 1, 0.0, head_local=False, dtype=torch.float32)
    assert part.layers == 1
    assert part.whole_ms == pytest.approx(4 * part.ms)


def test_what_does_not_fit_is_left_out_with_the_reason(tiny_clock: Clock) -> None:
    with patch.object(kernels, "available_bytes", lambda device: 100):
        point = kernels.measure_map(tiny_clock, TINY, 5, 1, 1.0, head_local=True, dtype=torch.float32)
    assert point.left_out
    assert point.left_out in " ".join(report._map_row(point.row()))


def test_synthetic_layers_are_neighbours_inside_the_source() -> None:
    for shape in (shapes.SMALL, shapes.LARGE, TINY):
        for layer in range(shape.target_layers):
            chosen = shape.sources_of(layer)
            assert len(chosen) == shape.k
            assert chosen[0] >= 0 and chosen[-1] < shape.source_layers


def test_a_prefill_is_one_layer_multiplied(tiny_clock: Clock) -> None:
    found = prefill.measure_prefill(tiny_clock, DECODER, 40, 1, torch.float32)
    assert (found.tokens, found.tail_tokens) == (40, 2)
    assert min(found.prefill_ms, found.tail_ms) > 0


def test_the_parts_of_a_calibration_add_up(tiny_clock: Clock) -> None:
    corpus = calibration.Corpus(fit=4, select=2, gate=3, report=2, tokens=16, answer=4)
    found = calibration.measure_calibration(tiny_clock, TINY, DECODER, DECODER, corpus, 2, torch.float32)
    assert found["passes"] == 1
    assert found["total_seconds"] == pytest.approx(sum(found["seconds"].values()), abs=0.1)


@pytest.mark.parametrize("limit", [1e9, 0.0])
def test_the_whole_course_is_reported(limit: float) -> None:
    budget = run.Budget(1, 1e-9, limit, (2, 5), 8, 2048, (16,))
    with (
        patch.object(run, "SMALL", TINY),
        patch.object(run, "LARGE", replace(TINY, name="larger")),
        patch.object(report, "SMALL", TINY),
        patch.object(report, "LARGE", replace(TINY, name="larger")),
        patch.object(run, "QWEN3_1_7B", DECODER),
        patch.object(clock.Clock.__init__, "__defaults__", (16,)),
    ):
        found = run.bench(CPU, budget)
        text = report.report(json.loads(json.dumps(found)))
    assert "unproven" in text
    assert ("left out: 0 s were over" in text) == (limit == 0.0)
    assert ("times cheaper" in text) and ("| full-head" in text)
    assert len(found["moments"]) == 3
    assert "aim 70%" in text and "aim 60%" in text
    assert all(len({line.count("|") for line in part}) == 1 for part in _tables(text))


def _tables(text: str) -> list[list[str]]:
    parts, current = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            current.append(line)
        elif current:
            parts.append(current)
            current = []
    return parts
