"""KV cosine: how well mapped rows point where native ones do, by layer and head."""

from __future__ import annotations

import torch
from torch import Tensor

from ..models.cache import LayerKV
from .arms import Group


class CosineSums:
    """Running means of cos(mapped, native) for keys and values; rotation does not change a cosine."""

    def __init__(self) -> None:
        self._sums: list[Tensor] = []
        self._rows = 0

    def add(self, group: Group, mapped: list[LayerKV], rows: Tensor) -> None:
        """`mapped` and the group's target caches, rotated alike; `rows` [B, T] bool are the mapped rows."""
        sums = []
        for (k, v), (native_k, native_v) in zip(mapped, group.target, strict=True):
            both = []
            for ours, theirs in ((k, native_k), (v, native_v)):
                cos = torch.cosine_similarity(ours.float(), theirs.float(), dim=-1)  # [B, heads, T]
                both.append((cos * rows[:, None]).sum(dim=(0, 2)).double())
            sums.append(torch.stack(both))
        self._sums = [a + b for a, b in zip(self._sums, sums, strict=True)] if self._sums else sums
        self._rows += int(rows.sum())

    def result(self) -> dict[str, object]:
        """{k, v, k_by_layer_head, v_by_layer_head} as plain numbers."""
        table = torch.stack(self._sums) / max(1, self._rows)  # [layers, 2, heads]
        return {
            "k": float(table[:, 0].mean()),
            "v": float(table[:, 1].mean()),
            "k_by_layer_head": [[round(x, 6) for x in row] for row in table[:, 0].tolist()],
            "v_by_layer_head": [[round(x, 6) for x in row] for row in table[:, 1].tolist()],
        }
