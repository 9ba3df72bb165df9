"""Scores a mapper and its rivals on one split of probes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..accumulate import Side
from ..cache import LayerKV
from ..capture import batches, padded, prefill
from ..corpus import Sequence
from .arms import MAPPER, PILOT, Group, Rivals, arms_of, mapped_content
from .attention import AttentionCosine
from .cosine import CosineSums
from .points import ANSWER_TOKENS, Point, points_of
from .ragged import answer_logits, gather_prefixes, greedy_answers
from .tally import Tally

_ITEMS = 64


@dataclass
class Score:
    """What a split gave: counts by arm, and the mapper's cosines."""

    tally: Tally
    cosine: CosineSums = field(default_factory=CosineSums)
    attention: AttentionCosine = field(default_factory=AttentionCosine)


@dataclass
class _Items:
    """A batch of hand-over points with the target's own answers."""

    points: list[Point]
    prompts: list[tuple[int, ...]]
    answers: list[list[int]]

    @property
    def rows(self) -> list[int]:
        return [p.row for p in self.points]

    @property
    def mapped(self) -> list[int]:
        return [p.mapped for p in self.points]


@torch.no_grad()
def score_split(
    split: str,
    sequences: list[Sequence],
    rivals: Rivals,
    source: Side,
    target: Side,
    ends: frozenset[int],
    names: tuple[str, ...],
    *,
    longest: int,
    group_tokens: int,
    device: torch.device | str,
    progress: Callable[[int], None],
) -> Score:
    """Runs every arm in `names`, and the pilot alone, over all hand-over points of `sequences`.

    `ends` are the tokens that end an answer, `longest` the longest prefix. `progress` is told the
    sequences done. The target's own logits are computed along the same path as every arm's.
    """
    score = Score(Tally(split))
    done = 0
    for members in batches(sequences, group_tokens):
        ids = padded(members, device)
        source_kv, source_hidden = prefill(source.model, ids)
        target_kv, target_hidden = prefill(target.model, ids)
        group = Group(members, source_kv, target_kv)
        content = mapped_content(rivals, group)
        caches = dict(arms_of(rivals, group, content, names))
        score.cosine.add(group, caches[MAPPER], _mapped_rows(members, longest, ids.shape[1]))
        points = [p for row, s in enumerate(members) for p in points_of(row, s, longest)]
        points.sort(key=lambda p: p.prefix)
        for at in range(0, len(points), _ITEMS):
            items = _answered(points[at : at + _ITEMS], group, target, ends)
            _score_items(score, items, group, caches, source, target)
            _score_gold(score, items, group, caches[MAPPER], (source, source_hidden), (target, target_hidden))
        done += len(members)
        progress(done)
    return score


def _answered(points: list[Point], group: Group, target: Side, ends: frozenset[int]) -> _Items:
    """The target's own greedy answers: what every arm is measured against."""
    prompts = [group.sequences[p.row].tokens[: p.prefix] for p in points]
    lengths = [p.prefix - 1 for p in points]
    layers = gather_prefixes(group.target, [p.row for p in points], lengths, target.model.dtype)
    answers = greedy_answers(target.model, layers, lengths, [p[-1] for p in prompts], ends, ANSWER_TOKENS)
    return _Items(points, prompts, answers)


def _score_items(
    score: Score, items: _Items, group: Group, caches: dict[str, list[LayerKV]], source: Side, target: Side
) -> None:
    wanted = [len(a) for a in items.answers]
    feeds = [
        [*prompt[point.mapped :], *answer[:-1]]
        for prompt, point, answer in zip(items.prompts, items.points, items.answers, strict=True)
    ]

    def logits_on(layers: list[LayerKV]) -> Tensor:
        prefix = gather_prefixes(layers, items.rows, items.mapped, target.model.dtype)
        return answer_logits(target.model, prefix, items.mapped, feeds, wanted)

    with score.attention.recording(target.model, "native", feeds, wanted):
        native = logits_on(group.target)
    native_log = native.log_softmax(dim=-1)
    said = native.argmax(dim=-1)
    pilot = _pilot_logits(items, group, source, wanted)
    pilot_same = pilot.argmax(dim=-1) == said
    _count(score.tally, PILOT, items, group, pilot_same, _kl(native_log, pilot), wanted)
    for name, layers in caches.items():
        if name == MAPPER:
            with score.attention.recording(target.model, "mapped", feeds, wanted):
                logits = logits_on(layers)
            score.attention.compare()
        else:
            logits = logits_on(layers)
        same, kl = logits.argmax(dim=-1) == said, _kl(native_log, logits)
        _count(score.tally, name, items, group, same, kl, wanted)
        if name == MAPPER:
            score.tally.kl_values.append(kl.cpu())
            _count_rescue(score.tally, items, group, same, pilot_same, wanted)


