"""What one forward computes: every decoding row, and prompts within what is left of the step's tokens."""

from __future__ import annotations

from collections.abc import Sequence as Ordered

from .kv_pool import BLOCK_TOKENS
from .paged_attention import Piece
from .sequence import Sequence, SequenceState

Batch = list[tuple[Sequence, Piece]]

# Prompt tokens of a step, however many rows are decoding: a prompt never stands still.
LEAST_PROMPT_TOKENS = BLOCK_TOKENS


def plan_step(running: Ordered[Sequence], step_tokens: int) -> Batch:
    """Decoding rows first, then prompts.

    The prompt that came first gets half of the tokens or more, the others share the rest, those that are
    nearly done before those that are not: a long prompt neither waits for short ones nor holds them up.
    """
    rows = [s for s in running if s.state is SequenceState.DECODE]
    prompts = [s for s in running if s.state is SequenceState.PREFILL]
    batch = [(s, Piece(s.blocks, s.computed, len(s.tokens))) for s in rows]
    shares = _share(prompts, max(LEAST_PROMPT_TOKENS, step_tokens - len(rows)))
    batch += [
        (s, Piece(s.blocks, s.computed, s.computed + count))
        for s, count in zip(prompts, shares, strict=True)
        if count
    ]
    return batch


def _share(prompts: Ordered[Sequence], tokens: int) -> list[int]:
    """How many of `tokens` each prompt gets; none is left over while a prompt could use it."""
    if not prompts:
        return []
    shares = [0] * len(prompts)
    shares[0] = min(prompts[0].pending, (tokens + 1) // 2)
    left = tokens - shares[0]
    for at in sorted(range(1, len(prompts)), key=lambda at: prompts[at].pending):
        shares[at] = min(prompts[at].pending, left)
        left -= shares[at]
    shares[0] += min(prompts[0].pending - shares[0], left)
    return shares
