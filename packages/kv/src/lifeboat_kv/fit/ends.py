"""The exact head: the cache of the tokens that every chat of a model begins with."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..mapper.form import ConstantHead
from ..moments.capture import content_rows, prefill
from ..rotation.rope import Rope


def constant_head(model: Any, rope: Rope, token_ids: tuple[int, ...]) -> ConstantHead | None:
    """The target's own content keys and values of `token_ids` at the start, float32; None without tokens."""
    if not token_ids:
        return None
    ids = torch.tensor([token_ids], device=model.device)
    keys, values = content_rows(prefill(model, ids)[0], rope)
    return ConstantHead(token_ids, torch.stack([k[0] for k in keys]), torch.stack([v[0] for v in values]))


def norm_weights(model: Any) -> list[Tensor] | None:
    """k_norm's weights [d] float32 by layer, None where keys are not normalised per head."""
    found = []
    for layer in model.model.layers:
        norm = getattr(layer.self_attn, "k_norm", None)
        if norm is None or norm.weight.dim() != 1 or norm.weight.shape[0] != layer.self_attn.head_dim:
            return None
        found.append(norm.weight.detach().float())
    return found
