"""How much attention a model pays to each row of its cache, taken while it reads a text.

Queries are a sample of the text's positions. A query pays with its softmax; rows so near to it that a
hand-over there would compute them exactly (the tail) get nothing, for no map will ever be asked for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from ..errors import UsageError
from ..mapper.tail import tail_length
from ..models.grouped_attention import NAME as GROUPED
from ..models.grouped_attention import _attend as attend
from .capture import body

NAME = "watched_sdpa"
# Every so many positions one query is looked at: an eighth of what the attention itself costs.
QUERY_STEP = 8
_WATCH = "attention_mass"


class AttentionMass:
    """Attention paid to rows 0 ... T-1 of each of B texts, summed over sampled queries.

    `paid` [B, T] float32 is the mean over layers and heads of that sum.
    """

    def __init__(self, lengths: list[int], first: list[int]) -> None:
        """`lengths` are the texts' real lengths (right-padded); text i's queries are `first[i]`, + 8, ..."""
        steps = torch.arange(0, max(lengths), QUERY_STEP)
        queries = torch.tensor(first)[:, None] + steps  # [B, Q]
        self._real = queries < torch.tensor(lengths)[:, None]
        self._queries = queries.clamp(max=max(lengths) - 1)
        reach = torch.tensor([n - tail_length(n) for n in range(1, max(lengths) + 1)])
        self._mapped = reach[self._queries]
        self._sum: Tensor | None = None
        self._layers = 0

    def take(self, query: Tensor, key: Tensor, scaling: float) -> None:
        """One layer: query [B, heads, T, d] and key [B, kv_heads, T, d], both rotated."""
        _, heads, length, width = query.shape
        kv_heads, device = key.shape[1], key.device
        at, mapped, real = (t.to(device) for t in (self._queries, self._mapped, self._real))
        picked = query.gather(2, at[:, None, :, None].expand(-1, heads, -1, width))
        grouped = picked.unflatten(1, (kv_heads, -1))  # [B, kv, group, Q, d]
        scores = (grouped @ key[:, :, None].mT).float() * scaling
        row = torch.arange(length, device=device)
        seen = row <= at[..., None]  # [B, Q, T]
        paid = scores.masked_fill_(~seen[:, None, None], float("-inf")).softmax(dim=-1)
        paid = paid.sum(dim=(1, 2)) * (row < mapped[..., None]) * real[..., None]
        total = paid.sum(dim=1) / heads
        self._sum = total if self._sum is None else self._sum + total
        self._layers += 1

    @property
    def paid(self) -> Tensor:
        """[B, T]. Errors: UsageError NO_ATTENTION where the model's attention could not be watched."""
        if self._sum is None:
            raise UsageError(
                "NO_ATTENTION", "this model's attention cannot be watched; choose another --method"
            )
        return self._sum / self._layers


@contextmanager
def watching(model: Any, mass: AttentionMass) -> Iterator[None]:
    """Forward passes inside the block add what `model` pays to `mass`.

    Works for models whose attention is torch's own or `grouped_sdpa`; others add nothing.
    """
    AttentionInterface.register(NAME, _watched)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    before = model.config._attn_implementation
    if before not in ("sdpa", GROUPED):
        yield
        return
    layers = [layer.self_attn for layer in body(model).layers]
    for layer in layers:
        setattr(layer, _WATCH, mass)
    model.set_attn_implementation(NAME)
    try:
        yield
    finally:
        model.set_attn_implementation(before)
        for layer in layers:
            delattr(layer, _WATCH)


def _watched(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **more: Any,
) -> tuple[Tensor, None]:
    getattr(module, _WATCH).take(query, key, query.shape[-1] ** -0.5 if scaling is None else scaling)
    return attend(module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **more)
