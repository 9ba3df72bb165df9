"""Scores a mapper and its rivals on one split of probes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..corpora import SHORTEST_PREFIX, Sequence
from ..models.cache import LayerKV
from ..models.side import Side
from ..moments.capture import batches, padded, prefill
from .arms import MAPPER, OTHER, PILOT, Group, Rivals, arms_of, mapped_content, strangers
from .attention import AttentionCosine, recording
from .cosine import CosineSums
from .gold import count_gold
from .items import Items, answered
from .points import Point, points_of
from .tally import Tally


@dataclass
class Score:
    """What a split gave: counts by arm, and the mapper's cosines."""

    tally: Tally
    cosine: CosineSums = field(default_factory=CosineSums)
    attention: AttentionCosine = field(default_factory=AttentionCosine)


@dataclass(frozen=True)
class _Native:
    """The target's own run over a batch: log-probabilities, argmax, attention outputs; the pilot's hits."""

    log: Tensor
    said: Tensor
    outputs: list[Tensor]
    pilot_same: Tensor | None


@dataclass(frozen=True)
class Probing:
    """Where hand-over points lie, and what is measured there besides the arms.

    `beside` adds the pilot alone, the gold's likelihood and the cosines. `multiple` names long rows.
    """

    split: str
    longest: int
    shortest: int = SHORTEST_PREFIX
    beside: bool = True
    multiple: int | None = None


@torch.no_grad()
def score_split(
    probing: Probing,
    sequences: list[Sequence],
    rivals: Rivals,
    source: Side,
    target: Side,
    ends: frozenset[int],
    names: tuple[str, ...],
    *,
    group_tokens: int,
    device: torch.device | str,
    progress: Callable[[float], None],
) -> Score:
    """Runs every arm in `names` over all hand-over points of `sequences`.

    `ends` are the tokens that end an answer. `progress` is told the sequences done. The target's own
    logits are computed along the same path as every arm's. One arm's caches are held at a time.
    Of a split of one sequence there is no arm of another sequence's cache.
    """
    if len(sequences) < 2:
        names = tuple(name for name in names if name != OTHER)
    score = Score(Tally(probing.split, probing.multiple))
    done = 0.0
    for members in batches(sequences, group_tokens):
        ids = padded(members, device)
        source_kv, source_hidden = prefill(source.model, ids)
        target_kv, target_hidden = prefill(target.model, ids)
        stranger = _stranger(members, sequences, target, device) if OTHER in names else None
        group = Group(members, source_kv, target_kv, stranger)
        points = [
            p for row, s in enumerate(members) for p in points_of(row, s, probing.longest, probing.shortest)
        ]
        batched = answered(points, group, target, target_hidden, ends)
        natives = [_native(score, items, group, source, target, probing.beside) for items in batched]
        step = len(members) / (len(names) + 1)
        progress(done + step)
        for index, (name, layers) in enumerate(arms_of(rivals, group, mapped_content(rivals, group), names)):
            for items, native in zip(batched, natives, strict=True):
                logits = _compare(score, name, layers, items, native, group, target)
                if name == MAPPER and probing.beside:
                    sides = (source, source_hidden), (target, target_hidden)
                    count_gold(score.tally, items, group, layers, logits, *sides)
            if name == MAPPER and probing.beside:
                score.cosine.add(group, layers, _mapped_rows(members, probing.longest, ids.shape[1]))
            progress(done + step * (index + 2))
        done += len(members)
    return score


def _stranger(
    members: list[Sequence], sequences: list[Sequence], target: Side, device: torch.device | str
) -> list[LayerKV] | None:
    """For a group of one, the target's cache of another sequence at the group's length; else None.

    One that is as long is cut, a shorter one padded, as in a group of several.
    """
    if len(members) > 1:
        return None
    length = len(members[0].tokens)
    at = next(i for i, s in enumerate(sequences) if s is members[0])
    ids = torch.zeros(1, length, dtype=torch.long)
    other = sequences[strangers([len(s.tokens) for s in sequences])[at]].tokens[:length]
    ids[0, : len(other)] = torch.tensor(other)
    return prefill(target.model, ids.to(device))[0]


def _native(score: Score, items: Items, group: Group, source: Side, target: Side, beside: bool) -> _Native:
    with recording(target.model, items.feeds, items.wanted) as outputs:
        log = items.logits(target, group.target).log_softmax(dim=-1)
    said = log.argmax(dim=-1)
    if not beside:
        return _Native(log, said, outputs, None)
    pilot = items.logits_alone(source, group.source)
    same = pilot.argmax(dim=-1) == said
    _count(score.tally, PILOT, items, group, same, _kl(log, pilot))
    return _Native(log, said, outputs, same)


def _compare(
    score: Score,
    name: str,
    layers: list[LayerKV],
    items: Items,
    native: _Native,
    group: Group,
    target: Side,
) -> Tensor:
    """Counts one arm on one batch; returns its logits."""
    if name == MAPPER:
        with recording(target.model, items.feeds, items.wanted) as outputs:
            logits = items.logits(target, layers)
        score.attention.add(native.outputs, outputs)
    else:
        logits = items.logits(target, layers)
    same, kl = logits.argmax(dim=-1) == native.said, _kl(native.log, logits)
    _count(score.tally, name, items, group, same, kl)
    if name == MAPPER:
        score.tally.kl_values.append(kl.cpu())
        if native.pilot_same is not None:
            _count_rescue(score.tally, items, group, same, native.pilot_same)
    return logits


def _count(tally: Tally, arm: str, items: Items, group: Group, same: Tensor, kl: Tensor) -> None:
    parts = same.cpu().split(items.wanted), kl.cpu().split(items.wanted)
    for point, same_part, kl_part in zip(items.points, *parts, strict=True):
        sequence = group.sequences[point.row]
        row = tally.of(arm, sequence.id, sequence.domain)
        if arm == MAPPER:
            row.digest = sequence.digest
        tally.add(row, point.prefix, same_part, kl_part, pointwise=arm == MAPPER)


def _count_rescue(tally: Tally, items: Items, group: Group, same: Tensor, pilot_same: Tensor) -> None:
    """Positions where pilot and target differ that the transfer recovered, and agreeing ones it lost."""
    parts = (same & ~pilot_same).cpu().split(items.wanted), (~same & pilot_same).cpu().split(items.wanted)
    for point, won, gone in zip(items.points, *parts, strict=True):
        sequence = group.sequences[point.row]
        row = tally.of(MAPPER, sequence.id, sequence.domain)
        row.recovered = (row.recovered or 0) + int(won.sum())
        row.lost = (row.lost or 0) + int(gone.sum())


def _kl(native_log: Tensor, logits: Tensor) -> Tensor:
    """KL(native || arm) by position, nats; tiny negative rounding is cut off."""
    arm_log = logits.log_softmax(dim=-1)
    return (native_log.exp() * (native_log - arm_log)).sum(dim=-1).clamp(min=0.0)


def _mapped_rows(members: list[Sequence], longest: int, width: int) -> Tensor:
    """[B, width] bool: rows that a hand-over at the sequence's end would take from the map."""
    ends = [Point(0, min(longest, len(s.tokens))).mapped for s in members]
    return torch.arange(width)[None] < torch.tensor(ends)[:, None]
