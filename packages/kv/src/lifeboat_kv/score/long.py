"""Beyond the fitted length: rows of their own, with few arms, never part of the gate's number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ..corpora import Sequence
from ..models.side import Side
from .arms import MAPPER, Rivals
from .footprint import bytes_a_token, shared_context
from .points import ANSWER_TOKENS
from .run import Probing, Score, score_split

MULTIPLES = (4, 32)
LONG_SEQUENCES = 16
LONG_ARMS = (MAPPER, "identity", "zero_cache")
# A text reaches at most this much beyond its multiple: prefixes of one row are of one length.
_SLACK = 1.25


@dataclass(frozen=True)
class LongRow:
    """The sequences of one multiple of the fitted length, or why there are none."""

    multiple: int
    sequences: list[Sequence]
    left_out: str | None = None

    def facts(self) -> dict[str, Any]:
        """JSON-ready, for the manifest."""
        return {"multiple": self.multiple, "sequences": len(self.sequences), "left_out": self.left_out}


def long_rows(
    texts: list[Sequence],
    seq_len: int,
    multiples: tuple[int, ...],
    sides: tuple[Side, Side],
    free: int | None,
) -> list[LongRow]:
    """The shortest texts that suffice for each multiple of `seq_len`, none of them used twice.

    `sides` are source and target, `free` the bytes there are for caches (None: unknown). A row is left
    out whole, with its reason, where the texts, either context or the memory are too small.
    """
    found = []
    waiting = sorted(texts, key=lambda s: (len(s.tokens), s.digest))
    for multiple in multiples:
        least = multiple * seq_len
        most = int(_SLACK * least)
        fitting = [s for s in waiting if len(s.tokens) > least][:LONG_SEQUENCES]
        chosen = [_cut(s, most) for s in fitting]
        reason = _reason(chosen, least, sides, free)
        if reason is None:
            waiting = [s for s in waiting if s not in fitting]
        found.append(LongRow(multiple, [] if reason else chosen, reason))
    return found


def score_long(
    row: LongRow,
    seq_len: int,
    rivals: Rivals,
    source: Side,
    target: Side,
    ends: frozenset[int],
    *,
    group_tokens: int,
    device: torch.device | str,
    progress: Callable[[float], None],
) -> Score:
    """Mapper, identity and zero cache on one row's sequences, hand-over points past its multiple."""
    longest = max(len(s.tokens) for s in row.sequences)
    probing = Probing("long", longest, row.multiple * seq_len, beside=False, multiple=row.multiple)
    return score_split(
        probing,
        row.sequences,
        rivals,
        source,
        target,
        ends,
        LONG_ARMS,
        group_tokens=group_tokens,
        device=device,
        progress=progress,
    )


def _cut(sequence: Sequence, most: int) -> Sequence:
    if len(sequence.tokens) <= most:
        return sequence
    cuts = tuple(c for c in sequence.cuts if c <= most)
    return Sequence(sequence.id, sequence.domain, sequence.tokens[:most], cuts)


def _reason(chosen: list[Sequence], least: int, sides: tuple[Side, Side], free: int | None) -> str | None:
    if len(chosen) < LONG_SEQUENCES:
        return (
            f"the corpus has {len(chosen)} texts of more than {least:,} tokens that no split uses; "
            f"{LONG_SEQUENCES} are needed"
        )
    longest = max(len(s.tokens) for s in chosen) + ANSWER_TOKENS
    context = shared_context(*sides)
    if context is not None and longest > context:
        return f"{longest:,} tokens are longer than the context of {context:,}"
    needed = longest * bytes_a_token(*sides)
    if free is not None and needed > free:
        return f"{longest:,} tokens need about {needed >> 20:,} MiB and {free >> 20:,} MiB are free"
    return None
