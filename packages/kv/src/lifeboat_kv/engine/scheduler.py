"""Which sequences of one model run in the next step, and what becomes of their results.

A step is one packed forward: every decoding sequence's row first, then prompts in chunks up to the
step's token budget. Blocks for prompt and whole answer are taken before a request starts, so a
started request always finishes.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable

import torch

from .errors import ApiError, overloaded
from .kv_pool import BLOCK_TOKENS, KvPool, blocks_needed
from .metrics import ModelMetrics
from .paged_attention import Piece
from .prefix_cache import PrefixCache, extend_name
from .sampling import choose_tokens, make_generator
from .sequence import (
    DoneEvent,
    Event,
    FailedEvent,
    Request,
    Sequence,
    SequenceState,
    TokenEvent,
)
from .served_model import ServedModel
from .text import TextStream
from .transfer import TransferDesk

log = logging.getLogger(__name__)

Post = Callable[[Request, Event], None]
BROKEN = FailedEvent("The engine failed while working on this request.")


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
    ) -> None:
        self.model = model
        self.pool = pool
        self.cache = PrefixCache(pool.blocks)
        self.metrics = ModelMetrics(model.name)
        self.max_batch = max_batch
        self.max_waiting = max_waiting
        self.step_tokens = step_tokens
        self.waiting: deque[Request] = deque()
        self.running: list[Sequence] = []
        self._desk = desk
        self._post = post

    def check(self, request: Request, arriving: int) -> None:
        """Refuses what can never run or does not fit the queue, of which `arriving` are on their way.

        Errors: ApiError 400, 413, 503.
        """
        if request.n > self.max_batch:
            raise ApiError(400, "invalid_value", f"n is at most {self.max_batch} here.", param="n")
        need, budget, size = (
            self._blocks_for(request),
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
        self.waiting.append(request)

    def abort(self, request_id: str) -> None:
        """Forgets a request whose client went away; its blocks are free at once."""
        for request in [r for r in self.waiting if r.id == request_id]:
            self.waiting.remove(request)
            self._close(request, "abort")
        for seq in [s for s in self.running if s.request.id == request_id]:
            self._drop(seq)
            if all(s.state is SequenceState.FINISHED for s in seq.request.sequences):
                self._close(seq.request, "abort")

    @property
    def busy(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.waiting or self.running)

    def step(self) -> bool:
        """Admits what fits and runs one forward. Returns whether anything moved."""
        moved = self._admit()
        batch = self._plan()
        if not batch:
            return moved
        try:
            self._run(batch)
        except Exception:
            log.exception("a step of %s failed; its %d sequences end", self.model.name, len(batch))
            for request in {id(seq.request): seq.request for seq, _ in batch}.values():
                self._fail(request)
        return True

    def _admit(self) -> bool:
        moved = False
        while self.waiting and len(self.running) + self.waiting[0].n <= self.max_batch:
            if not self._start(self.waiting[0]):
                break
            self.waiting.popleft()
            moved = True
        return moved

    def _start(self, request: Request) -> bool:
        """Takes blocks for a request and puts its sequences in motion; False where memory is short."""
        ready = self._desk.prepare(request, self.model)
        trusting = request.transfer is None or ready is not None
        found, name = self.cache.find(
            request.salt, request.prompt, native_salt=request.native_salt, allow_mapped=trusting
        )
        self.cache.hold(found)
        fresh = self.cache.take(self._blocks_for(request) - len(found))
        if fresh is None:
            self.cache.release(found)
            return False
        if not request.admitted:
            request.admitted = time.perf_counter()
        first = self._lay_out(request, found, fresh)
        first.named, first.name = len(found), name
        if ready is not None:
            moved = self._desk.install(ready, request, self.model, self.pool, first.blocks, first.computed)
            if moved is None:
                self._undo(request)
                return self._start(request)
            first.computed = max(first.computed, moved)
            first.mapped = first.mapped or moved > len(found) * BLOCK_TOKENS
        self.cache.count_query(len(request.prompt), len(found) * BLOCK_TOKENS)
        request.cached_tokens = first.computed
        self.metrics.prompt_tokens.add(len(request.prompt))
        self.running.extend(request.sequences)
        return True

    def _blocks_for(self, request: Request) -> int:
        """Blocks of all answers: full prompt blocks are shared, the rest is each one's own."""
        shared = len(request.prompt) // BLOCK_TOKENS if request.n > 1 else 0
        return shared + request.n * (blocks_needed(request.kv_tokens) - shared)

    def _lay_out(self, request: Request, found: list[int], fresh: list[int]) -> Sequence:
        shared = len(request.prompt) // BLOCK_TOKENS if request.n > 1 else 0
        each = blocks_needed(request.kv_tokens)
        supply = [*found, *fresh]
        lead, rest = supply[:each], supply[each:]
        request.sequences = [self._sequence(request, 0, lead, SequenceState.PREFILL)]
        for index in range(1, request.n):
            own, rest = rest[: each - shared], rest[each - shared :]
            self.cache.hold(lead[:shared])
            request.sequences.append(
                self._sequence(request, index, [*lead[:shared], *own], SequenceState.FORKING)
            )
        first = request.sequences[0]
        first.computed = len(found) * BLOCK_TOKENS
        first.mapped = any(self.cache.is_mapped(number) for number in found)
        return first

    def _sequence(self, request: Request, index: int, blocks: list[int], state: SequenceState) -> Sequence:
        options = request.sampling
        stream = TextStream(
            self.model.tokenizer,
            stop=options.stop,
            include_stop=options.include_stop,
            skip_special_tokens=options.skip_special_tokens,
        )
        ends = frozenset() if options.ignore_eos else self.model.ends
        return Sequence(
            request=request,
            index=index,
            tokens=list(request.prompt),
            blocks=blocks,
            stream=stream,
            state=state,
            ends=ends | frozenset(options.stop_token_ids),
            generator=make_generator(options, index),
        )

    def _undo(self, request: Request) -> None:
        """Gives back what `_start` took, for another attempt without the transfer."""
        for seq in request.sequences:
            seq.move_to(SequenceState.FINISHED)
            self.cache.release(seq.blocks, forget=False)
        request.sequences = []

    def _plan(self) -> list[tuple[Sequence, Piece]]:
        """Every decoding row, then prompt chunks in order of arrival up to the step's token budget."""
        batch = [
            (s, Piece(s.blocks, s.computed, len(s.tokens)))
            for s in self.running
            if s.state is SequenceState.DECODE
        ]
        left = max(BLOCK_TOKENS, self.step_tokens - len(batch))
        for seq in self.running:
            if seq.state is not SequenceState.PREFILL or left <= 0:
                continue
            count = min(seq.pending, left)
            batch.append((seq, Piece(seq.blocks, seq.computed, seq.computed + count)))
            left -= count
        return batch

    def _run(self, batch: list[tuple[Sequence, Piece]]) -> None:
        tokens: list[int] = []
        ending: list[tuple[Sequence, int]] = []
        decoding = 0
        for seq, piece in batch:
            tokens.extend(seq.tokens[piece.start : piece.stop])
            decoding += seq.state is SequenceState.DECODE
            if piece.stop == len(seq.tokens):
                ending.append((seq, len(tokens) - 1))
        logits = self.model.forward(
            self.pool, [piece for _, piece in batch], tokens, [row for _, row in ending]
        )
        self.metrics.count_step(len(tokens), decoding)
        for seq, piece in batch:
            seq.computed = piece.stop
            self._remember(seq)
        self._sample(ending, logits)

    @torch.inference_mode()
    def _sample(self, ending: list[tuple[Sequence, int]], logits: torch.Tensor) -> None:
        """Chooses a token for every sequence that reached its end, siblings of a finished prompt included."""
        finite = torch.isfinite(logits).all(dim=-1).tolist()
        rows: list[int] = []
        sequences: list[Sequence] = []
        for row, (seq, _) in enumerate(ending):
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
        shared = len(request.prompt) // BLOCK_TOKENS
        for seq in request.sequences[1:]:
            if seq.state is not SequenceState.FORKING:
                continue
            if len(request.prompt) % BLOCK_TOKENS:
                self.pool.copy_block(first.blocks[shared], seq.blocks[shared])
            seq.computed, seq.mapped = first.computed, first.mapped
            seq.named, seq.name = first.named, first.name
            seq.move_to(SequenceState.DECODE)
        return [seq for seq in request.sequences if seq.state is SequenceState.DECODE]

    def _append(self, seq: Sequence, token: int, logprobs: object, now: float) -> None:
        request, options = seq.request, seq.request.sampling
        seq.tokens.append(token)
        if not request.first_token:
            request.first_token = now
            self.metrics.observe_first_token(request)
        self.metrics.generation_tokens.add(1)
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
            self._drop(seq)
            self.metrics.finished(finish, now - request.arrived)
            if all(s.state is SequenceState.FINISHED for s in request.sequences):
                self._post(request, DoneEvent(request.cached_tokens, request.kv, request.timing()))

    def _remember(self, seq: Sequence) -> None:
        """Names the blocks this step filled, so that later prompts can find them.

        A transferred request without a salt of its own is never remembered: nothing would keep others out.
        """
        full = min(seq.computed, len(seq.tokens)) // BLOCK_TOKENS
        while seq.named < full:
            start = seq.named * BLOCK_TOKENS
            seq.name = extend_name(seq.name, seq.tokens[start : start + BLOCK_TOKENS])
            if seq.mapped:
                self.cache.mark_mapped([seq.blocks[seq.named]])
            if not (seq.mapped and seq.request.salt is None):
                self.cache.remember(seq.blocks[seq.named], seq.name)
            seq.named += 1

    def _drop(self, seq: Sequence) -> None:
        seq.move_to(SequenceState.FINISHED)
        self.cache.release(seq.blocks)
        self.running.remove(seq)

    def _fail(self, request: Request, event: FailedEvent = BROKEN) -> None:
        """Ends a request with an error; what it wrote is wiped, as it may hold values that are not finite."""
        for seq in [s for s in request.sequences if s.state is not SequenceState.FINISHED]:
            self.pool.clear(number for number in seq.blocks[seq.named :])
            seq.move_to(SequenceState.FINISHED)
            self.cache.release(seq.blocks)
            self.running.remove(seq)
        self._post(request, event)
        self._close(request, "error")

    def _close(self, request: Request, reason: str) -> None:
        self._desk.give_up(request)
        self.metrics.finished(reason, time.perf_counter() - request.arrived)

    def fail_all(self, event: FailedEvent = BROKEN) -> None:
        """Ends everything with an error, after a fault outside a forward or at the end of a drain."""
        for request in {id(seq.request): seq.request for seq in self.running}.values():
            self._fail(request, event)
        while self.waiting:
            self._fail(self.waiting.popleft(), event)
