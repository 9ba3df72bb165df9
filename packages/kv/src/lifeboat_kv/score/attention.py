"""Attention-output cosine: the diagnostic that goes with retention."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from ..moments.capture import body
from .packed import last_rows


@contextmanager
def recording(model: Any, feeds: list[list[int]], wanted: list[int]) -> Iterator[list[Tensor]]:
    """Keeps each layer's attention output [sum(wanted), heads * d] at the packed row's answer positions.

    Taken before the output projection; the list is filled while the block runs the model once.
    """
    taken: list[Tensor] = []
    places = last_rows(feeds, wanted)

    def keep(_module: Any, inputs: tuple[Tensor, ...]) -> None:
        taken.append(inputs[0][0, places].float())

    layers = getattr(body(model), "layers", [])
    hooks = [layer.self_attn.o_proj.register_forward_pre_hook(keep) for layer in layers]
    try:
        yield taken
    finally:
        for hook in hooks:
            hook.remove()


class AttentionCosine:
    """Mean cosine of attention outputs, native run against transferred run, by layer.

    Both runs are those the answer is scored in, so that a layer's output also carries what earlier
    layers already moved.
    """

    def __init__(self) -> None:
        self._sum: Tensor | None = None
        self._rows = 0

    def add(self, native: list[Tensor], mapped: list[Tensor]) -> None:
        """One batch, both as `recording` gave them."""
        if not native:
            return
        cosines = [torch.cosine_similarity(a, b, dim=-1) for a, b in zip(native, mapped, strict=True)]
        batch = torch.stack([c.double().sum() for c in cosines]).cpu()
        self._sum = batch if self._sum is None else self._sum + batch
        self._rows += native[0].shape[0]

    def by_layer(self) -> list[float]:
        """The mean by layer; empty where the model's layers could not be recorded."""
        return [] if self._sum is None else [float(x) for x in self._sum / max(1, self._rows)]
