"""All of `npm run bench:kv`: what is measured, in which order, within about which time."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import torch

from .calibration import measure_calibration
from .clock import Clock
from .kernels import Point, left_out, measure_map, measure_moments
from .prefill import measure_prefill
from .shapes import LARGE, LENGTHS, QWEN3_1_7B, SMALL, share

Say = Callable[[str], None]

_QUICK_LENGTHS = (64, 512, 2048)


@dataclass(frozen=True)
class Budget:
    """How much is measured: one run of one map takes `seconds` at most on a CPU, and once `limit` seconds
    are over no further map is begun."""

    repeats: int
    seconds: float
    limit: float
    lengths: tuple[int, ...]
    prefill_tokens: int
    moment_rows: int
    moment_widths: tuple[int, ...]

    @classmethod
    def of(cls, *, quick: bool, limit: float | None = None) -> Budget:
        """The default takes about four minutes on two cores, the quick one about one."""
        if quick:
            return cls(3, 0.5, limit or 120, _QUICK_LENGTHS, 1024, 4096, (1024, 2048))
        return cls(5, 0.8, limit or 360, LENGTHS, 8192, 8192, (2048, 4096))


def bench(device: torch.device, budget: Budget, say: Say = lambda line: None) -> dict[str, Any]:
    """Measures everything; JSON-ready. Every time stands beside the machine's rate in the same run."""
    began = time.perf_counter()
    gpu = device.type == "cuda"
    dtype = torch.bfloat16 if gpu else torch.float32
    say("the machine's product of 4096 x 4096 matrices")
    clock = Clock(device)
    moments = []
    for width in budget.moment_widths:
        for weighted in (False, True):
            say(f"moments of {width} columns")
            moments.append(
                measure_moments(clock, width, 0, budget.moment_rows, budget.repeats, weighted=weighted)
            )
    say("moments of two blocks of columns")
    half = budget.moment_widths[-1] // 2
    moments.append(measure_moments(clock, half, 2 * half, budget.moment_rows, budget.repeats, weighted=False))
    say(f"one layer of the 1.7B's prefill, {budget.prefill_tokens} tokens")
    prefill = asdict(measure_prefill(clock, QWEN3_1_7B, budget.prefill_tokens, 2, dtype))
    maps: dict[str, list[Point]] = {shape.name: [] for shape in (SMALL, LARGE)}
    # Short ones first: where time runs out, every form has been measured at some length.
    for tokens in budget.lengths:
        for shape in (SMALL, LARGE):
            for head_local in (False, True):
                form = "head-local" if head_local else "full-head"
                say(f"{shape.name}, {form}, {tokens} tokens")
                if time.perf_counter() - began > budget.limit:
                    point = left_out(form, tokens, f"{budget.limit:g} s were over")
                else:
                    point = measure_map(
                        clock,
                        shape,
                        tokens,
                        budget.repeats,
                        budget.seconds,
                        head_local=head_local,
                        dtype=dtype,
                    )
                maps[shape.name].append(point)
    for form in ("full-head", "head-local"):
        at = _longest(maps[SMALL.name], form, budget.prefill_tokens)
        prefill[form] = at and _whole(at) * budget.prefill_tokens / at.tokens
        prefill[f"{form} measured at"] = at and at.tokens
    calibration = None
    if gpu:
        say("the parts of a calibration")
        calibration = measure_calibration(clock)
    return {
        "machine": _machine(device, clock),
        "seconds": round(time.perf_counter() - began, 1),
        "moments": [_final(p, clock).row() for p in moments],
        "maps": {
            name: [_final(p, clock).row() for p in sorted(points, key=lambda p: p.what)]
            for name, points in maps.items()
        },
        "prefill": prefill,
        "calibration": calibration,
    }


def _final(point: Point, clock: Clock) -> Point:
    """The share of the rate as the whole run has found it."""
    if point.left_out:
        return point
    busy = None if point.busy_ms is None else share(point.flops, point.busy_ms / 1e3, clock.busy_rate)
    return replace(point, share=share(point.flops, point.best_ms / 1e3, clock.rate), busy=busy)


def _whole(point: Point) -> float:
    """Milliseconds of all layers: of processor time on a CPU, as the prefill's are."""
    if point.busy_ms is None:
        return point.whole_ms
    return point.busy_ms * point.of_layers / point.layers


def _longest(points: list[Point], form: str, tokens: int) -> Point | None:
    fit = [p for p in points if p.what == form and p.tokens <= tokens and not p.left_out]
    return max(fit, key=lambda p: p.tokens, default=None)


def _machine(device: torch.device, clock: Clock) -> dict[str, Any]:
    """What the numbers hold for."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "device": device.type,
        "name": name or platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "rate_gflops": clock.rate / 1e9,
        "products": len(clock.products),
        "load": os.getloadavg()[0],
        "median_gflops": clock.flops / sorted(clock.products)[len(clock.products) // 2] / 1e9,
    }
