"""Attention over grouped KV heads without first repeating them, for the scorer's large padded batches.

transformers repeats every key and value head as soon as a mask is given; torch's kernel does not need
that. The result is the same to float32 rounding, and the scorer's native run uses it as well.
"""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

NAME = "grouped_sdpa"


def use_grouped_attention(model: Any) -> None:
    """Switches a transformers model to `grouped_sdpa`; models that cannot be switched stay as they are."""
    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    if model.config._attn_implementation == "sdpa":
        model.set_attn_implementation(NAME)


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """query [B, heads, n, d], key and value [B, kv_heads, T, d] -> [B, n, heads, d]."""
    out = F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=attention_mask,
        dropout_p=dropout,
        is_causal=attention_mask is None and query.shape[2] > 1,
        scale=scaling,
        enable_gqa=query.shape[1] != key.shape[1],
    )
    return out.transpose(1, 2).contiguous(), None
