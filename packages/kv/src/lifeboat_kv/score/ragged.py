"""Greedy answers of a batch with different prefix lengths: caches padded on the left, one token a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from ..models.cache import LayerKV
from ..moments.capture import body


class RoomyLayer(DynamicLayer):
    """A cache layer that is allocated once: `rows` of `room` hold something, the others are yet to come."""

    def __init__(self, k: Tensor, v: Tensor, rows: int) -> None:
        super().__init__()
        self._k, self._v, self._used = k, v, rows
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


@dataclass
class Continuation:
    """A batch whose item i holds `lengths[i]` cached rows, left-padded to `longest`; `steps` were taken."""

    model: Any
    cache: DynamicCache
    lengths: Tensor
    longest: int
    mask: Tensor
    steps: int = 0

    @classmethod
    def start(
        cls, model: Any, layers: list[LayerKV], rows: list[int], lengths: list[int], most: int
    ) -> Continuation:
        """`layers` (k, v) [B, kv_heads, T, d]; item i goes on from the first `lengths[i]` rows of
        sequence `rows[i]`, by `most` tokens at most."""
        longest = max(lengths)
        cache = DynamicCache()
        cache.layers = [
            RoomyLayer(*_padded(layer, rows, lengths, most, model.dtype), longest) for layer in layers
        ]
        counts = torch.tensor(lengths, device=layers[0][0].device)
        hidden = torch.arange(longest + most, device=counts.device)[None] < longest - counts[:, None]
        mask = torch.zeros(hidden.shape, dtype=model.dtype, device=counts.device)
        mask = mask.masked_fill_(hidden, float("-inf"))[:, None, None]
        return cls(model, cache, counts, longest, mask)

    @torch.no_grad()
    def feed(self, ids: Tensor) -> Tensor:
        """Appends one token each, ids [B, 1]; final hidden states [B, 1, hidden]."""
        self.steps += 1
        out = body(self.model)(
            input_ids=ids,
            attention_mask=self.mask[..., : self.longest + self.steps],
            position_ids=self.lengths[:, None],
            past_key_values=self.cache,
            use_cache=True,
        )
        self.lengths = self.lengths + 1
        return out.last_hidden_state

    def keep(self, kept: list[int]) -> None:
        """Goes on with the items at the places `kept` only."""
        for layer in self.cache.layers:
            layer.shrink(kept)
        self.lengths, self.mask = self.lengths[kept], self.mask[kept]


@torch.no_grad()
def greedy_answers(
    model: Any,
    layers: list[LayerKV],
    rows: list[int],
    lengths: list[int],
    last: list[int],
    limits: list[int],
    ends: frozenset[int],
) -> list[list[int]]:
    """Greedy tokens for each item after its `last` token, the end token included, `limits[i]` at most.

    `layers`, `rows` and `lengths` as in `Continuation.start`: what stands before that last token.
    """
    run = Continuation.start(model, layers, rows, lengths, max(limits))
    answers: list[list[int]] = [[] for _ in lengths]
    running = list(range(len(lengths)))
    ids = torch.tensor(last, device=layers[0][0].device)[:, None]

    def done(item: int) -> bool:
        said = answers[item]
        return len(said) >= limits[item] or bool(said and said[-1] in ends)

    while True:
        ids = model.lm_head(run.feed(ids)).argmax(dim=-1)
        for place, token in enumerate(ids[:, 0].tolist()):
            if not done(running[place]):
                answers[running[place]].append(token)
        kept = [place for place, item in enumerate(running) if not done(item)]
        if not kept:
            return answers
        # Rows that have ended are carried along until a quarter of the batch is idle; then it shrinks.
        if len(kept) <= 3 * len(running) // 4:
            run.keep(kept)
            ids = ids[kept]
            running = [running[place] for place in kept]


def _padded(
    layer: LayerKV, rows: list[int], lengths: list[int], most: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Both halves [len(rows), kv_heads, longest + most, d] in `dtype`: padding is zero, room behind unset."""
    longest = max(lengths)
    both = []
    for cached in layer:
        shape = (len(rows), cached.shape[1], longest + most, cached.shape[-1])
        out = torch.empty(shape, dtype=dtype, device=cached.device)
        for index, (row, length) in enumerate(zip(rows, lengths, strict=True)):
            out[index, :, : longest - length] = 0
            out[index, :, longest - length : longest] = cached[row, :, :length]
        both.append(out)
    return both[0], both[1]
