"""Ridge regression and held-out R2 from second moments alone.

With centred scatters A = X'X and B = X'Y: W = (A + lambda * mean(diag A) * I)^-1 B, and the bias
carries the means over. Float64 throughout (Golub and Van Loan, Matrix Computations, 4.2 and 6.1).
All of it works on a stack of systems as well: leading dimensions are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..errors import NumericsError
from ..moments.second_moments import Moments

LAMBDAS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
_TINY = torch.finfo(torch.float64).tiny


@dataclass(frozen=True)
class Block:
    """The moments of some feature columns X against some target columns Y, [..., dx] and [..., dy]."""

    n: float
    mean_x: Tensor
    mean_y: Tensor
    xx: Tensor
    xy: Tensor
    yy: Tensor  # diagonal of Y'Y

    @classmethod
    def of(cls, moments: Moments, x: Tensor, y: Tensor) -> Block:
        """Columns `x` [..., dx] and `y` [..., dy] (int64 indices) of joint moments."""
        scatter = moments.scatter
        x, y = x.to(scatter.device), y.to(scatter.device)
        return cls(
            moments.n,
            moments.mean[x],
            moments.mean[y],
            scatter[x[..., :, None], x[..., None, :]],
            scatter[x[..., :, None], y[..., None, :]],
            moments.diagonal[y],
        )


def solve(block: Block, relative_lambda: float) -> Tensor:
    """Weights [..., dx, dy] float64. The diagonal is equilibrated first; Cholesky, else eigendecomposition.

    Errors: NumericsError NON_FINITE_STATISTICS.
    """
    if not (torch.isfinite(block.xx).all() and torch.isfinite(block.xy).all()):
        raise NumericsError("NON_FINITE_STATISTICS", "the second moments are not finite")
    loaded = block.xx.clone()
    diagonal = loaded.diagonal(dim1=-2, dim2=-1)
    diagonal += relative_lambda * diagonal.mean(dim=-1, keepdim=True).clamp(min=_TINY)
    scale = diagonal.clamp(min=_TINY).rsqrt()
    balanced = loaded.mul_(scale[..., :, None]).mul_(scale[..., None, :])
    right = scale[..., :, None] * block.xy
    factor, info = torch.linalg.cholesky_ex(balanced)
    solved = int(info.max()) == 0
    weights = torch.cholesky_solve(right, factor) if solved else _least_norm(balanced, right)
    weights = weights * scale[..., :, None]
    if not torch.isfinite(weights).all():
        raise NumericsError("NON_FINITE_STATISTICS", "the ridge system has no finite solution")
    return weights


def bias(block: Block, weights: Tensor) -> Tensor:
    """The bias [..., dy] that makes the fitted map exact at the fitted means."""
    return block.mean_y - (block.mean_x[..., None, :] @ weights)[..., 0, :]


def held_out_errors(fit: Block, held_out: Block, weights: Tensor) -> Tensor:
    """Sum of squared errors [..., dy] of the map fitted on `fit`, on the rows behind `held_out`."""
    drift = (held_out.mean_y - fit.mean_y) - ((held_out.mean_x - fit.mean_x)[..., None, :] @ weights)[
        ..., 0, :
    ]
    cross = (weights * held_out.xy).sum(dim=-2)
    square = (weights * (held_out.xx @ weights)).sum(dim=-2)
    return held_out.yy - 2 * cross + square + held_out.n * drift.square()


def held_out_r2(fit: Block, held_out: Block, weights: Tensor) -> float:
    """1 - SSE / SST of the map fitted on `fit`, on the rows behind `held_out`, all columns pooled."""
    total = float(held_out.yy.sum())
    return 1 - float(held_out_errors(fit, held_out, weights).sum()) / total if total > 0 else 0.0


def _least_norm(balanced: Tensor, right: Tensor) -> Tensor:
    """The solution of least norm by eigendecomposition, for systems that are not positive definite."""
    values, vectors = torch.linalg.eigh(balanced)
    eps = torch.finfo(torch.float64).eps * values.shape[-1]
    keep = values > values.amax(dim=-1, keepdim=True) * eps
    inverse = torch.where(keep, 1.0 / torch.where(keep, values, torch.ones_like(values)), 0.0)
    return vectors @ (inverse[..., :, None] * (vectors.mT @ right))
