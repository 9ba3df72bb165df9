"""Facts about the machine that stand beside every measured number."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass

import torch

from .precision import exact_float32

_SIZE, _TIMES = 4096, 5


@dataclass(frozen=True)
class Machine:
    """`gemm` is the float32 rate of this run in FLOP/s: 4096 cubed, all threads, best of five."""

    processor: str
    cores: int
    threads: int
    gemm: float

    def __str__(self) -> str:
        return (
            f"{self.processor}, {self.cores} cores, {self.threads} threads, "
            f"float32 GEMM {self.gemm / 1e9:.0f} GFLOP/s (4,096 cubed, best of five, same run)"
        )


def this_machine(device: torch.device | str = "cpu") -> Machine:
    """Measures for about five seconds on a CPU."""
    on_gpu = torch.device(device).type != "cpu"
    name = torch.cuda.get_device_name(torch.device(device)) if on_gpu else _processor()
    return Machine(name, os.cpu_count() or 1, torch.get_num_threads(), gemm_rate(device))


def gemm_rate(device: torch.device | str = "cpu", size: int = _SIZE, times: int = _TIMES) -> float:
    """Float32 multiply-add rate of a square product in FLOP/s, best of `times` after a warm-up."""
    a, b = (torch.randn(size, size, device=device) for _ in range(2))
    out = torch.empty(size, size, device=device)
    best = float("inf")
    with exact_float32():
        for _ in range(times + 1):
            began = _now(device)
            torch.mm(a, b, out=out)
            best = min(best, _now(device) - began)
    return 2 * size**3 / best


def _now(device: torch.device | str) -> float:
    if torch.device(device).type != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter()


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
