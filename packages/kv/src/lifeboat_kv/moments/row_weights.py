"""How much each row of a fit counts."""

from __future__ import annotations

import torch
from torch import Tensor

from ..methods import ATTENTION, FIRST, FIRST_POSITIONS, FIRST_WEIGHT, PLAIN


def row_weights(
    weighting: str,
    rows: tuple[Tensor, Tensor],
    lengths: list[int],
    exact: list[int],
    paid: Tensor | None,
) -> Tensor | None:
    """Weights [N] float32 of the rows (batch index, position); None for all alike.

    `exact` first rows of each text are never asked of the map. `paid` [B, T] is the attention paid to
    each row, for ATTENTION. Errors: ValueError for an unknown weighting.
    """
    _, position = rows
    if weighting == PLAIN:
        return None
    if weighting == FIRST:
        return torch.where(position < FIRST_POSITIONS, FIRST_WEIGHT, 1.0)
    if weighting == ATTENTION:
        return attention_weights(rows, lengths, exact, paid)
    raise ValueError(f"{weighting!r} is no weighting of rows")


def attention_weights(
    rows: tuple[Tensor, Tensor], lengths: list[int], exact: list[int], paid: Tensor | None
) -> Tensor:
    """Each row's share of the attention paid, a mean of 1 in each text, nothing for exact rows."""
    if paid is None:
        raise ValueError("the attention paid to the rows was not taken")
    batch, position = rows
    wanted = position >= torch.tensor(exact)[batch]
    share = paid.cpu()[batch, position].double() * wanted
    sums = torch.zeros(len(lengths), dtype=torch.float64).index_add_(0, batch, share)
    counts = torch.zeros(len(lengths), dtype=torch.float64).index_add_(0, batch, wanted.double())
    return (share * (counts / sums.clamp(min=1e-30))[batch]).float()
