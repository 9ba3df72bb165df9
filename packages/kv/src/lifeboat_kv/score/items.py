"""Hand-over points with the target's own answers, in batches that waste little on padding."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..accumulate import Side
from ..cache import LayerKV
from .arms import Group
from .points import ANSWER_TOKENS, Point
from .ragged import answer_logits, gather_prefixes, greedy_answers

_GENERATED_TOGETHER = 64
_SCORED_TOGETHER = 32
# Items whose fed tokens fall in one class of this width share a batch; within it, by prefix length.
_CLASS = 16


@dataclass(frozen=True)
class Items:
    """A batch: points, their prompts, and the answers (end token included) the target gave natively."""

    points: list[Point]
    prompts: list[tuple[int, ...]]
    answers: list[list[int]]

    @property
    def rows(self) -> list[int]:
        return [p.row for p in self.points]

    @property
    def mapped(self) -> list[int]:
        return [p.mapped for p in self.points]

    @property
    def wanted(self) -> list[int]:
        """Answer positions of each item."""
        return [len(a) for a in self.answers]

    @property
    def feeds(self) -> list[list[int]]:
        """What the target computes itself: the exact tail, then the answer but its last token."""
        parts = zip(self.prompts, self.points, self.answers, strict=True)
        return [[*prompt[point.mapped :], *answer[:-1]] for prompt, point, answer in parts]

    def logits(self, side: Side, layers: list[LayerKV]) -> Tensor:
        """The model's logits [sum(wanted), vocabulary] over the answers, on top of `layers`."""
        prefix = gather_prefixes(layers, self.rows, self.mapped, side.model.dtype)
        return answer_logits(side.model, prefix, self.mapped, self.feeds, self.wanted)

    def logits_alone(self, side: Side, layers: list[LayerKV]) -> Tensor:
        """The same for a model on its own cache `layers`, from the last prompt token on."""
        lengths = [p.prefix - 1 for p in self.points]
        prefix = gather_prefixes(layers, self.rows, lengths, side.model.dtype)
        feeds = [[p[-1], *a[:-1]] for p, a in zip(self.prompts, self.answers, strict=True)]
        return answer_logits(side.model, prefix, lengths, feeds, self.wanted)


def answered(points: list[Point], group: Group, target: Side, ends: frozenset[int]) -> list[Items]:
    """Lets the target answer at every point, greedily, and sorts what it said into batches."""
    found: list[tuple[Point, tuple[int, ...], list[int]]] = []
    ordered = sorted(points, key=lambda p: p.prefix)
    for at in range(0, len(ordered), _GENERATED_TOGETHER):
        part = ordered[at : at + _GENERATED_TOGETHER]
        prompts = [group.sequences[p.row].tokens[: p.prefix] for p in part]
        lengths = [p.prefix - 1 for p in part]
        layers = gather_prefixes(group.target, [p.row for p in part], lengths, target.model.dtype)
        last = [p[-1] for p in prompts]
        answers = greedy_answers(target.model, layers, lengths, last, ends, ANSWER_TOKENS)
        found += zip(part, prompts, answers, strict=True)
    found.sort(key=lambda f: ((f[0].prefix - f[0].mapped + len(f[2])) // _CLASS, f[0].prefix))
    chunks = (found[at : at + _SCORED_TOGETHER] for at in range(0, len(found), _SCORED_TOGETHER))
    return [Items([f[0] for f in c], [f[1] for f in c], [f[2] for f in c]) for c in chunks]
