"""How a fit is divided into passes over the corpus, by the memory there is.

A pass adds up moments for some target layers, keys or values or both, from all source layers. One pass
does everything where that fits; otherwise more passes with fewer target layers give the same maps.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ResourceError

PARTS = ("k", "v")
# Float64 sums for the fit and the select split at the same time.
_SPLITS, _DOUBLE, _SINGLE = 2, 8, 4
# Rows that wait to be multiplied, in float32, for each of a pass's sums (moments.BUFFER_ROWS).
_WAITING_ROWS = 4096
# Float64 copies of one map's normal equations alive while it is solved: loaded, factor, both splits' blocks.
_SOLVE_COPIES = 6


@dataclass(frozen=True)
class Widths:
    """Layers and KV width (heads times head dimension) of both models."""

    source_layers: int
    source: int
    target_layers: int
    target: int


@dataclass(frozen=True)
class Needs:
    """What is to be fitted: `k` source layers a map, the `weightings` of the pair's rows, the self-map's
    weighting `own` (None for no self-map), pre-norm targets or not."""

    k: int
    weightings: tuple[str, ...]
    own: str | None = None
    prenorm: bool = False


@dataclass(frozen=True)
class Pass:
    """One pass: target `layers` of `parts` (of "k", "v"), rows weighted by `weightings`."""

    parts: tuple[str, ...]
    layers: tuple[int, ...]
    weightings: tuple[str, ...]


def plan_passes(widths: Widths, needs: Needs, batch_tokens: int, budget: int | None) -> list[Pass]:
    """The fewest passes of which each keeps within `budget` bytes; one pass where `budget` is None.

    Every part of every target layer is, under every weighting, in exactly one pass. Errors: ResourceError
    MEMORY_SHORT where not even one layer's keys or values fit.
    """
    for one in sorted(_plans(widths, needs), key=len):
        if budget is None or all(pass_bytes(widths, needs, batch_tokens, p) <= budget for p in one):
            return one
    least = max(pass_bytes(widths, needs, batch_tokens, p) for p in _plans(widths, needs)[-1])
    raise ResourceError(
        "MEMORY_SHORT",
        f"one target layer at a time needs about {_mib(least)} MiB beside the models and {_mib(budget)} MiB "
        f"are left: free {_mib(least - budget)} MiB, or use a host with more memory",
    )


def batch_within(widths: Widths, asked: int, longest: int, budget: int | None) -> int:
    """Tokens of a batch: as asked, less where both models' caches would take a tenth of `budget`.

    Never less than the `longest` sequence, which is a batch of its own.
    """
    if budget is None:
        return asked
    return min(asked, max(longest, budget // (10 * _cache_bytes(widths, 1))))


def pass_bytes(widths: Widths, needs: Needs, batch_tokens: int, one: Pass) -> int:
    """Bytes one pass holds beside the models: sums, waiting rows, caches of a batch, one map's solution."""
    total = 0
    source = widths.source_layers * widths.source
    for part in one.parts:
        raw = len(one.layers) * widths.target if needs.prenorm and part == "k" else 0
        written = len(one.layers) * widths.target + raw
        total += len(one.weightings) * _sums(source, source + written)
        if needs.own in one.weightings:
            read = min(widths.target_layers, len(one.layers) + needs.k - 1) * widths.target
            total += _sums(read, read + raw)
    solving = _SOLVE_COPIES * _DOUBLE * (needs.k * max(widths.source, widths.target)) ** 2
    return total + _cache_bytes(widths, batch_tokens) + solving


def nearest_layers(layer: int, count: int, layers: int) -> tuple[int, ...]:
    """The `count` of `layers` layers nearest to `layer`, itself included: what its self-map reads."""
    first = max(0, min(layer - (count - 1) // 2, layers - count))
    return tuple(range(first, first + min(count, layers)))


def _plans(widths: Widths, needs: Needs) -> list[list[Pass]]:
    """All ways to divide the work: parts and weightings together or apart, layers in one to all groups."""
    layers = tuple(range(widths.target_layers))
    return [
        [Pass(p, group, w) for w in weightings for p in parts for group in _divided(layers, groups)]
        for weightings in ((needs.weightings,), tuple((w,) for w in needs.weightings))
        for parts in ((PARTS,), (PARTS[:1], PARTS[1:]))
        for groups in range(1, widths.target_layers + 1)
    ]


def _cache_bytes(widths: Widths, tokens: int) -> int:
    """Keys and values of both models, float32, and as many rows picked from them."""
    both = widths.source_layers * widths.source + widths.target_layers * widths.target
    return 2 * _SINGLE * 2 * tokens * both


def _sums(read: int, width: int) -> int:
    return _SPLITS * _DOUBLE * read * width + _SINGLE * _WAITING_ROWS * width


def _divided(layers: tuple[int, ...], groups: int) -> list[tuple[int, ...]]:
    """`layers` in `groups` runs whose lengths differ by one at most."""
    count = len(layers)
    ends = [count * (i + 1) // groups for i in range(groups)]
    return [layers[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _mib(count: int) -> int:
    return -(-count >> 20)
