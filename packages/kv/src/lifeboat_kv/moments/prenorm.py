"""Keys of a model before its k_norm, which no cache holds: targets of a pre-norm fit, never features."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from .capture import body


@contextmanager
def recording_prenorm(model: Any) -> Iterator[list[Tensor]]:
    """The list is filled, layer by layer, by one forward pass inside the block: [B, kv_heads, T, d].

    It stays empty for a model without k_norm.
    """
    taken: list[Tensor] = []

    def keep(_module: Any, inputs: tuple[Tensor, ...]) -> None:
        taken.append(inputs[0].detach().transpose(1, 2))

    norms = [getattr(layer.self_attn, "k_norm", None) for layer in body(model).layers]
    hooks = [norm.register_forward_pre_hook(keep) for norm in norms if isinstance(norm, torch.nn.Module)]
    try:
        yield taken
    finally:
        for hook in hooks:
            hook.remove()
