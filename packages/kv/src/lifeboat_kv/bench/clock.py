"""Timing that survives a shared machine: every repeat stands beside a reference product of its own."""

from __future__ import annotations

import contextlib
import ctypes
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch

from ..host.precision import exact_float32
from .shapes import GEMM_SIDE, gemm_flops

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
MIB = 1 << 20
_FIRST_PRODUCTS = 5


@dataclass
class Times:
    """Seconds of the repeats of one piece of work, and of the reference product before each.

    `busy` are the processor's own seconds, all threads together: what other programs take is not in them.
    """

    seconds: list[float] = field(default_factory=list)
    reference: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """First and third quartile, inclusive."""
        if len(self.seconds) == 1:
            return self.seconds[0], self.seconds[0]
        low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return low, high

    def beside(self, flops: float, reference_flops: float) -> float:
        """Median over the repeats of the share of the rate that the product just before had."""
        pairs = zip(self.seconds, self.reference, strict=True)
        return statistics.median((flops / s) / (reference_flops / r) for s, r in pairs)


class Clock:
    """Times work on one device, between products whose best is the machine's rate."""

    def __init__(self, device: torch.device, side: int = GEMM_SIDE) -> None:
        self.device = device
        self.flops = gemm_flops(side)
        self.products: list[float] = []
        self.busy_products: list[float] = []
        self._a, self._b = (torch.randn(side, side, device=device) for _ in range(2))
        self._out = torch.empty(side, side, device=device)
        for _ in range(_FIRST_PRODUCTS + 1):
            self.product()
        # The first also paid for pages and for threads.
        del self.products[0], self.busy_products[0]

    @property
    def rate(self) -> float:
        """float32 operations a second: the best product of the whole run so far."""
        return self.flops / min(self.products)

    @property
    def busy_rate(self) -> float:
        """float32 operations per second of processor time, by the best product so far."""
        return self.flops / min(self.busy_products)

    def product(self) -> float:
        """Seconds of one reference product."""
        with exact_float32():
            seconds, busy = self.seconds(lambda: torch.mm(self._a, self._b, out=self._out))
        self.products.append(seconds)
        self.busy_products.append(busy)
        return seconds

    def seconds(self, work: Callable[[], object]) -> tuple[float, float]:
        """(Seconds, processor seconds) of one run, the device's queue emptied before and after."""
        self._settle()
        began, busy = time.perf_counter(), time.process_time()
        work()
        self._settle()
        return time.perf_counter() - began, time.process_time() - busy

    def times(self, work: Callable[[], object], repeats: int) -> Times:
        """`repeats` runs after a warm-up, each behind a reference product."""
        work()
        found = Times()
        for _ in range(repeats):
            found.reference.append(self.product())
            seconds, busy = self.seconds(work)
            found.seconds.append(seconds)
            found.busy.append(busy)
        return found

    def peak(self, work: Callable[[], object]) -> int | None:
        """Most bytes that a run holds beyond what is held before it; None where it cannot be told."""
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)
            before = torch.cuda.memory_allocated(self.device)
            work()
            return torch.cuda.max_memory_allocated(self.device) - before
        _give_back()
        before = _status("VmRSS")
        if before is None:
            return None
        try:
            _RESET.write_text("5")
        except OSError:
            return None
        work()
        return max(0, (_status("VmHWM") or 0) - before)

    def _settle(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def _give_back() -> None:
    """Returns freed memory to the system, where the C library can; else a run would live off it unseen."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def available_bytes(device: torch.device) -> int | None:
    """Memory that could be taken now; None where it cannot be told."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.split() for line in lines if line.startswith("MemAvailable:")]
    return int(found[0][1]) * 1024 if found else None


def _status(name: str) -> int | None:
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    found = [line.split() for line in lines if line.startswith(name + ":")]
    return int(found[0][1]) * 1024 if found else None
