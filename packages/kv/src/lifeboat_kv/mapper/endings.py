"""How mapped keys end on a target that normalises its keys per head (Qwen3's k_norm, weight gamma)."""

from __future__ import annotations

import torch
from torch import Tensor

# Qwen3's own, for facts that do not state it.
DEFAULT_EPS = 1e-6

# By what the map was fitted onto: post-norm keys are put back to their length, pre-norm ones are normed.
RENORM = "renorm"
K_NORM = "k_norm"

_ALIVE = 1e-12


class Ending:
    """What a layer does to its mapped keys, ready to be done to many chunks."""

    def __init__(self, gamma: Tensor, kind: str, eps: float) -> None:
        """`gamma` [d] in the dtype it is computed in; `kind` is RENORM or K_NORM, `eps` the latter's."""
        self._gamma, self._kind, self._eps = gamma, kind, eps
        alive = gamma.abs() > _ALIVE
        share = alive.sum().clamp(min=1).to(gamma.dtype)
        self._inverse = torch.where(alive, gamma.reciprocal(), 0.0) * share.rsqrt()

    def apply(self, k: Tensor, room: Tensor) -> Tensor:
        """Ends keys k [..., d] in place and returns them; `room`, like them, is overwritten."""
        if self._kind == K_NORM:
            mean = torch.mul(k, k, out=room).mean(dim=-1, keepdim=True)
            return k.mul_(torch.rsqrt(mean + self._eps)).mul_(self._gamma)
        rms = torch.linalg.vector_norm(torch.mul(k, self._inverse, out=room), dim=-1, keepdim=True)
        return k.div_(rms.clamp_(min=torch.finfo(k.dtype).tiny))


def renormalise(k: Tensor, gamma: Tensor) -> Tensor:
    """k <- k / RMS(k / gamma) over the last dimension: what a post-k_norm content key satisfies.

    `gamma` [d] broadcasts from the right. Dimensions whose gamma is zero hold nothing and are left
    out of the mean. A zero key stays zero.
    """
    return Ending(gamma, RENORM, DEFAULT_EPS).apply(k.clone(), torch.empty_like(k))


def k_norm(k: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """k <- gamma * k / sqrt(mean(k^2) + eps) over the last dimension, as Qwen3's own k_norm does."""
    return Ending(gamma, K_NORM, eps).apply(k.clone(), torch.empty_like(k))
