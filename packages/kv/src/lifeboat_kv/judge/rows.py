"""Both models answer the same prompts; a row holds the pilot's answer, its log-probabilities, the label."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..corpora import Sequence
from ..models.side import Side
from ..moments.capture import batches, padded, prefill
from ..score.arms import Group
from ..score.items import Items, answered
from ..score.points import Point

DECIMALS = 4
# What the contract takes: a text that any database holds, and finite numbers.
_LONGEST_TEXT = 200
_LONGEST_ID = 300
_FARTHEST = 9_999.0


@dataclass(frozen=True)
class Answers:
    """What both models said at one point, as token ids with the end token; the pilot's evidence in nats."""

    sequence: Sequence
    prefix: int
    pilot: list[int]
    target: list[int]
    logprobs: list[float]
    margins: list[float]


@torch.no_grad()
def answer_both(
    sequences: list[Sequence],
    points_of: Callable[[int, Sequence], list[Point]],
    source: Side,
    target: Side,
    ends: frozenset[int],
    *,
    most: int,
    group_tokens: int,
    device: torch.device | str,
    progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Answers]:
    """Greedy answers of at most `most` tokens at every point of `sequences`, from each model's own cache.

    `points_of(row, sequence)` names the points. `progress` is told the sequences done.
    """
    done = 0
    for members in batches(sequences, group_tokens):
        points = [p for row, s in enumerate(members) for p in points_of(row, s)]
        if points:
            ids = padded(members, device)
            said = _said(points, members, target, ids, ends, most)
            own, cache = _answers(points, members, source, ids, ends, most)
            for items in own:
                yield from _with_evidence(items, members, source, cache, said)
        done += len(members)
        progress(done)


def row_of(
    answers: Answers, identifier: str, ends: frozenset[int], names: Callable[[int], str]
) -> dict[str, Any]:
    """JSON-ready, by JudgeRow's schema, without quality and device time. `names` gives a token's text."""
    return {
        "id": identifier[-_LONGEST_ID:],
        "group": answers.sequence.id,
        "domain": answers.sequence.domain,
        "tokens": [names(token).replace("\0", "\ufffd")[:_LONGEST_TEXT] for token in answers.pilot],
        "logprobs": [round(min(0.0, max(-_FARTHEST, value)), DECIMALS) for value in answers.logprobs],
        "margins": [round(max(0.0, min(_FARTHEST, value)), DECIMALS) for value in answers.margins],
        "finish": "stop" if answers.pilot[-1] in ends else "length",
        "differs": answers.pilot != answers.target,
    }


def _answers(
    points: list[Point], members: list[Sequence], side: Side, ids: Tensor, ends: frozenset[int], most: int
) -> tuple[list[Items], Any]:
    cache, hidden = prefill(side.model, ids)
    return answered(points, Group(members, cache, cache), side, hidden, ends, most), cache


def _said(
    points: list[Point], members: list[Sequence], side: Side, ids: Tensor, ends: frozenset[int], most: int
) -> dict[Point, list[int]]:
    batched, _ = _answers(points, members, side, ids, ends, most)
    return {
        point: answer for items in batched for point, answer in zip(items.points, items.answers, strict=True)
    }


def _with_evidence(
    items: Items, members: list[Sequence], source: Side, cache: Any, said: dict[Point, list[int]]
) -> Iterator[Answers]:
    log = items.logits_alone(source, cache).float().log_softmax(dim=-1)
    chosen = torch.tensor([t for answer in items.answers for t in answer], device=log.device)
    logprobs = log.gather(1, chosen[:, None])[:, 0].cpu().split(items.wanted)
    best = log.topk(2, dim=-1).values
    margins = (best[:, 0] - best[:, 1]).cpu().split(items.wanted)
    for point, answer, own, lead in zip(items.points, items.answers, logprobs, margins, strict=True):
        yield Answers(members[point.row], point.prefix, answer, said[point], own.tolist(), lead.tolist())
