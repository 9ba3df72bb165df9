"""Moments and mapping, measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from ..mapper.form import LayerMap, Mapper
from ..mapper.mapping import Tensors
from ..models.cache import LayerKV
from ..moments.second_moments import BLOCK, BUFFER_ROWS, PANEL, Moments
from ..rotation.rope import Rope
from .clock import Clock, Times, available_bytes
from .shapes import PairShape, map_flops, moments_flops, share

_BATCH = 1024


@dataclass(frozen=True)
class Point:
    """One measured piece of work. Times in ms; `share` is of the best of all products, by the best repeat.

    `beside` is the median share of the product just before each repeat, `busy` the best share by processor
    time (`busy_ms`; only on a CPU). `layers` of `of_layers` target
    layers were run; `whole_ms` is the median multiplied to all of them.
    """

    what: str
    tokens: int
    layers: int
    of_layers: int
    flops: int
    ms: float | None
    low_ms: float | None
    high_ms: float | None
    best_ms: float | None
    repeats: int
    share: float | None
    beside: float | None
    peak_bytes: int | None
    stated_bytes: int
    whole_ms: float | None
    busy_ms: float | None
    busy: float | None
    published_ms: float | None = None
    left_out: str | None = None

    def row(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def left_out(what: str, tokens: int, reason: str) -> Point:
    """A point that was not measured, and why."""
    return Point(what, tokens, 0, 0, 0, *([None] * 4), 0, None, None, None, 0, None, None, None, None, reason)


def measure_moments(
    clock: Clock, leading: int, trailing: int, rows: int, repeats: int, *, weighted: bool
) -> Point:
    """Adds `rows` joint rows in batches and takes them in: copying, weighting, products and sums."""
    width = leading + trailing
    batches = [torch.randn(_BATCH, width, device=clock.device) for _ in range(max(1, min(4, rows // _BATCH)))]
    weights = torch.rand(_BATCH, device=clock.device) * 32 if weighted else None
    held: Moments | None = None

    def work() -> None:
        nonlocal held
        held = held or Moments.empty(width, clock.device, leading=leading)
        for index in range(rows // _BATCH):
            held.add(batches[index % len(batches)], weights)
        held.settle()

    peak = clock.peak(work)
    times = clock.times(work, repeats)
    form = f"{leading} columns" if trailing == 0 else f"{leading} columns, onto {trailing} more"
    what = f"{form}{', weighted' if weighted else ''}"
    flops = moments_flops(rows, leading, trailing)
    stated = 8 * leading * width + 4 * width * (BUFFER_ROWS + BLOCK) + 4 * PANEL * PANEL
    return _point(clock, what, rows, 1, 1, flops, times, peak, stated)


def measure_map(
    clock: Clock,
    shape: PairShape,
    tokens: int,
    repeats: int,
    seconds: float,
    *,
    head_local: bool,
    dtype: torch.dtype,
) -> Point:
    """One transfer of a synthetic cache: un-rotate, map, re-normalise, rotate, into buffers held before.

    Only as many target layers are run as `seconds` and the memory allow.
    """
    form = "head-local" if head_local else "full-head"
    item = torch.empty((), dtype=dtype).element_size()
    one_layer = map_flops(shape, tokens, 1, head_local=False)
    layers = int(max(1, min(shape.target_layers, seconds * clock.rate / one_layer)))
    if clock.device.type == "cuda":
        layers = shape.target_layers
    free = available_bytes(clock.device)
    while free is not None and layers >= 1 and _bytes_needed(shape, tokens, layers, item) > free // 2:
        layers -= 1
    if layers == 0:
        return left_out(form, tokens, "half of the free memory does not hold one layer's part of it")
    job = synthetic(shape, tokens, layers, head_local=head_local, dtype=dtype, device=clock.device)
    peak = clock.peak(job.run)
    times = clock.times(job.run, repeats)
    flops = map_flops(shape, tokens, layers, head_local=head_local)
    stated = job.mapper.working_bytes(tokens)
    published = None if head_local else shape.published.get(tokens, (None, None))[1]
    return _point(clock, form, tokens, layers, shape.target_layers, flops, times, peak, stated, published)


@dataclass(frozen=True)
class Job:
    """A mapper with its synthetic cache."""

    mapper: Mapper
    run: Callable[[], None]


def synthetic(
    shape: PairShape, tokens: int, layers: int, *, head_local: bool, dtype: torch.dtype, device: torch.device
) -> Job:
    """Random maps onto `layers` target layers from `shape`'s middle, and a cache of what they read."""
    chance = torch.Generator(device).manual_seed(0)

    def rand(*size: int) -> Tensor:
        # One block of random numbers repeated: drawing gigabytes would take longer than mapping them.
        block = torch.randn(min(size[0] * size[1], 4096), size[-1], generator=chance, device=device)
        whole = torch.empty(size, dtype=dtype, device=device).view(-1, size[-1])
        for start in range(0, len(whole), len(block)):
            part = whole[start : start + len(block)]
            part.copy_(block[: len(part)])
        return whole.view(size)

    chosen = [shape.sources_of(layer) for layer in _middle(shape, layers)]
    used = sorted({s for one in chosen for s in one})
    heads, d, width = shape.heads, shape.dim, shape.width
    size = (heads, shape.k * d, d) if head_local else (1, shape.k * width, width)
    # Every head reads another one, differently by layer, as an assignment found in the data may.
    choice = (
        tuple(tuple((h + 3) % heads for h in range(heads)) for _ in range(shape.k)) if head_local else None
    )

    def one(sources: tuple[int, ...]) -> LayerMap:
        at = tuple(used.index(s) for s in sources)
        wk, wv = (rand(*size).div_((shape.k * d) ** 0.5) for _ in range(2))
        wk, wv = (wk, wv) if head_local else (wk[0], wv[0])
        bk, bv, gamma = rand(1, width)[0], rand(1, width)[0], torch.ones(d, dtype=dtype, device=device)
        return LayerMap(at, at, wk, bk, wv, bv, gamma, choice, choice)

    facts = {"num_key_value_heads": heads, "head_dim": d}
    source = {**facts, "num_hidden_layers": len(used)}
    mapper = Mapper("random", source, facts, tuple(one(sources) for sources in chosen))
    cache: list[LayerKV] = [(rand(heads, tokens, d), rand(heads, tokens, d)) for _ in used]
    room = [tuple(rand(heads, tokens, d)[None] for _ in range(2)) for _ in range(layers)]
    positions = torch.arange(tokens)
    ropes = [_rope(d, base).at(positions, device) for base in (1e6, 1e6)]
    return Job(mapper, lambda: mapper.transfer_to(Tensors(room), cache, *ropes))


