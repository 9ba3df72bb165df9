"""Mappers on the device, in host memory and on disk: who leaves, who comes back, and what is read for it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeboat_kv.engine import mappers
from lifeboat_kv.engine.mapper_tier import HeldMapper, MapperTier
from lifeboat_kv.engine.mappers import MapperRefusedError, MapperStore
from lifeboat_kv.mapper.artifact import write_mapper
from lifeboat_kv.mapper.form import LayerMap, Mapper

from .harness import wait_until
from .test_mapper_store import SOURCE, TARGET

WIDTH = 64
FACTS = {side["id"]: {**side, "head_dim": WIDTH // 2} for side in (SOURCE, TARGET)}
# What one mapper takes: on a CPU device in float32, in host memory as it is stored.
FLOATS = 2 * (WIDTH * WIDTH + WIDTH)
ON_DEVICE, STORED = 4 * FLOATS, 2 * FLOATS
# Budgets are for whole mappers; a file has a header beside its numbers.
SLACK = STORED


def write(folder: Path, seed: int) -> str:
    torch.manual_seed(seed)
    wk, wv = (torch.randn(WIDTH, WIDTH) for _ in "kv")
    layer = LayerMap((0,), (0,), wk, torch.randn(WIDTH), wv, torch.randn(WIDTH))
    made = Mapper("ridge", FACTS["s"], FACTS["t"], (layer,)).to(dtype=torch.bfloat16)
    return write_mapper(folder, made, {})


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that was read as a mapper."""
    seen: list[Path] = []
    real = mappers.read_mapper

    def counting(file: Path, **options: Any) -> Any:
        seen.append(file)
        return real(file, **options)

    monkeypatch.setattr(mappers, "read_mapper", counting)
    return seen


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MapperStore]:
    """Room for two mappers on the device and for two in host memory."""
    made = store_of(tmp_path, 2 * ON_DEVICE + SLACK, 2 * STORED)
    yield made
    made.close()


def store_of(folder: Path, device: int, host: int) -> MapperStore:
    return MapperStore(folder, lambda: FACTS, torch.device("cpu"), device, host)


def states(store: MapperStore) -> dict[str, str]:
    return {row["sha256"]: row["state"] for row in store.list()}


def settled(store: MapperStore) -> None:
    """Waits for moves to host memory, which follow a load on the reading thread."""
    store._reader.submit(lambda: None).result(timeout=20)


def test_pushed_out_of_the_device_it_stays_in_host_memory_and_comes_back_unread(
    store: MapperStore, tmp_path: Path, reads: list[Path]
) -> None:
    names = [write(tmp_path, seed) for seed in range(3)]
    first = store.load(names[0]).result(timeout=20)
    rows = [layer.wk.clone() for layer in first.mapper.layers]
    for name in names[1:]:
        store.load(name).result(timeout=20)
    settled(store)
    assert states(store) == {names[0]: "host", names[1]: "resident", names[2]: "resident"}
    device, host = store.tiers()
    assert (device.used_bytes, host.used_bytes) == (2 * ON_DEVICE, STORED)
    # The file may even be gone by now.
    shutil.rmtree(tmp_path / names[0])
    with pytest.raises(MapperRefusedError) as away:
        store.get(names[0])
    assert away.value.code == "MAPPER_NOT_RESIDENT"
    back = store.load(names[0]).result(timeout=20)
    settled(store)
    assert len(reads) == 3
    assert store.loads == {"host": 1, "disk": 3}
    assert [torch.equal(a, b.wk) for a, b in zip(rows, back.mapper.layers, strict=True)] == [True]
    assert back.mapper.layers[0].wk.dtype == torch.float32
    assert states(store) == {names[0]: "resident", names[1]: "host", names[2]: "resident"}


def test_past_the_host_budget_the_least_recently_used_is_read_again(
    store: MapperStore, tmp_path: Path, reads: list[Path]
) -> None:
    names = [write(tmp_path, seed) for seed in range(5)]
    for name in names:
        store.load(name).result(timeout=20)
    settled(store)
    assert names[0] not in states(store)
    assert store.tiers()[1].evicted == 1
    store.load(names[0]).result(timeout=20)
    assert len(reads) == 6


def test_without_a_host_budget_nothing_is_kept(tmp_path: Path) -> None:
    store = store_of(tmp_path, ON_DEVICE + SLACK, 0)
    names = [write(tmp_path, seed) for seed in range(2)]
    for name in names:
        store.load(name).result(timeout=20)
    settled(store)
    assert states(store) == {names[1]: "resident"}
    store.close()


def test_a_mapper_dropped_on_its_way_to_host_memory_does_not_arrive(
    store: MapperStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [write(tmp_path, seed) for seed in range(3)]
    for name in names[:2]:
        store.load(name).result(timeout=20)
    moving, go = threading.Event(), threading.Event()
    real = mappers.Mapper.to

    def slow(self: Any, device: Any = None, dtype: Any = None) -> Any:
        if dtype == torch.bfloat16:
            moving.set()
            assert go.wait(20)
        return real(self, device, dtype)

    monkeypatch.setattr(mappers.Mapper, "to", slow)
    loading = store.load(names[2])
    assert moving.wait(20)
    store.drop(names[0])
    go.set()
    loading.result(timeout=20)
    settled(store)
    assert names[0] not in states(store)


def test_while_it_comes_the_answer_is_not_resident_and_then_it_is_there(
    store: MapperStore, tmp_path: Path
) -> None:
    name = write(tmp_path, 1)
    with pytest.raises(MapperRefusedError) as away:
        store.get(name)
    assert away.value.code == "MAPPER_NOT_RESIDENT"
    wait_until(lambda: states(store) == {name: "resident"}, 20)
    assert store.get(name).sha256 == name


@settings(deadline=None)
@given(
    st.integers(0, 60),
    st.lists(st.tuples(st.sampled_from("abcdefg"), st.integers(1, 40), st.booleans()), max_size=40),
)
def test_a_tier_keeps_its_budget_and_loses_nothing_unsaid(
    budget: int, moves: list[tuple[str, int, bool]]
) -> None:
    tier, inside = MapperTier("device", budget), {}
    for name, size, use in moves:
        if use:
            assert (tier.get(name) is not None) == (name in inside)
            continue
        inside[name] = size
        for gone in tier.put(HeldMapper(name, None, "s", "t", size, 0.0)):
            del inside[gone.sha256]
        assert {one.sha256: one.size for one in tier.all()} == inside
        assert tier.use().used_bytes == sum(inside.values()) <= budget
