"""Where one model's requests lie in its cache: blocks taken before a start, shared, named, given back."""

from __future__ import annotations

from .kv_pool import BLOCK_TOKENS, KvPool, blocks_needed
from .prefix_cache import PrefixCache, extend_name
from .sampling import make_generator
from .sequence import Request, Sequence, SequenceState
from .served_model import ServedModel
from .text import TextStream


class Placement:
    """Blocks and sequences of requests. Used by the step thread only."""

    def __init__(self, model: ServedModel, pool: KvPool) -> None:
        self.pool = pool
        self.cache = PrefixCache(pool.blocks)
        self._model = model

    def blocks_for(self, request: Request) -> int:
        """Blocks of all answers: full prompt blocks are shared, the rest is each one's own."""
        shared = _shared_blocks(request)
        return shared + request.n * (blocks_needed(request.kv_tokens) - shared)

    def place(self, request: Request, *, allow_mapped: bool) -> Sequence | None:
        """Takes blocks for prompt and whole answers; returns the first sequence, None without enough memory.

        What the prefix cache remembers of the prompt is used; with `allow_mapped` false no mapped block is.
        """
        sequences = [self._sequence(request, index) for index in range(request.n)]
        found, name = self.cache.find(
            request.salt, request.prompt, native_salt=request.native_salt, allow_mapped=allow_mapped
        )
        self.cache.hold(found)
        fresh = self.cache.take(self.blocks_for(request) - len(found))
        if fresh is None:
            self.cache.release(found)
            return None
        shared, each = _shared_blocks(request), blocks_needed(request.kv_tokens)
        supply = [*found, *fresh]
        lead, rest = supply[:each], supply[each:]
        sequences[0].blocks = lead
        for seq in sequences[1:]:
            own, rest = rest[: each - shared], rest[each - shared :]
            self.cache.hold(lead[:shared])
            seq.blocks = [*lead[:shared], *own]
        request.sequences = sequences
        first = sequences[0]
        first.computed = len(found) * BLOCK_TOKENS
        first.mapped = any(self.cache.is_mapped(number) for number in found)
        first.named, first.name = len(found), name
        return first

    def fork(self, first: Sequence) -> None:
        """Lets the siblings go on from a first sequence whose prompt is computed."""
        prompt = len(first.request.prompt)
        shared = prompt // BLOCK_TOKENS
        for seq in first.request.sequences[1:]:
            if seq.state is not SequenceState.FORKING:
                continue
            if prompt % BLOCK_TOKENS:
                self.pool.copy_block(first.blocks[shared], seq.blocks[shared])
            seq.computed, seq.mapped = first.computed, first.mapped
            seq.named, seq.name = first.named, first.name
            seq.move_to(SequenceState.DECODE)

    def remember(self, seq: Sequence) -> None:
        """Names the blocks that are full by now, so that later prompts can find them.

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

    def give_back(self, seq: Sequence, *, wipe: bool = False) -> None:
        """Ends a sequence; with `wipe` what it wrote and nobody else can find is zeroed."""
        if wipe:
            self.pool.clear(number for number in seq.blocks[seq.named :])
        seq.move_to(SequenceState.FINISHED)
        self.cache.release(seq.blocks)

    def give_back_all(self, request: Request) -> None:
        """Ends all sequences of a request that is to start once more."""
        for seq in request.sequences:
            self.give_back(seq)
        request.sequences = []

    def _sequence(self, request: Request, index: int) -> Sequence:
        options = request.sampling
        stream = TextStream(
            self._model.tokenizer,
            stop=options.stop,
            include_stop=options.include_stop,
            skip_special_tokens=options.skip_special_tokens,
        )
        ends = frozenset() if options.ignore_eos else self._model.ends
        return Sequence(
            request=request,
            index=index,
            tokens=list(request.prompt),
            blocks=[],
            stream=stream,
            state=SequenceState.FORKING if index else SequenceState.PREFILL,
            ends=ends | frozenset(options.stop_token_ids),
            generator=make_generator(options, index),
        )


def _shared_blocks(request: Request) -> int:
    """Blocks of the prompt that all answers of a request hold together."""
    return len(request.prompt) // BLOCK_TOKENS if request.n > 1 else 0
