"""What memory there is beside the two models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ..errors import ResourceError
from .free_memory import free_host_bytes
from .precision import dtype_for

# For the program itself, the corpus and what a forward pass needs beside its cache.
_RESERVE = 512 << 20


def free_bytes(device: torch.device | str) -> int | None:
    """Free memory of `device`: a GPU's own, or the host's within its control group; None where unknown."""
    if torch.device(device).type != "cpu":
        return int(torch.cuda.mem_get_info(torch.device(device))[0])
    return free_host_bytes()


def memory_budget(source: Mapping[str, Any], target: Mapping[str, Any], device: str) -> int | None:
    """Bytes left for a fit once both models are loaded on `device`; None where nobody can tell.

    Errors: ResourceError MEMORY_SHORT where the models alone do not fit.
    """
    free = free_bytes(device)
    if free is None:
        return None
    size = torch.finfo(dtype_for(device)).bits // 8
    models = size * sum(int(facts["parameters"] or 0) for facts in (source, target))
    left = free - models - _RESERVE
    if left <= 0:
        raise ResourceError(
            "MEMORY_SHORT",
            f"the two models need about {(models + _RESERVE) >> 20} MiB and {free >> 20} MiB are free: "
            "free some, or use a host with more memory",
        )
    return left