def _pilot_logits(items: _Items, group: Group, source: Side, wanted: list[int]) -> Tensor:
    lengths = [p.prefix - 1 for p in items.points]
    prefix = gather_prefixes(group.source, items.rows, lengths, source.model.dtype)
    feeds = [[p[-1], *a[:-1]] for p, a in zip(items.prompts, items.answers, strict=True)]
    return answer_logits(source.model, prefix, lengths, feeds, wanted)


def _count(
    tally: Tally, arm: str, items: _Items, group: Group, same: Tensor, kl: Tensor, wanted: list[int]
) -> None:
    parts = zip(items.points, same.cpu().split(wanted), kl.cpu().split(wanted), strict=True)
    for point, same_part, kl_part in parts:
        sequence = group.sequences[point.row]
        tally.add(tally.of(arm, sequence.id, sequence.domain), point.prefix, same_part, kl_part)


def _count_rescue(
    tally: Tally, items: _Items, group: Group, same: Tensor, pilot_same: Tensor, wanted: list[int]
) -> None:
    """Positions where pilot and target differ that the transfer recovered, and agreeing ones it lost."""
    recovered, lost = (same & ~pilot_same).cpu().split(wanted), (~same & pilot_same).cpu().split(wanted)
    for point, won, gone in zip(items.points, recovered, lost, strict=True):
        sequence = group.sequences[point.row]
        row = tally.of(MAPPER, sequence.id, sequence.domain)
        row.recovered = (row.recovered or 0) + int(won.sum())
        row.lost = (row.lost or 0) + int(gone.sum())


def _score_gold(
    score: Score,
    items: _Items,
    group: Group,
    mapped: list[LayerKV],
    source: tuple[Side, Tensor],
    target: tuple[Side, Tensor],
) -> None:
    """Log-likelihood of the text's own continuation: transferred and native target less the pilot, nats."""
    gold = [group.sequences[p.row].tokens[p.prefix : p.prefix + ANSWER_TOKENS] for p in items.points]
    kept = [i for i, tokens in enumerate(gold) if tokens]
    if not kept:
        return
    points = [items.points[i] for i in kept]
    wanted = [len(gold[i]) for i in kept]
    tokens = torch.tensor([t for i in kept for t in gold[i]], device=target[1].device)
    feeds = [[*items.prompts[i][items.points[i].mapped :], *gold[i][:-1]] for i in kept]
    lengths = [p.mapped for p in points]
    prefix = gather_prefixes(mapped, [p.row for p in points], lengths, target[0].model.dtype)
    moved = _likelihood(answer_logits(target[0].model, prefix, lengths, feeds, wanted), tokens)
    own = []
    for side, hidden in (source, target):
        picked = [hidden[p.row, p.prefix - 1 : p.prefix - 1 + n] for p, n in zip(points, wanted, strict=True)]
        own.append(_likelihood(side.model.lm_head(torch.cat(picked)).float(), tokens))
    pilot, native = own
    gains = zip(
        points, (moved - pilot).cpu().split(wanted), (native - pilot).cpu().split(wanted), strict=True
    )
    for point, gain, native_gain in gains:
        sequence = group.sequences[point.row]
        row = score.tally.of(MAPPER, sequence.id, sequence.domain)
        row.gold_gain = (row.gold_gain or 0.0) + float(gain.double().sum())
        row.native_gold_gain = (row.native_gold_gain or 0.0) + float(native_gain.double().sum())


def _likelihood(logits: Tensor, tokens: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1).gather(1, tokens[:, None])[:, 0]


def _kl(native_log: Tensor, logits: Tensor) -> Tensor:
    """KL(native || arm) by position, nats; tiny negative rounding is cut off."""
    arm_log = logits.log_softmax(dim=-1)
    return (native_log.exp() * (native_log - arm_log)).sum(dim=-1).clamp(min=0.0)


def _mapped_rows(members: list[Sequence], longest: int, width: int) -> Tensor:
    """[B, width] bool: rows that a hand-over at the sequence's end would take from the map."""
    ends = [Point(0, min(longest, len(s.tokens))).mapped for s in members]
    return torch.arange(width)[None] < torch.tensor(ends)[:, None]
