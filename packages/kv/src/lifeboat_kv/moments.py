"""Centred second moments in one pass: everything ridge, layer choice and held-out R2 need.

Chunks are centred on their own mean and multiplied in float32, then merged in float64 with the
pairwise update of Chan, Golub and LeVeque (1983), so that no large mean is ever squared.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .errors import NumericsError


@dataclass
class Moments:
    """Weight sum n, mean [D] and centred scatter [D, D] of joint rows (source features, target rows)."""

    n: float
    mean: Tensor
    scatter: Tensor

    @classmethod
    def empty(cls, width: int, device: torch.device | str = "cpu") -> Moments:
        """No rows of `width` columns yet; float64."""
        return cls(
            0.0,
            torch.zeros(width, dtype=torch.float64, device=device),
            torch.zeros(width, width, dtype=torch.float64, device=device),
        )

    def add(self, rows: Tensor, weights: Tensor | None = None) -> None:
        """Takes in rows [N, D] float32, weighted by `weights` [N] (all one by default).

        Errors: NumericsError NON_FINITE_STATISTICS, before anything is changed.
        """
        if rows.shape[0] == 0:
            return
        w = None if weights is None else weights.to(rows)[:, None]
        n = float(rows.shape[0]) if w is None else float(w.sum(dtype=torch.float64))
        centre = ((rows if w is None else rows * w).sum(dim=0, dtype=torch.float64) / n).to(rows.dtype)
        centred = rows - centre
        weighted = centred if w is None else centred * w
        # The float32 centre is near the mean, not on it; what is left over, r, is measured and removed:
        # the mean is centre + r, and the scatter about it sum w c c' - n r r'.
        residue = weighted.sum(dim=0, dtype=torch.float64) / n
        mean = centre.double() + residue
        scatter = (centred.T @ weighted).double() - n * torch.outer(residue, residue)
        if not (torch.isfinite(mean).all() and torch.isfinite(scatter).all()):
            raise NumericsError("NON_FINITE_STATISTICS", "a model gave keys or values that are not finite")
        self._merge(n, mean, scatter)

    def merge(self, other: Moments, scale: float = 1.0) -> None:
        """Takes in all rows of `other`, each with its weight times `scale`."""
        if other.n > 0 and scale != 0:
            self._merge(other.n * scale, other.mean, other.scatter * scale)

    def copy(self) -> Moments:
        """An independent copy."""
        return Moments(self.n, self.mean.clone(), self.scatter.clone())

    def _merge(self, n: float, mean: Tensor, scatter: Tensor) -> None:
        total = self.n + n
        delta = mean - self.mean
        self.scatter += scatter
        self.scatter += torch.outer(delta, delta) * (self.n * n / total)
        self.mean += delta * (n / total)
        self.n = total
