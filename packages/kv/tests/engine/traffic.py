"""A scheduler with a stand-in for the forward pass: what it was given, and what came out."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import torch

from lifeboat_kv.engine.errors import ApiError
from lifeboat_kv.engine.kv_pool import KvPool, KvShape
from lifeboat_kv.engine.mappers import MapperStore
from lifeboat_kv.engine.metrics import TransferMetrics
from lifeboat_kv.engine.scheduler import Scheduler
from lifeboat_kv.engine.sequence import Event, Request, SamplingOptions, SequenceState, StageOrder, TokenEvent
from lifeboat_kv.engine.staging import StagingStore
from lifeboat_kv.engine.transfer import TransferDesk

from .test_units import Letters

SHAPE = KvShape(layers=1, kv_heads=1, head_dim=4, dtype=torch.float32)
BLOCKS = 40


class Traffic:
    """A scheduler, what it was given and what came out. `plan` says what each forward does."""

    def __init__(self, plan: Iterable[str] = (), *, max_batch: int = 6) -> None:
        self.plan = itertools.chain(plan, itertools.repeat("good"))
        self.events: dict[str, list[Event]] = {}
        # Called with every forward's pieces, and may raise.
        self.watch: Callable[[Any], None] = lambda pieces: None
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
            max_batch=max_batch,
            max_waiting=50,
            step_tokens=40,
            map_rows=64,
        )

    def forward(self, pool: KvPool, pieces: Any, tokens: list[int], rows: list[int]) -> torch.Tensor:
        assert sum(p.stop - p.start for p in pieces) == len(tokens)
        written = Counter((p.blocks[at // 16], at % 16) for p in pieces for at in range(p.start, p.stop))
        assert max(written.values()) == 1, "two sequences write one slot"
        self.watch(pieces)
        what = next(self.plan)
        if what == "raise":
            raise RuntimeError("the forward broke")
        logits = torch.full((len(rows), 100), 0.0)
        logits[:, 65] = 5.0
        if what == "nan" and rows:
            logits[0] = torch.nan
        return logits

    def submit(
        self,
        number: int,
        length: int,
        answer: int,
        n: int = 1,
        salt: str | None = None,
        staged: bool = False,
        letter: int = 65,
    ) -> Request | None:
        stage = StageOrder(f"{number}", "mac", 60_000) if staged else None
        sampling = SamplingOptions(max_tokens=answer, temperature=0)
        prompt = [letter + (i % 3) for i in range(length)]
        request = Request(str(number), "m", prompt, sampling, lambda event: None, n, salt, stage)
        try:
            self.scheduler.check(request, 0)
        except ApiError:
            return None
        self.events[request.id] = []
        self.scheduler.accept(request)
        return request

    def tokens(self, number: int) -> int:
        """Answer tokens a request has brought so far."""
        return sum(isinstance(event, TokenEvent) for event in self.events[str(number)])

    def run(self, steps: int) -> None:
        """So many steps, or until nothing is left to do."""
        for _ in range(steps):
            if not self.scheduler.busy:
                return
            self.scheduler.step()
            self.check()

    def check(self) -> None:
        scheduler = self.scheduler
        held = {block for seq in scheduler.running for block in seq.blocks}
        assert scheduler.cache.held == len(held)
        assert len(scheduler.running) <= scheduler.max_batch
        assert all(seq.state is not SequenceState.FINISHED for seq in scheduler.running)