def _rope(dim: int, base: float) -> Rope:
    steps = base ** -(torch.arange(0, dim, 2) / dim)

    def cos_sin(positions: Tensor) -> tuple[Tensor, Tensor]:
        angles = positions[:, None] * steps
        return angles.cos(), angles.sin()

    return Rope(cos_sin, rotary_dim=dim)


def _middle(shape: PairShape, layers: int) -> range:
    """`layers` target layers from the middle: at the ends neighbours read the very same sources."""
    start = (shape.target_layers - layers) // 2
    return range(start, start + layers)


def _bytes_needed(shape: PairShape, tokens: int, layers: int, item: int) -> int:
    sources = len({s for layer in _middle(shape, layers) for s in shape.sources_of(layer)})
    caches = 2 * tokens * shape.width * (sources + layers)
    return item * (caches + 2 * layers * shape.k * shape.width**2)


def _point(
    clock: Clock,
    what: str,
    tokens: int,
    layers: int,
    of_layers: int,
    flops: int,
    times: Times,
    peak: int | None,
    stated: int,
    published: float | None = None,
) -> Point:
    low, high = times.quartiles
    return Point(
        what,
        tokens,
        layers,
        of_layers,
        flops,
        ms=1e3 * times.median,
        low_ms=1e3 * low,
        high_ms=1e3 * high,
        best_ms=1e3 * times.best,
        repeats=len(times.seconds),
        share=share(flops, times.best, clock.rate),
        beside=times.beside(flops, clock.flops),
        peak_bytes=peak,
        stated_bytes=stated,
        whole_ms=1e3 * times.median * of_layers / layers,
        busy_ms=1e3 * min(times.busy) if clock.device.type == "cpu" else None,
        busy=share(flops, min(times.busy), clock.busy_rate) if clock.device.type == "cpu" else None,
        published_ms=published,
    )
