"""Attention over grouped KV heads without first repeating them, for the scorer's large batches.

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
    """Switches a transformers model to `grouped_sdpa`. Errors: ValueError where the model cannot be."""
    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)
    model.attends_packed = True


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    packed: Any = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """query [B, heads, n, d], key and value [B, kv_heads, T, d] -> [B, n, heads, d]."""
    if packed is not None:
        return packed.attend(module.layer_idx, query, key, value, scaling), None
    batch, heads, count, d = query.shape
    # One new token each: the query heads that share a KV head become its query positions.
    folded = count == 1 and heads != key.shape[1]
    out = F.scaled_dot_product_attention(
        query.reshape(batch, key.shape[1], -1, d) if folded else query,
        key,
        value,
        attn_mask=attention_mask,
        dropout_p=dropout,
        is_causal=attention_mask is None and count > 1,
        scale=scaling,
        enable_gqa=not folded and heads != key.shape[1],
    )
    return (out.reshape(batch, 1, heads, d) if folded else out.transpose(1, 2).contiguous()), None
