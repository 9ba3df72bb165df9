"""Which sequences of one model run in the next step, and what becomes of their results.

A step advances what is in flight and only then lets others in: decoding rows, prompts, rows on their way
from another model's cache, free places. Blocks for prompt and whole answer are taken before a request
starts, so a started request always finishes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable

import torch

from .errors import ApiError, overloaded
from .kv_pool import BLOCK_TOKENS, KvPool
from .metrics import ModelMetrics
from .placement import Placement
from .sampling import choose_tokens
from .sequence import DoneEvent, Event, FailedEvent, Request, Sequence, SequenceState, TokenEvent
from .served_model import ServedModel
from .slots import SlotGate
from .step_plan import Batch, plan_step
from .transfer import TransferDesk
from .waiting_line import WaitingLine

log = logging.getLogger(__name__)

Post = Callable[[Request, Event], None]
BROKEN = FailedEvent("The engine failed while working on this request.")
# A slice of a transfer is not worth beginning for fewer rows.
LEAST_MAP_ROWS = 64


class Scheduler:
    """One model's queue, running sequences, cache and step; all but `check` runs on the step thread."""

    def __init__(
        self,
        model: ServedModel,
        pool: KvPool,
        desk: TransferDesk,
        post: Post,
        *,
        max_batch: int,
        max_waiting: int,
        step_tokens: int,
        map_rows: int,
    ) -> None:
        self.model = model
        self.pool = pool
        self.places = Placement(model, pool)
        self.cache = self.places.cache
        self.metrics = ModelMetrics(model.name)
        self.max_batch = max_batch
        self.max_waiting = max_waiting
        self.step_tokens = step_tokens
        self.map_rows = map_rows
        self.waiting = WaitingLine()
        self.running: list[Sequence] = []
        self._gate = SlotGate(max_batch)
        self._desk = desk
        self._post = post

    def check(self, request: Request, arriving: int) -> None:
        """Refuses what can never run or does not fit the queue, of which `arriving` are on their way.

        Errors: ApiError 400, 413, 503.
        """
        if request.n > self.max_batch:
            raise ApiError(400, "invalid_value", f"n is at most {self.max_batch} here.", param="n")
        need, budget, size = (
            self.places.blocks_for(request),
            self.pool.usable_blocks,
            self.pool.shape.bytes_per_block,
        )
        if need > budget:
            words = f"The request needs {need * size} bytes of cache; the model's budget is {budget * size}."
            raise ApiError(413, "never_fits", words)
        if len(self.waiting) + arriving >= self.max_waiting:
            raise overloaded("Too many requests are waiting.")

    def accept(self, request: Request) -> None:
        """Puts a checked request at the end of the queue."""
        self.waiting.join(request)

    def abort(self, request_id: str) -> None:
        """Forgets a request whose client went away; its blocks are free at once."""
        for request in [r for r in self.waiting if r.id == request_id]:
            self.waiting.forget(request)
            self._close(request, "abort")
        for seq in [s for s in self.running if s.request.id == request_id]:
            self._leave(seq)
            if seq.request.finished:
                self._close(seq.request, "abort")

    @property
    def busy(self) -> bool:
        """Whether there is anything to do."""
        return bool(len(self.waiting) or self.running)

    def step(self) -> bool:
        """Advances what is in flight, then gives free places out. Returns whether anything moved.

        Nothing that keeps others from starting keeps those in flight from going on.
        """
        moved = self._run(plan_step(self.running, self.step_tokens))
        moved = self._map_slice() or moved
        self._gate.stepped(len(self.running), len(self.waiting))
        return self._fill_slots() or moved

    def _run(self, batch: Batch) -> bool:
        if not batch:
            return False
        try:
            ran, logits = self._forward(batch)
            ending: list[tuple[Sequence, int]] = []
            for seq, piece in ran:
                if piece.stop == len(seq.tokens):
                    ending.append((seq, len(ending)))
                seq.computed = piece.stop
                self.places.remember(seq)
            self._sample(ending, logits)
        except Exception:
            log.exception("a step of %s failed; its sequences end", self.model.name)
            self._fail_all_of(seq for seq, _ in batch)
        return True

    def _forward(self, batch: Batch) -> tuple[Batch, torch.Tensor]:
        """Runs a batch; where it breaks with prompts in it, they end and the decoding rows run alone."""
        try:
            return batch, self._compute(batch)
        except Exception:
            rows = [(seq, piece) for seq, piece in batch if seq.state is SequenceState.DECODE]
            if not rows or len(rows) == len(batch):
                raise
            log.exception("a step of %s failed; %d decoding rows go on", self.model.name, len(rows))
            self._fail_all_of(seq for seq, _ in batch if seq.state is not SequenceState.DECODE)
            return rows, self._compute(rows)

    def _compute(self, batch: Batch) -> torch.Tensor:
        """Logits of every sequence whose last token is in the batch."""
        tokens: list[int] = []
        wanted: list[int] = []
        for seq, piece in batch:
            tokens.extend(seq.tokens[piece.start : piece.stop])
            if piece.stop == len(seq.tokens):
                wanted.append(len(tokens) - 1)
        logits = self.model.forward(self.pool, [piece for _, piece in batch], tokens, wanted)
        decoding = sum(seq.state is SequenceState.DECODE for seq, _ in batch)
        self.metrics.count_step(len(tokens), decoding)
        return logits

    def _map_slice(self) -> bool:
        """A slice of the transfers under way, those that began first first."""
        left, moved = self.map_rows, False
        for seq in [s for s in self.running if s.state is SequenceState.MAPPING]:
            if left <= 0:
                break
            moved = True
            work = seq.request.installation
            before = work.next
            if not self._desk.advance(seq.request, max(left, LEAST_MAP_ROWS)):
                self._start_over(seq.request)
                break
            left -= work.next - before
            if work.complete:
                seq.mapped = seq.mapped or work.stop > work.start
                seq.computed = work.stop
                self._go(seq)
        return moved

    def _fill_slots(self) -> bool:
        moved = False
        while self._start_one():
            moved = True
        return moved

    def _start_one(self) -> bool:
        """Starts the first request that may; one that overtakes must fit whatever the cache remembers."""
        if not self._gate.admits(len(self.running), 1):
            return False
        for place, request in enumerate(self.waiting.candidates()):
            if not self._gate.admits(len(self.running), request.n):
                continue
            if place and self.places.blocks_for(request) > self.cache.available:
                continue
            try:
                started = self._start(request)
            except Exception:
                log.exception("a request of %s could not be started", self.model.name)
                self.waiting.forget(request)
                self._fail(request)
                return True
            if started:
                self.waiting.leave(request)
                self._gate.taken(len(self.running))
                return True
        return False

    def _start(self, request: Request) -> bool:
        """Takes blocks for a request and puts its sequences in motion; False where memory is short."""
        ready = self._desk.prepare(request, self.model)
        first = self.places.place(request, allow_mapped=request.transfer is None or ready is not None)
        if first is None:
            return False
        if ready is not None:
            if not self._desk.begin(ready, request, self.model, self.pool, first.blocks, first.computed):
                self.places.give_back_all(request)
                return self._start(request)
            first.move_to(SequenceState.MAPPING)
        if not request.admitted:
            request.admitted = time.perf_counter()
        self.running.extend(request.sequences)
        if ready is None:
            self._go(first)
        return True

    def _go(self, first: Sequence) -> None:
        """The cache holds what it could be given; the rest of the prompt is computed."""
        request, hit = first.request, first.named * BLOCK_TOKENS
        if first.state is SequenceState.MAPPING:
            first.move_to(SequenceState.PREFILL)
        request.cached_tokens = first.computed
        self.cache.count_query(len(request.prompt), hit)
        self.metrics.started(request, hit)

    def _start_over(self, request: Request) -> None:
        """Gives back what a request holds whose transfer failed; it is the next to start, natively."""
        for seq in request.sequences:
            self.running.remove(seq)
        self.places.give_back_all(request)
        self.waiting.rejoin(request)

    @torch.inference_mode()
    def _sample(self, ending: list[tuple[Sequence, int]], logits: torch.Tensor) -> None:
        """Chooses a token for every sequence that reached its end, siblings of a finished prompt included."""
        finite = torch.isfinite(logits).all(dim=-1).tolist()
        rows: list[int] = []
        sequences: list[Sequence] = []
        for seq, row in ending:
            if seq.state is SequenceState.FINISHED:  # a sibling's row failed the request
                continue
            if not finite[row]:
                log.error("%s produced logits that are not finite", self.model.name)
                self._fail(seq.request)
                continue
            members = self._open_decode(seq) if seq.state is SequenceState.PREFILL else [seq]
            rows.extend([row] * len(members))
            sequences.extend(members)
        if not sequences:
            return
        chosen = choose_tokens(logits[rows], sequences)
        now = time.perf_counter()
        for seq, (token, logprobs) in zip(sequences, chosen, strict=True):
            self._append(seq, token, logprobs, now)

    def _open_decode(self, first: Sequence) -> list[Sequence]:
        """The prompt is computed: stage it where asked, and let the siblings start from its cache."""
        request = first.request
        request.prefilled = time.perf_counter()
        self._desk.prompt_done(request, self.model, self.pool, first.blocks)
        first.move_to(SequenceState.DECODE)
        self.places.fork(first)
        return [seq for seq in request.sequences if seq.state is SequenceState.DECODE]

    def _append(self, seq: Sequence, token: int, logprobs: object, now: float) -> None:
        request, options = seq.request, seq.request.sampling
        seq.tokens.append(token)
        self.metrics.token(seq, now)
        finish: str | None = None
        reason: int | str | None = None
        text, hit = seq.stream.push(token)
        if hit is not None and seq.produced >= options.min_tokens:
            finish, reason = "stop", hit
        elif token in seq.ends:
            finish, reason = "stop", token if token in options.stop_token_ids else None
        elif seq.produced >= options.max_tokens:
            finish = "length"
        if finish and hit is None:
            text += seq.stream.finish()
        self._post(request, TokenEvent(seq.index, token, text, logprobs, finish, reason))
        if finish:
            self._leave(seq)
            self.metrics.answered(seq, finish, now)
            if request.finished:
                self._post(request, DoneEvent(request.cached_tokens, request.kv, request.timing()))

    def _leave(self, seq: Sequence, *, wipe: bool = False) -> None:
        self.places.give_back(seq, wipe=wipe)
        self.running.remove(seq)

    def _fail(self, request: Request, event: FailedEvent = BROKEN) -> None:
        """Ends a request with an error; what it wrote is wiped, as it may hold values that are not finite."""
        for seq in [s for s in request.sequences if s.state is not SequenceState.FINISHED]:
            self._leave(seq, wipe=True)
        self._post(request, event)
        self._close(request, "error")

    def _fail_all_of(self, sequences: Iterable[Sequence], event: FailedEvent = BROKEN) -> None:
        """Ends the requests that these sequences belong to, each once."""
        for request in {id(seq.request): seq.request for seq in sequences}.values():
            if not request.finished:
                self._fail(request, event)

    def _close(self, request: Request, reason: str) -> None:
        self._desk.give_up(request)
        self.metrics.finished(reason, time.perf_counter() - request.arrived)

    def fail_all(self, event: FailedEvent = BROKEN) -> None:
        """Ends everything with an error, after a fault outside a forward or at the end of a drain."""
        self._fail_all_of(list(self.running), event)
        for request in self.waiting.drain():
            self._fail(request, event)
