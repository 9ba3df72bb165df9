"""The C library's allocator on a CPU: freed memory is kept for the next tensor."""

from __future__ import annotations

import ctypes
import sys

# glibc's mallopt keys, and the largest threshold it takes.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGEST_FROM_HEAP = 32 << 20
_KEPT = 256 << 20


def keep_freed_memory() -> bool:
    """Tells glibc to serve tensors up to 32 MiB from memory it keeps; False where there is no glibc.

    By default it asks the kernel for each larger tensor and gives it back at once: the pages of every
    intermediate result are then faulted in and cleared anew, a fifth of a forward pass on a CPU.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST_FROM_HEAP)) and bool(mallopt(_TRIM_THRESHOLD, _KEPT))
