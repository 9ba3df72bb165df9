"""Attention-output cosine: the diagnostic that goes with retention."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor


class AttentionCosine:
    """Mean cosine of the attention layers' outputs, native run against transferred run.

    Both runs are those the answer is scored in, so that a layer's output also carries what earlier
    layers already moved. Taken before the output projection, over all heads of a layer at once.
    """

    def __init__(self) -> None:
        self._taken: dict[str, list[Tensor]] = {}
        self._sum: Tensor | None = None
        self._rows = 0

    @contextmanager
    def recording(self, model: Any, name: str, feeds: list[list[int]], wanted: list[int]) -> Iterator[None]:
        """Keeps every layer's output [sum(wanted), heads * d] at the answer positions of the batch."""
        taken = self._taken[name] = []

        def keep(_module: Any, inputs: tuple[Tensor, ...]) -> None:
            out = inputs[0]
            rows = [out[i, len(f) - n : len(f)] for i, (f, n) in enumerate(zip(feeds, wanted, strict=True))]
            taken.append(torch.cat(rows).float())

        layers = getattr(getattr(model, model.base_model_prefix), "layers", [])
        hooks = [layer.self_attn.o_proj.register_forward_pre_hook(keep) for layer in layers]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def compare(self) -> None:
        """Adds the batch just recorded as "native" and as "mapped"."""
        native, mapped = self._taken.pop("native"), self._taken.pop("mapped")
        sums = [
            torch.cosine_similarity(a, b, dim=-1).double().sum() for a, b in zip(native, mapped, strict=True)
        ]
        if not sums:
            return
        batch = torch.stack(sums).cpu()
        self._sum = batch if self._sum is None else self._sum + batch
        self._rows += native[0].shape[0]

    def by_layer(self) -> list[float]:
        """The mean by layer; empty where the model's layers could not be recorded."""
        return [] if self._sum is None else [float(x) for x in self._sum / max(1, self._rows)]
