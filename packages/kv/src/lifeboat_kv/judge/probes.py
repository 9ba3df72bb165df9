"""A calibration's own probes as labelled answers: at each hand-over point, would the target say otherwise?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..corpora import Sequence
from ..models.side import Side
from ..score.points import ANSWER_TOKENS, points_of
from .rows import answer_both, row_of


def probe_rows(
    sequences: list[Sequence],
    longest: int,
    source: Side,
    target: Side,
    ends: frozenset[int],
    names: Callable[[int], str],
    *,
    group_tokens: int,
    device: torch.device | str,
    progress: Callable[[int], None] = lambda done: None,
) -> list[dict[str, Any]]:
    """One row for each hand-over point of `longest` prefix tokens at most, as the score has them."""
    found = answer_both(
        sequences,
        lambda row, sequence: points_of(row, sequence, longest),
        source,
        target,
        ends,
        most=ANSWER_TOKENS,
        group_tokens=group_tokens,
        device=device,
        progress=progress,
    )
    return [row_of(one, f"{one.sequence.id}@{one.prefix}", ends, names) for one in found]
