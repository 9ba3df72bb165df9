"""Reading layers out of a transformers cache, and building one from layers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import DynamicCache

# One layer of a cache: keys and values, [..., kv_heads, T, head_dim]; keys are rotated.
LayerKV = tuple[Tensor, Tensor]


def read_cache(cache: DynamicCache) -> list[LayerKV]:
    """Views of every layer's keys and values, [B, kv_heads, T, d], as the cache holds them."""
    return [(layer.keys, layer.values) for layer in cache.layers]


def build_cache(layers: Sequence[LayerKV], *, dtype: torch.dtype | None = None) -> DynamicCache:
    """A fresh cache with `layers` installed; [kv_heads, T, d] gets a batch of one in front.

    `dtype` is the dtype the serving cache holds (rounding happens here), None keeps the tensors'.
    """
    cache = DynamicCache()
    for index, (k, v) in enumerate(layers):
        if k.dim() == 3:
            k, v = k[None], v[None]
        cache.update(k.to(dtype or k.dtype).contiguous(), v.to(dtype or v.dtype).contiguous(), index)
    return cache
