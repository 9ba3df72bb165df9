"""Hand-over points with the target's own answers, in batches."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..models.cache import LayerKV
from ..models.side import Side
from .arms import Group
from .packed import answer_logits
from .points import ANSWER_TOKENS, Point
from .ragged import greedy_answers

_GENERATED_TOGETHER = 64
# Tokens fed together: enough for full matrix rates, few enough for the logits of a large vocabulary.
_FED_TOGETHER = 2048
_FEWEST_FED = 256
_LOGITS_TOGETHER = 1 << 26


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
        return answer_logits(side.model, layers, self.rows, self.mapped, self.feeds, self.wanted)

    def logits_alone(self, side: Side, layers: list[LayerKV]) -> Tensor:
        """The same for a model on its own cache `layers`, from the last prompt token on."""
        lengths = [p.prefix - 1 for p in self.points]
        feeds = [[p[-1], *a[:-1]] for p, a in zip(self.prompts, self.answers, strict=True)]
        return answer_logits(side.model, layers, self.rows, lengths, feeds, self.wanted)

    def part(self, kept: list[int], answers: list[list[int]]) -> Items:
        """The items at the places `kept` with other answers, one for each of them."""
        return Items([self.points[i] for i in kept], [self.prompts[i] for i in kept], answers)


def answered(
    points: list[Point],
    group: Group,
    target: Side,
    hidden: Tensor,
    ends: frozenset[int],
    most: int = ANSWER_TOKENS,
) -> list[Items]:
    """Lets the target answer at every point, greedily, and puts what it said into batches.

    An answer has `most` tokens at most. `hidden` [B, T, H] are its final hidden states over the group's
    texts: as long as the text goes on as the target would, they already say what it says, and only the
    rest is generated.
    """
    texts = [group.sequences[p.row].tokens for p in points]
    answers = [_foreseen(p, t, target, hidden, ends, most) for p, t in zip(points, texts, strict=True)]
    open_ends = [i for i, a in enumerate(answers) if len(a) < most and a[-1] not in ends]
    # The rows before the last token said: the text's own, all of them in the target's cache.
    known = {i: points[i].prefix + len(answers[i]) - 1 for i in open_ends}
    open_ends.sort(key=lambda i: known[i])
    for at in range(0, len(open_ends), _GENERATED_TOGETHER):
        part = open_ends[at : at + _GENERATED_TOGETHER]
        more = greedy_answers(
            target.model,
            group.target,
            [points[i].row for i in part],
            [known[i] for i in part],
            [answers[i][-1] for i in part],
            [most - len(answers[i]) for i in part],
            ends,
        )
        for i, tokens in zip(part, more, strict=True):
            answers[i] += tokens
    prompts = [t[: p.prefix] for p, t in zip(points, texts, strict=True)]
    whole = Items(points, prompts, answers)
    together = min(_FED_TOGETHER, max(_FEWEST_FED, _LOGITS_TOGETHER // target.model.config.vocab_size))
    return [whole.part(kept, [answers[i] for i in kept]) for kept in _in_batches(whole.feeds, together)]


def _foreseen(
    point: Point, text: tuple[int, ...], target: Side, hidden: Tensor, ends: frozenset[int], most: int
) -> list[int]:
    """The answer up to and with the first token that is not the text's; at least one token."""
    gold = text[point.prefix : point.prefix + most]
    states = hidden[point.row, point.prefix - 1 : point.prefix + len(gold)][:most]
    said: list[int] = []
    for token, given in zip(
        target.model.lm_head(states).argmax(dim=-1).tolist(), [*gold, None], strict=False
    ):
        said.append(token)
        if token != given or token in ends:
            break
    return said


def _in_batches(feeds: list[list[int]], most: int) -> list[list[int]]:
    """Places of items whose feeds have at most `most` tokens together (or are alone), in order."""
    batches: list[list[int]] = []
    room = 0
    for place, feed in enumerate(feeds):
        if len(feed) > room:
            batches.append([])
            room = most
        batches[-1].append(place)
        room -= len(feed)
    return batches
