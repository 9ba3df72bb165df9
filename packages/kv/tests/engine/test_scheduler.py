"""The scheduler under random traffic with a stand-in for the forward pass: nothing leaks, everything ends."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from lifeboat_kv.engine.errors import ApiError
from lifeboat_kv.engine.kv_pool import KvPool, KvShape
from lifeboat_kv.engine.mappers import MapperRefusedError, MapperStore
from lifeboat_kv.engine.metrics import TransferMetrics
from lifeboat_kv.engine.scheduler import Scheduler
from lifeboat_kv.engine.sequence import (
    DoneEvent,
    Event,
    FailedEvent,
    Request,
    SamplingOptions,
    SequenceState,
    StageOrder,
    TokenEvent,
)
from lifeboat_kv.engine.staging import StagingStore
from lifeboat_kv.engine.transfer import TransferDesk
from lifeboat_kv.mapper.artifact import WEIGHTS_FILE
from lifeboat_kv.models.digest_cache import file_digest

from .test_units import Letters

SHAPE = KvShape(layers=1, kv_heads=1, head_dim=4, dtype=torch.float32)
BLOCKS = 40


class Traffic:
    """A scheduler, what it was given and what came out. `plan` says what each forward does."""

    def __init__(self, plan: list[str]) -> None:
        self.plan = itertools.chain(plan, itertools.repeat("good"))
        self.events: dict[str, list[Event]] = {}
        device = torch.device("cpu")
        model: Any = SimpleNamespace(
            name="m", tokenizer=Letters(), ends=frozenset({0}), device=device, forward=self.forward
        )
        self.staging = StagingStore(4000)
        mappers = MapperStore(None, dict, device, 1)
        desk = TransferDesk(self.staging, mappers, lambda: {"m": model}, TransferMetrics())
        self.scheduler = Scheduler(
            model,
            KvPool(SHAPE, SHAPE.bytes_per_block * (BLOCKS + 1), device),
            desk,
            lambda request, event: self.events[request.id].append(event),
            max_batch=6,
            max_waiting=50,
            step_tokens=40,
        )

    def forward(self, pool: KvPool, pieces: Any, tokens: list[int], rows: list[int]) -> torch.Tensor:
        assert sum(p.stop - p.start for p in pieces) == len(tokens)
        written = Counter((p.blocks[at // 16], at % 16) for p in pieces for at in range(p.start, p.stop))
        assert max(written.values()) == 1, "two sequences write one slot"
        what = next(self.plan)
        if what == "raise":
            raise RuntimeError("the forward broke")
        logits = torch.full((len(rows), 100), 0.0)
        logits[:, 65] = 5.0
        if what == "nan" and rows:
            logits[0] = torch.nan
        return logits

    def submit(self, number: int, length: int, answer: int, n: int, salt: str | None, staged: bool) -> None:
        stage = StageOrder(f"{number}", "mac", 60_000) if staged else None
        sampling = SamplingOptions(max_tokens=answer, temperature=0)
        prompt = [65 + (i % 3) for i in range(length)]
        request = Request(str(number), "m", prompt, sampling, lambda event: None, n, salt, stage)
        try:
            self.scheduler.check(request, 0)
        except ApiError:
            return
        self.events[request.id] = []
        self.scheduler.accept(request)

    def check(self) -> None:
        scheduler = self.scheduler
        held = {block for seq in scheduler.running for block in seq.blocks}
        assert scheduler.cache.held == len(held)
        assert len(scheduler.running) <= scheduler.max_batch
        assert all(seq.state is not SequenceState.FINISHED for seq in scheduler.running)


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
