"""Ridge regression and held-out R2 from second moments alone.

With centred scatters A = X'X and B = X'Y: W = (A + lambda * mean(diag A) * I)^-1 B, and the bias
carries the means over. Float64 throughout (Golub and Van Loan, Matrix Computations, 4.2 and 6.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .errors import NumericsError
from .moments import Moments

LAMBDAS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


@dataclass(frozen=True)
class Block:
    """The moments of some feature columns X against some target columns Y."""

    n: float
    mean_x: Tensor
    mean_y: Tensor
    xx: Tensor
    xy: Tensor
    yy: Tensor  # diagonal of Y'Y

    @classmethod
    def of(cls, moments: Moments, x: Tensor, y: Tensor) -> Block:
        """Columns `x` and `y` (int64 indices) of joint moments."""
        scatter = moments.scatter
        return cls(
            moments.n,
            moments.mean[x],
            moments.mean[y],
            scatter[x[:, None], x[None, :]],
            scatter[x[:, None], y[None, :]],
            scatter.diagonal()[y],
        )


def solve(block: Block, relative_lambda: float) -> Tensor:
    """Weights [dx, dy] float64. The diagonal is equilibrated first; Cholesky, else eigendecomposition.

    Errors: NumericsError NON_FINITE_STATISTICS.
    """
    if not (torch.isfinite(block.xx).all() and torch.isfinite(block.xy).all()):
        raise NumericsError("NON_FINITE_STATISTICS", "the second moments are not finite")
    diagonal = block.xx.diagonal()
    loaded = block.xx.clone()
    loaded.diagonal().add_(relative_lambda * diagonal.mean().clamp(min=torch.finfo(torch.float64).tiny))
    scale = loaded.diagonal().clamp(min=torch.finfo(torch.float64).tiny).rsqrt()
    balanced = scale[:, None] * loaded * scale[None, :]
    right = scale[:, None] * block.xy
    factor, info = torch.linalg.cholesky_ex(balanced)
    if int(info) == 0:
        weights = torch.cholesky_solve(right, factor)
    else:
        values, vectors = torch.linalg.eigh(balanced)
        keep = values > values.max() * torch.finfo(torch.float64).eps * len(values)
        inverse = torch.where(keep, 1.0 / torch.where(keep, values, torch.ones_like(values)), 0.0)
        weights = vectors @ (inverse[:, None] * (vectors.T @ right))
    weights = scale[:, None] * weights
    if not torch.isfinite(weights).all():
        raise NumericsError("NON_FINITE_STATISTICS", "the ridge system has no finite solution")
    return weights


def bias(block: Block, weights: Tensor) -> Tensor:
    """The bias [dy] that makes the fitted map exact at the fitted means."""
    return block.mean_y - block.mean_x @ weights


def held_out_r2(fit: Block, held_out: Block, weights: Tensor) -> float:
    """1 - SSE / SST of the map fitted on `fit`, on the rows behind `held_out`, all columns pooled."""
    drift = (held_out.mean_y - fit.mean_y) - (held_out.mean_x - fit.mean_x) @ weights
    sse = held_out.yy.sum() - 2 * (weights * held_out.xy).sum() + (weights * (held_out.xx @ weights)).sum()
    sse = sse + held_out.n * drift.square().sum()
    total = held_out.yy.sum()
    return float(1 - sse / total) if total > 0 else 0.0
