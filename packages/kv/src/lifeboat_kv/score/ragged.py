"""Batches of continuations with different prefix lengths: caches padded on the left, tokens on the right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from ..cache import LayerKV
from ..capture import body


class RoomyLayer(DynamicLayer):
    """A cache layer with room for `extra` more rows, so that each step writes rows instead of copying all."""

    def __init__(self, k: Tensor, v: Tensor, extra: int) -> None:
        super().__init__()
        self._used = k.shape[-2]
        room = (*k.shape[:-2], self._used + extra, k.shape[-1])
        self._k, self._v = k.new_empty(room), v.new_empty(room)
        self._k[..., : self._used, :] = k
        self._v[..., : self._used, :] = v
        self.dtype, self.device = k.dtype, k.device
        self._show()
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> LayerKV:
        """Appends rows [B, kv_heads, n, d] and returns all of them."""
        end = self._used + key_states.shape[-2]
        self._k[..., self._used : end, :] = key_states
        self._v[..., self._used : end, :] = value_states
        self._used = end
        self._show()
        return self.keys, self.values

    def shrink(self, kept: list[int]) -> None:
        """Drops all batch rows but `kept`."""
        self._k, self._v = self._k[kept], self._v[kept]
        self._show()

    def _show(self) -> None:
        self.keys, self.values = self._k[..., : self._used, :], self._v[..., : self._used, :]


def gather_prefixes(
    layers: list[LayerKV], rows: list[int], lengths: list[int], dtype: torch.dtype
) -> list[LayerKV]:
    """Rows 0 ... length-1 of chosen sequences, left-padded to one length with zeros.

    `layers`: (k, v) [B, kv_heads, T, d]. Returns (k, v) [len(rows), kv_heads, max(lengths), d] in `dtype`,
    which is where a mapped cache is rounded to what the serving cache holds.
    """
    longest = max(lengths)
    gathered = []
    for k, v in layers:
        shape = (len(rows), k.shape[1], longest, k.shape[-1])
        out_k, out_v = k.new_zeros(shape, dtype=dtype), v.new_zeros(shape, dtype=dtype)
        for index, (row, length) in enumerate(zip(rows, lengths, strict=True)):
            out_k[index, :, longest - length :] = k[row, :, :length].to(dtype)
            out_v[index, :, longest - length :] = v[row, :, :length].to(dtype)
        gathered.append((out_k, out_v))
    return gathered


@dataclass
class Continuation:
    """A batch whose item i holds `lengths[i]` cached rows, left-padded to a common length."""

    model: Any
    cache: DynamicCache
    lengths: Tensor
    mask: Tensor

    @classmethod
    def start(cls, model: Any, layers: list[LayerKV], lengths: list[int], extra: int) -> Continuation:
        """`layers` as `gather_prefixes` returns them; `extra` tokens will be appended at most."""
        cache = DynamicCache()
        cache.layers = [RoomyLayer(k, v, extra) for k, v in layers]
        longest = layers[0][0].shape[-2]
        counts = torch.tensor(lengths, device=layers[0][0].device)
        mask = torch.arange(longest, device=counts.device)[None] >= longest - counts[:, None]
        return cls(model, cache, counts, mask.long())

    @torch.no_grad()
    def feed(self, ids: Tensor, real: Tensor) -> Tensor:
        """Appends ids [B, n], of which `real` [B, n] (0/1, right-padded) count; hidden states [B, n, H]."""
        self.mask = torch.cat((self.mask, real.to(self.mask)), dim=1)
        positions = self.lengths[:, None] + torch.arange(ids.shape[1], device=ids.device)[None]
        self.lengths = self.lengths + real.sum(dim=1)
        out = body(self.model)(
            input_ids=ids,
            attention_mask=self.mask,
            position_ids=positions,
            past_key_values=self.cache,
            use_cache=True,
        )
        return out.last_hidden_state

    def keep(self, kept: list[int]) -> None:
        """Goes on with the items at the places `kept` only."""
        for layer in self.cache.layers:
            layer.shrink(kept)
        self.lengths, self.mask = self.lengths[kept], self.mask[kept]


@torch.no_grad()
def greedy_answers(
    model: Any, layers: list[LayerKV], lengths: list[int], last: list[int], ends: frozenset[int], count: int
) -> list[list[int]]:
    """Up to `count` greedy tokens for each item after its `last` prompt token, the end token included.

    `layers` and `lengths` hold each prompt without that last token.
    """
    run = Continuation.start(model, layers, lengths, count)
    answers: list[list[int]] = [[] for _ in lengths]
    running = list(range(len(lengths)))
    ids = torch.tensor(last, device=layers[0][0].device)[:, None]
    for _ in range(count):
        hidden = run.feed(ids, torch.ones_like(ids))
        ids = model.lm_head(hidden[:, -1:]).argmax(dim=-1)
        for place, token in enumerate(ids[:, 0].tolist()):
            if not (answers[running[place]] and answers[running[place]][-1] in ends):
                answers[running[place]].append(token)
        kept = [place for place, item in enumerate(running) if answers[item][-1] not in ends]
        if not kept:
            break
        # Rows that have ended are carried along until a third of the batch is idle; then it shrinks.
        if len(kept) <= 2 * len(running) // 3:
            run.keep(kept)
            ids = ids[kept]
            running = [running[place] for place in kept]
    return answers


@torch.no_grad()
def answer_logits(
    model: Any, layers: list[LayerKV], lengths: list[int], feeds: list[list[int]], wanted: list[int]
) -> Tensor:
    """Logits [sum(wanted), vocabulary] float32: for each item those after its last `wanted` fed tokens."""
    longest = max(len(f) for f in feeds)
    ids = torch.zeros(len(feeds), longest, dtype=torch.long)
    real = torch.zeros(len(feeds), longest, dtype=torch.long)
    for index, feed in enumerate(feeds):
        ids[index, : len(feed)] = torch.tensor(feed)
        real[index, : len(feed)] = 1
    device = layers[0][0].device
    run = Continuation.start(model, layers, lengths, longest)
    hidden = run.feed(ids.to(device), real.to(device))
    picked = [hidden[i, len(f) - n : len(f)] for i, (f, n) in enumerate(zip(feeds, wanted, strict=True))]
    return model.lm_head(torch.cat(picked)).float()
