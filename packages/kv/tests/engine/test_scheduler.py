"""The scheduler under random traffic with a stand-in for the forward pass: nothing leaks, everything ends."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from lifeboat_kv.engine.mappers import MapperRefusedError, MapperStore
from lifeboat_kv.engine.sequence import (
    DoneEvent,
    FailedEvent,
    SequenceState,
    TokenEvent,
)
from lifeboat_kv.mapper.artifact import WEIGHTS_FILE
from lifeboat_kv.models.digest_cache import file_digest

from .traffic import BLOCKS, Traffic

MOVES = st.one_of(
    st.tuples(
        st.just("submit"),
        st.integers(1, 150),
        st.integers(1, 30),
        st.integers(1, 4),
        st.sampled_from([None, "a", "b"]),
        st.booleans(),
    ),
    st.tuples(st.just("abort"), st.integers(0, 30)),
    st.tuples(st.just("step"), st.integers(1, 6)),
)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(MOVES, max_size=30),
    st.lists(st.sampled_from(["good", "good", "good", "nan", "raise"]), max_size=20),
)
def test_nothing_leaks_and_everything_ends(moves: list[tuple[Any, ...]], plan: list[str]) -> None:
    traffic, count, aborted = Traffic(plan), 0, set()
    for move, *given_values in moves:
        if move == "submit":
            traffic.submit(count, *given_values)
            count += 1
        elif move == "abort":
            aborted.add(str(given_values[0]))
            traffic.scheduler.abort(str(given_values[0]))
        else:
            for _ in range(given_values[0]):
                traffic.scheduler.step()
        traffic.check()
    for _ in range(5000):
        if not traffic.scheduler.busy:
            break
        traffic.scheduler.step()
        traffic.check()
    assert not traffic.scheduler.busy
    assert traffic.scheduler.cache.held == 0
    assert traffic.scheduler.cache.available == BLOCKS
    for name, events in traffic.events.items():
        ends = [event for event in events if not isinstance(event, TokenEvent)]
        assert len(ends) <= 1
        assert ends or name in aborted
        if ends and isinstance(ends[0], DoneEvent):
            said = Counter(event.index for event in events if isinstance(event, TokenEvent))
            finished = {e.index for e in events if isinstance(e, TokenEvent) and e.finish}
            assert set(said) == finished
        assert all(isinstance(event, TokenEvent | DoneEvent | FailedEvent) for event in events)
    traffic.staging.clear()
    assert traffic.staging.used_bytes == 0


def test_an_illegal_transition_is_an_error() -> None:
    traffic = Traffic([])
    traffic.submit(0, 5, 3, 1, None, False)
    traffic.scheduler.step()
    seq = traffic.scheduler.running[0]
    with pytest.raises(RuntimeError, match="cannot go"):
        seq.move_to(SequenceState.PREFILL)


def test_a_mapper_directory_is_never_left(tmp_path: Path) -> None:
    store = MapperStore(tmp_path, dict, torch.device("cpu"), 1 << 20)
    future = store.load("../../etc/passwd")
    assert "no such mapper" in str(future.exception())
    store.close()


def test_a_mapper_that_breaks_its_reader_is_refused_and_not_loading_for_ever(tmp_path: Path) -> None:
    made = tmp_path / "made.safetensors"
    manifest = '{"schema": 1, "dtype": "float32", "source": {"num_key_value_heads": 1e999, "head_dim": 4}}'
    save_file({"x": torch.zeros(1)}, made, metadata={"manifest": manifest})
    sha256 = file_digest(made)
    (tmp_path / sha256).mkdir()
    made.rename(tmp_path / sha256 / WEIGHTS_FILE)
    store = MapperStore(tmp_path, dict, torch.device("cpu"), 1 << 20)
    assert isinstance(store.load(sha256).exception(), MapperRefusedError)
    assert [entry["state"] for entry in store.list()] == ["refused"]
    with pytest.raises(MapperRefusedError) as refused:
        store.get(sha256)
    assert refused.value.code == "ARTIFACT_UNREADABLE"
    store.close()
