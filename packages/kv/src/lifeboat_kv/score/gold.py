"""Gold likelihood: how much of the text's own continuation each way of answering expects."""

from __future__ import annotations

import torch
from torch import Tensor

from ..accumulate import Side
from ..cache import LayerKV
from .arms import MAPPER, Group
from .items import Items
from .points import ANSWER_TOKENS
from .tally import Tally


def count_gold(
    tally: Tally,
    items: Items,
    group: Group,
    mapped: list[LayerKV],
    source: tuple[Side, Tensor],
    target: tuple[Side, Tensor],
) -> None:
    """Adds log-likelihood gains over the pilot, transferred and native, in nats by sequence.

    `source` and `target` come with their final hidden states [B, T, hidden] over the group's texts.
    Points at a text's end have no gold and are left out.
    """
    gold = [group.sequences[p.row].tokens[p.prefix : p.prefix + ANSWER_TOKENS] for p in items.points]
    kept = [i for i, tokens in enumerate(gold) if tokens]
    if not kept:
        return
    part = Items(
        [items.points[i] for i in kept], [items.prompts[i] for i in kept], [list(gold[i]) for i in kept]
    )
    tokens = torch.tensor([t for i in kept for t in gold[i]], device=target[1].device)
    moved = _likelihood(part.logits(target[0], mapped), tokens)
    own = []
    for side, hidden in (source, target):
        rows = zip(part.points, part.wanted, strict=True)
        picked = torch.cat([hidden[p.row, p.prefix - 1 : p.prefix - 1 + n] for p, n in rows])
        own.append(_likelihood(side.model.lm_head(picked).float(), tokens))
    pilot, native = own
    gains = (moved - pilot).cpu().split(part.wanted), (native - pilot).cpu().split(part.wanted)
    for point, gain, native_gain in zip(part.points, *gains, strict=True):
        sequence = group.sequences[point.row]
        row = tally.of(MAPPER, sequence.id, sequence.domain)
        row.gold_gain = (row.gold_gain or 0.0) + float(gain.double().sum())
        row.native_gold_gain = (row.native_gold_gain or 0.0) + float(native_gain.double().sum())


def _likelihood(logits: Tensor, tokens: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1).gather(1, tokens[:, None])[:, 0]
