"""The one pass over fit and select: joint moments of source and target rows, for keys and for values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .capture import batches, content_rows, padded, prefill
from .corpus import Sequence
from .mapper import gather_features
from .methods import FIRST_POSITIONS
from .moments import Moments
from .rope import Rope


@dataclass
class SplitMoments:
    """Moments of one split. `first` holds the rows of the first positions once more, to be weighted."""

    keys: Moments
    values: Moments
    first_keys: Moments
    first_values: Moments

    def weighted(self, first_weight: float) -> tuple[Moments, Moments]:
        """(keys, values) with the rows of the first positions weighted `first_weight`-fold."""
        both = []
        for all_rows, first in ((self.keys, self.first_keys), (self.values, self.first_values)):
            joined = all_rows.copy()
            joined.merge(first, first_weight - 1.0)
            both.append(joined)
        return both[0], both[1]


@dataclass(frozen=True)
class Columns:
    """Where a layer's features stand in the joint rows: all source layers, then all target layers."""

    source_layers: int
    source_width: int
    target_layers: int
    target_width: int

    @property
    def total(self) -> int:
        return self.source_layers * self.source_width + self.target_layers * self.target_width

    def source(self, layer: int) -> Tensor:
        return torch.arange(layer * self.source_width, (layer + 1) * self.source_width)

    def target(self, layer: int) -> Tensor:
        start = self.source_layers * self.source_width + layer * self.target_width
        return torch.arange(start, start + self.target_width)


def columns_of(source: dict[str, Any], target: dict[str, Any]) -> Columns:
    """From two models' facts."""
    return Columns(
        int(source["num_hidden_layers"]),
        int(source["num_key_value_heads"]) * int(source["head_dim"]),
        int(target["num_hidden_layers"]),
        int(target["num_key_value_heads"]) * int(target["head_dim"]),
    )


@dataclass(frozen=True)
class Side:
    """One model with its rotation."""

    model: Any
    rope: Rope


@torch.no_grad()
def accumulate(
    sequences: list[Sequence],
    source: Side,
    target: Side,
    columns: Columns,
    *,
    stride: int,
    generator: torch.Generator,
    batch_tokens: int,
    device: torch.device | str,
    progress: Callable[[int], None],
) -> SplitMoments:
    """Runs both models over `sequences` and adds up every `stride`-th row, with a random offset.

    The first four positions are always taken: a stride would see them once in a while only.
    `progress` is told the tokens done after each batch. Errors: NumericsError.
    """
    split = SplitMoments(*(Moments.empty(columns.total, device) for _ in range(4)))
    done = 0
    for group in batches(sequences, batch_tokens):
        ids = padded(group, device)
        sides = [content_rows(prefill(s.model, ids)[0], s.rope) for s in (source, target)]
        taken, first = _chosen_rows(group, stride, generator)
        for part, moments, heads in (
            (0, split.keys, split.first_keys),
            (1, split.values, split.first_values),
        ):
            features = torch.cat([gather_features(side[part]) for side in sides], dim=-1)
            moments.add(features[taken[0], taken[1]])
            heads.add(features[first[0], first[1]])
        done += sum(len(s.tokens) for s in group)
        progress(done)
    return split


def _chosen_rows(
    group: list[Sequence], stride: int, generator: torch.Generator
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """(batch index, position) of the rows to add, and of the first positions among them."""
    rows, cols = [], []
    for index, sequence in enumerate(group):
        offset = int(torch.randint(stride, (1,), generator=generator))
        positions = torch.arange(len(sequence.tokens))
        keep = (positions < FIRST_POSITIONS) | (positions % stride == offset)
        cols.append(positions[keep])
        rows.append(torch.full((int(keep.sum()),), index))
    row, col = torch.cat(rows), torch.cat(cols)
    early = col < FIRST_POSITIONS
    return (row, col), (row[early], col[early])
