"""What memory there is beside the two models."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ..errors import ResourceError
from .precision import dtype_for

# For the program itself, the corpus and what a forward pass needs beside its cache.
_RESERVE = 512 << 20
_CGROUP = Path("/sys/fs/cgroup")


def free_bytes(device: torch.device | str) -> int | None:
    """Free memory of `device`: a GPU's own, or the host's within its control group; None where unknown."""
    if torch.device(device).type != "cpu":
        return int(torch.cuda.mem_get_info(torch.device(device))[0])
    found = [free for free in (_host_bytes(), _group_bytes(), _process_bytes()) if free is not None]
    return min(found, default=None)


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


def _host_bytes() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(x.split()[1]) * 1024 for x in lines if x.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _process_bytes() -> int | None:
    """What the process's own limit on its address space still allows (ulimit -v); None without one."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return limit
    return max(0, limit - pages * resource.getpagesize())


def _group_bytes() -> int | None:
    """What the control group still allows; cached files that nobody uses can be given back at once."""
    try:
        limit, used = (int((_CGROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        stat = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
        return max(0, limit - used + int(stat.get("inactive_file", 0)))
    except (OSError, ValueError):
        return None
