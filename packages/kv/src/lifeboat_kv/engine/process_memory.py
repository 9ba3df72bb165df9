"""What this process holds in main memory, as the system counts it."""

from __future__ import annotations

import ctypes
import resource
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class ResidentMemory:
    """Bytes in memory now. `files` of them are pages of files, of shared libraries most of all."""

    total: int
    files: int


def resident_memory() -> ResidentMemory | None:
    """This process's resident memory, None where the system does not say."""
    try:
        lines = dict(line.split(":", 1) for line in _STATUS.read_text(encoding="ascii").splitlines())
        total, files = (int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "RssFile"))
    except (OSError, ValueError, KeyError, IndexError):
        return None
    return ResidentMemory(total, files)


def resident_bytes() -> int | None:
    """Bytes of this process in memory now, None where the system does not say."""
    found = resident_memory()
    return None if found is None else found.total


def peak_bytes() -> int:
    """The most that this process ever had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def touched_bytes(tensor: Tensor) -> int | None:
    """Bytes of a contiguous CPU tensor that lie in memory, by pages; None where the system does not say.

    Whole pages count, so that a tensor which shares its first or last page comes out a little larger.
    """
    page = resource.getpagesize()
    start = tensor.data_ptr() // page * page
    pages = -(-(tensor.data_ptr() + tensor.nbytes - start) // page)
    seen = torch.zeros(pages, dtype=torch.uint8)
    library = _library()
    if library is None or library.mincore(start, pages * page, seen.data_ptr()) != 0:
        return None
    return int(seen.bitwise_and_(1).sum()) * page


@cache
def _library() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "mincore"):
        return None
    library.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    return library
