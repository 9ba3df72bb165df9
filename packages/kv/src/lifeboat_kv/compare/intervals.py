"""Retention and paired differences over sequences, by bootstrap, as the gate's own interval is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..score.tally import BUCKETS

RESAMPLES = 2000
_SEED = 0
_NAMES = tuple(name for name, *_ in BUCKETS)


@dataclass(frozen=True)
class Interval:
    """A value with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


def counts_table(rows: Sequence[dict[str, Any]]) -> Tensor:
    """[sequences, buckets, 2] float64 of (agree, total) from per-sequence counts."""
    return torch.tensor(
        [[[row[name]["agree"], row[name]["total"]] for name in _NAMES] for row in rows], dtype=torch.float64
    )


def shares(table: Tensor) -> Tensor:
    """Agreement by bucket [..., buckets] of counts [..., sequences, buckets, 2], all sequences pooled."""
    pooled = table.sum(dim=-3)
    return pooled[..., 0] / pooled[..., 1]


def retention(table: Tensor) -> Interval:
    """Mean of the buckets' shares, resampled over sequences."""
    drawn = _resamples(table)
    return _interval(shares(table).mean(), shares(drawn).mean(dim=-1))


def difference(table: Tensor, other: Tensor) -> Interval:
    """Retention of `table` less that of `other`, the same sequences drawn for both.

    Errors: ValueError where they are not of the same number of sequences.
    """
    if table.shape != other.shape:
        raise ValueError("a paired difference needs the same sequences on both sides")
    value = shares(table).mean() - shares(other).mean()
    drawn = shares(_resamples(table)).mean(dim=-1) - shares(_resamples(other)).mean(dim=-1)
    return _interval(value, drawn)


def _resamples(table: Tensor) -> Tensor:
    """[RESAMPLES, 1, buckets, 2]: counts of each resample, its sequences already added up."""
    count = len(table)
    drawn = torch.randint(count, (RESAMPLES, count), generator=torch.Generator().manual_seed(_SEED))
    times = torch.zeros(RESAMPLES, count, dtype=torch.float64)
    times.scatter_add_(1, drawn, torch.ones_like(drawn, dtype=torch.float64))
    return torch.einsum("rs,sbc->rbc", times, table)[:, None]


def _interval(value: Tensor, drawn: Tensor) -> Interval:
    low, high = torch.quantile(drawn, torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    return Interval(float(value), low, high)
