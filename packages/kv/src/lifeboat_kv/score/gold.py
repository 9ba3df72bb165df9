"""Gold likelihood: how much of the text's own continuation each way of answering expects."""

from __future__ import annotations

import torch
from torch import Tensor

from ..models.cache import LayerKV
from ..models.side import Side
from .arms import MAPPER, Group
from .items import Items
from .points import ANSWER_TOKENS
from .tally import Tally


def count_gold(
    tally: Tally,
    items: Items,
    group: Group,
    mapped: list[LayerKV],
    logits: Tensor,
    source: tuple[Side, Tensor],
    target: tuple[Side, Tensor],
) -> None:
    """Adds log-likelihood gains over the pilot, transferred and native, in nats by sequence.

    `logits` are the mapper's over the answers. `source` and `target` come with their final hidden states
    [B, T, hidden] over the group's texts. Points at a text's end have no gold and are left out.
    """
    gold = [list(group.sequences[p.row].tokens[p.prefix : p.prefix + ANSWER_TOKENS]) for p in items.points]
    kept = [i for i, tokens in enumerate(gold) if tokens]
    if not kept:
        return
    wanted = [len(gold[i]) for i in kept]
    tokens = torch.tensor([t for i in kept for t in gold[i]], device=target[1].device)
    own = []
    for side, hidden in (source, target):
        points = [
            (items.points[i].row, items.points[i].prefix - 1, n) for i, n in zip(kept, wanted, strict=True)
        ]
        picked = torch.cat([hidden[row, at : at + n] for row, at, n in points])
        own.append(_likelihood(side.model.lm_head(picked).float(), tokens))
    pilot, native = own
    moved = torch.cat(_moved(items, kept, gold, mapped, logits, target[0]))
    gains = (moved - pilot).cpu().split(wanted), (native - pilot).cpu().split(wanted)
    for i, gain, native_gain in zip(kept, *gains, strict=True):
        sequence = group.sequences[items.points[i].row]
        row = tally.of(MAPPER, sequence.id, sequence.domain)
        row.gold_gain = (row.gold_gain or 0.0) + float(gain.double().sum())
        row.native_gold_gain = (row.native_gold_gain or 0.0) + float(native_gain.double().sum())


def _moved(
    items: Items, kept: list[int], gold: list[list[int]], mapped: list[LayerKV], logits: Tensor, target: Side
) -> list[Tensor]:
    """Log-likelihood of each kept item's gold on the mapped cache; answers that are the gold were run."""
    device = logits.device
    answered = dict(enumerate(logits.split(items.wanted)))
    found = {
        i: _likelihood(answered[i], torch.tensor(gold[i], device=device))
        for i in kept
        if items.answers[i] == gold[i]
    }
    other = [i for i in kept if i not in found]
    if other:
        part = items.part(other, [gold[i] for i in other])
        tokens = torch.tensor([t for i in other for t in gold[i]], device=device)
        more = _likelihood(part.logits(target, mapped), tokens).split(part.wanted)
        found |= dict(zip(other, more, strict=True))
    return [found[i] for i in kept]


def _likelihood(logits: Tensor, tokens: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1).gather(1, tokens[:, None])[:, 0]
