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


def renormalise(k: Tensor, gamma: Tensor) -> Tensor:
    """k <- k / RMS(k / gamma) over the last dimension: what a post-k_norm content key satisfies.

    `gamma` [d] broadcasts from the right. Dimensions whose gamma is zero hold nothing and are left
    out of the mean. A zero key stays zero.
    """
    return end_keys(k.clone(), torch.empty_like(k), gamma, RENORM, DEFAULT_EPS)


def k_norm(k: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """k <- gamma * k / sqrt(mean(k^2) + eps) over the last dimension, as Qwen3's own k_norm does."""
    return end_keys(k.clone(), torch.empty_like(k), gamma, K_NORM, eps)


def end_keys(k: Tensor, room: Tensor, gamma: Tensor, ending: str, eps: float) -> Tensor:
    """Ends keys k [..., d] in place and returns them; `room` has their shape and dtype and is overwritten."""
    if ending == K_NORM:
        mean = torch.mul(k, k, out=room).mean(dim=-1, keepdim=True)
        return k.mul_(torch.rsqrt(mean + eps)).mul_(gamma)
    alive = gamma.abs() > _ALIVE
    share = alive.sum().clamp(min=1).to(k.dtype)
    inverse = torch.where(alive, gamma.reciprocal(), 0.0) * share.rsqrt()
    rms = torch.linalg.vector_norm(torch.mul(k, inverse, out=room), dim=-1, keepdim=True)
    return k.div_(rms.clamp(min=torch.finfo(k.dtype).tiny))
