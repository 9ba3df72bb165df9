"""Float32 products as float32: no TF32, no bf16 passes, whatever the host set for its other work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_EXACT = "ieee"


@contextmanager
def exact_float32() -> Iterator[None]:
    """Within it float32 matrix products round as float32, on GPUs (cuBLAS) and CPUs (oneDNN) alike."""
    backends = (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul)
    before = [b.fp32_precision for b in backends]
    for backend in backends:
        backend.fp32_precision = _EXACT
    try:
        yield
    finally:
        for backend, precision in zip(backends, before, strict=True):
            backend.fp32_precision = precision


def dtype_for(device: torch.device | str) -> torch.dtype:
    """float32 on a CPU, bfloat16 on a GPU; float16 is never used."""
    return torch.float32 if torch.device(device).type == "cpu" else torch.bfloat16
