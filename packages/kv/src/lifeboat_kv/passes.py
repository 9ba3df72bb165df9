"""How a fit is divided into passes over the corpus, by the memory there is.

A pass adds up moments for some target layers, keys or values or both, from all source layers. One pass
does everything where that fits; otherwise more passes with fewer target layers give the same maps.
"""

from __future__ import annotations

from dataclasses import dataclass

from .errors import ResourceError

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
    """What is to be fitted: `k` source layers a map, `weightings` sums for the pair side by side, pre-norm
    targets or not, the self-map or not."""

    k: int
    weightings: int = 1
    prenorm: bool = False
    self_map: bool = True


@dataclass(frozen=True)
class Pass:
    """One pass: target `layers` of `parts` (of "k", "v")."""

    parts: tuple[str, ...]
    layers: tuple[int, ...]


def plan_passes(widths: Widths, needs: Needs, batch_tokens: int, budget: int | None) -> list[Pass]:
    """The fewest passes of which each keeps within `budget` bytes; one pass where `budget` is None.

    Every part of every target layer is in exactly one pass. Errors: ResourceError MEMORY_SHORT where
    not even one layer's keys or values fit.
    """
    all_layers = tuple(range(widths.target_layers))
    if budget is None:
        return [Pass(PARTS, all_layers)]
    for passes in range(1, 2 * widths.target_layers + 1):
        for parts in ((PARTS,), (PARTS[:1], PARTS[1:])):
            if passes % len(parts):
                continue
            groups = passes // len(parts)
            if groups > widths.target_layers:
                continue
            found = [Pass(p, layers) for p in parts for layers in _divided(all_layers, groups)]
            if all(pass_bytes(widths, needs, batch_tokens, one) <= budget for one in found):
                return found
    least = min(
        pass_bytes(widths, needs, batch_tokens, Pass((part,), (layer,)))
        for part in PARTS
        for layer in all_layers
    )
    raise ResourceError(
        "MEMORY_SHORT",
        f"one target layer at a time needs about {_mib(least)} MiB beside the models and {_mib(budget)} MiB "
        f"are left: free {_mib(least - budget)} MiB, or use a host with more memory",
    )


def pass_bytes(widths: Widths, needs: Needs, batch_tokens: int, one: Pass) -> int:
    """Bytes one pass holds beside the models: sums, waiting rows, caches of a batch, one map's solution."""
    total = 0
    source = widths.source_layers * widths.source
    for part in one.parts:
        twice = 2 if needs.prenorm and part == "k" else 1
        written = len(one.layers) * widths.target * twice
        total += needs.weightings * _sums(source, source + written)
        if needs.self_map:
            read = min(widths.target_layers, len(one.layers) + needs.k - 1) * widths.target
            total += _sums(read, read + (written // 2 if twice == 2 else 0))
    both = source + widths.target_layers * widths.target
    caches = 2 * batch_tokens * both * 2 * _SINGLE
    solving = _SOLVE_COPIES * _DOUBLE * (needs.k * max(widths.source, widths.target)) ** 2
    return total + caches + solving


def nearest_layers(layer: int, count: int, layers: int) -> tuple[int, ...]:
    """The `count` of `layers` layers nearest to `layer`, itself included: what its self-map reads."""
    first = max(0, min(layer - (count - 1) // 2, layers - count))
    return tuple(range(first, first + min(count, layers)))


def _sums(read: int, width: int) -> int:
    return _SPLITS * _DOUBLE * read * width + _SINGLE * _WAITING_ROWS * width


def _divided(layers: tuple[int, ...], groups: int) -> list[tuple[int, ...]]:
    """`layers` in `groups` runs whose lengths differ by one at most."""
    count = len(layers)
    ends = [count * (i + 1) // groups for i in range(groups)]
    return [layers[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _mib(count: int) -> int:
    return -(-count >> 20)
