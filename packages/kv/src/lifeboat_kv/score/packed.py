"""Continuations of many sequences side by side in one packed row: no padding, no copies of whole caches.

Item i adds `counts[i]` new tokens to the first `lengths[i]` cached rows of sequence `rows[i]`. The layout
travels to the attention as a keyword of the model's forward (see grouped_attention.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..models.cache import LayerKV
from ..moments.capture import body


@dataclass(frozen=True)
class Packed:
    """A packed row's layout over `layers`, (k, v) [B, kv_heads, T, d] by layer."""

    layers: list[LayerKV]
    rows: list[int]
    lengths: list[int]
    counts: list[int]
    mask: Tensor

    @classmethod
    def over(
        cls,
        layers: list[LayerKV],
        rows: list[int],
        lengths: list[int],
        counts: list[int],
        dtype: torch.dtype,
    ) -> Packed:
        """`dtype` is the model's: what a mapped cache is rounded to, as in the cache that serves it."""
        device = layers[0][0].device
        most, deepest = max(counts), max(lengths)
        # One mask for all items: column c of item i's slice stands for row c + lengths[i] - deepest.
        ahead = torch.arange(deepest + most, device=device)[None] - torch.arange(most, device=device)[:, None]
        mask = torch.zeros(most, deepest + most, dtype=dtype, device=device)
        return cls(layers, rows, lengths, counts, mask.masked_fill_(ahead > deepest, float("-inf")))

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float | None) -> Tensor:
        """query [1, heads, N, d], key and value [1, kv_heads, N, d] of the new tokens -> [1, N, heads, d]."""
        k, v = self.layers[layer]
        heads, d = key.shape[1], key.shape[-1]
        room = key.new_empty(2, 1, heads, self.mask.shape[1], d)
        out = torch.empty(query.shape[2], *query.shape[1:4:2], dtype=query.dtype, device=query.device)
        deepest, start = max(self.lengths), 0
        for row, length, count in zip(self.rows, self.lengths, self.counts, strict=True):
            end, whole = start + count, length + count
            for to, cached, new in zip(room, (k, v), (key, value), strict=True):
                to[0, :, :length] = cached[row, :, :length]
                to[0, :, length:whole] = new[0, :, start:end]
            out[start:end] = F.scaled_dot_product_attention(
                query[:, :, start:end],
                room[0, :, :, :whole],
                room[1, :, :, :whole],
                attn_mask=self.mask[:count, deepest - length : deepest + count],
                scale=scale,
                enable_gqa=query.shape[1] != heads,
            )[0].transpose(0, 1)
            start = end
        return out[None]


@torch.no_grad()
def packed_hidden(
    model: Any, layers: list[LayerKV], rows: list[int], lengths: list[int], feeds: list[list[int]]
) -> Tensor:
    """Final hidden states [sum of the feeds' lengths, hidden] of `feeds` on top of cached rows.

    The model has to use the attention of grouped_attention.py. Errors: RuntimeError where it does not.
    """
    if not getattr(model, "attends_packed", False):
        raise RuntimeError("use_grouped_attention was not applied to this model")
    device = layers[0][0].device
    counts = [len(f) for f in feeds]
    ids = torch.tensor([t for f in feeds for t in f], device=device)[None]
    spans = [torch.arange(n, n + c) for n, c in zip(lengths, counts, strict=True)]
    out = body(model)(
        input_ids=ids,
        position_ids=torch.cat(spans).to(device)[None],
        # transformers hands a mask of four dimensions on as it is; the layout says what may be seen.
        attention_mask=torch.empty(1, 1, 0, 0, device=device),
        use_cache=False,
        packed=Packed.over(layers, rows, lengths, counts, model.dtype),
    )
    return out.last_hidden_state[0]


@torch.no_grad()
def answer_logits(
    model: Any,
    layers: list[LayerKV],
    rows: list[int],
    lengths: list[int],
    feeds: list[list[int]],
    wanted: list[int],
) -> Tensor:
    """Logits [sum(wanted), vocabulary] float32: for each item those after its last `wanted` fed tokens."""
    hidden = packed_hidden(model, layers, rows, lengths, feeds)
    return model.lm_head(hidden[last_rows(feeds, wanted)]).float()


def last_rows(feeds: list[list[int]], wanted: list[int]) -> Tensor:
    """Places of each item's last `wanted` tokens in the packed row."""
    places, start = [], 0
    for feed, count in zip(feeds, wanted, strict=True):
        start += len(feed)
        places.append(torch.arange(start - count, start))
    return torch.cat(places)
