"""Passes: the fewest that fit in the memory there is, and the same maps whatever their number."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeboat_kv.errors import ResourceError
from lifeboat_kv.moments.passes import (
    Needs,
    Pass,
    Widths,
    batch_within,
    nearest_layers,
    pass_bytes,
    plan_passes,
)

GIB = 1 << 30
# Qwen3 0.6B -> 1.7B and 14B -> 32B: 8 KV heads of 128.
SMALL_PAIR = Widths(28, 1024, 28, 1024)
LARGE_PAIR = Widths(40, 1024, 64, 1024)


ONE, TWO = ("plain",), ("attention", "plain")


def covered(passes: list[Pass], layers: int, weightings: tuple[str, ...]) -> None:
    seen = sorted(
        (w, p, layer) for one in passes for w in one.weightings for p in one.parts for layer in one.layers
    )
    assert sorted(seen) == sorted((w, p, layer) for w in weightings for p in "kv" for layer in range(layers))


@pytest.mark.parametrize(
    ("widths", "needs", "gib", "most"),
    [
        (SMALL_PAIR, Needs(4, TWO, "attention"), 140, 1),
        (SMALL_PAIR, Needs(4, TWO, "attention"), 60, 4),
        (SMALL_PAIR, Needs(4, ONE, "plain"), 24, 8),
        (LARGE_PAIR, Needs(8, ONE, "plain"), 300, 1),
        (LARGE_PAIR, Needs(8, TWO, "attention", prenorm=True), 52, 32),
        (LARGE_PAIR, Needs(8, ONE, "plain"), 52, 10),
    ],
)
def test_published_pairs_are_planned(widths: Widths, needs: Needs, gib: int, most: int) -> None:
    batch = batch_within(widths, 8192, 1024, gib * GIB)
    passes = plan_passes(widths, needs, batch, gib * GIB)
    covered(passes, widths.target_layers, needs.weightings)
    assert len(passes) <= most
    assert all(pass_bytes(widths, needs, batch, one) <= gib * GIB for one in passes)


def test_a_small_pair_never_needs_the_square_of_both_widths() -> None:
    joint = 2 * 2 * 8 * (2 * 28 * 1024) ** 2
    needs = Needs(4, ONE, "plain")
    assert pass_bytes(SMALL_PAIR, needs, 8192, Pass(("k", "v"), tuple(range(28)), ONE)) < 0.9 * joint
    assert pass_bytes(SMALL_PAIR, needs, 1024, Pass(("k",), (0,), ONE)) < joint / 5


def test_too_little_memory_is_refused_with_numbers() -> None:
    with pytest.raises(ResourceError) as raised:
        plan_passes(LARGE_PAIR, Needs(8, TWO), 1024, 10 * GIB)
    assert raised.value.code == "MEMORY_SHORT" and raised.value.exit_code == 6
    assert "10240 MiB are left" in raised.value.message and "free " in raised.value.message


def test_batches_shrink_with_memory_but_hold_one_sequence() -> None:
    assert batch_within(SMALL_PAIR, 8192, 1024, None) == 8192
    assert batch_within(SMALL_PAIR, 8192, 1024, 1000 * GIB) == 8192
    assert 1024 < batch_within(SMALL_PAIR, 8192, 1024, 24 * GIB) < 8192
    assert batch_within(SMALL_PAIR, 8192, 1024, GIB) == 1024


def test_unknown_memory_means_one_pass() -> None:
    assert plan_passes(SMALL_PAIR, Needs(4, ONE), 8192, None) == [Pass(("k", "v"), tuple(range(28)), ONE)]


@given(
    layers=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    widths=st.tuples(st.integers(1, 1024), st.integers(1, 1024)),
    k=st.integers(1, 8),
    weightings=st.sampled_from([ONE, TWO]),
    own=st.sampled_from([None, "plain"]),
    prenorm=st.booleans(),
    share=st.floats(0.0, 1.2),
)
@settings(max_examples=60, deadline=None)
def test_every_plan_is_whole_and_within_its_budget(
    layers: tuple[int, int],
    widths: tuple[int, int],
    k: int,
    weightings: tuple[str, ...],
    own: str | None,
    prenorm: bool,
    share: float,
) -> None:
    pair, needs = Widths(layers[0], widths[0], layers[1], widths[1]), Needs(k, weightings, own, prenorm)
    whole = pass_bytes(pair, needs, 1024, Pass(("k", "v"), tuple(range(layers[1])), weightings))
    alone = [Pass((p,), (layer,), (w,)) for w in weightings for p in "kv" for layer in range(layers[1])]
    fits_alone = all(pass_bytes(pair, needs, 1024, one) <= share * whole for one in alone)
    try:
        passes = plan_passes(pair, needs, 1024, int(share * whole))
    except ResourceError:
        assert not fits_alone
        return
    covered(passes, layers[1], weightings)
    assert all(pass_bytes(pair, needs, 1024, one) <= share * whole for one in passes)
    assert share >= 1 - 1e-9 or len(passes) > 1 or len(alone) == 1


@given(layers=st.integers(1, 70), data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_self_map_reads_its_own_layer_and_neighbours(layers: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, layers))
    layer = data.draw(st.integers(0, layers - 1))
    found = nearest_layers(layer, count, layers)
    assert layer in found and len(found) == count
    assert list(found) == list(range(found[0], found[0] + count))
    assert found[0] >= 0 and found[-1] < layers
