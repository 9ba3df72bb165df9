"""Fits one method or several side by side, pass by pass, from the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import UsageError
from ..mapper.form import K_NORM
from ..methods import Method
from ..moments.accumulate import Gathered, Wanted
from ..moments.passes import PARTS, Needs, Pass, nearest_layers
from .layers import Fit, PartFit, Sums, fit_full_head, fit_head_local

# Gathers what a pass wants over one split, "fit" or "select".
Gather = Callable[[str, Wanted], Gathered]


# Rows, head-local, onto pre-norm keys, layers a map: what a method's fit of one part depends on.
FitKey = tuple[str, bool, bool, int]


@dataclass(frozen=True)
class PairShape:
    """Layers and KV heads of both models, and whether the target normalises its keys (k_norm)."""

    source_layers: int
    source_heads: int
    target_layers: int
    target_heads: int
    normalised: bool


@dataclass(frozen=True)
class Fits:
    """Fits of the pair by method, and of the target onto itself by the method asked for."""

    by_method: dict[str, Fit]
    own: Fit | None


def check_k(k: int, source_layers: int) -> None:
    """Errors: UsageError K_TOO_LARGE."""
    if not 1 <= k <= source_layers:
        raise UsageError("K_TOO_LARGE", f"--k {k}: the source has {source_layers} layers, give 1 to that")


def needs_of(methods: Sequence[Method], own: Method | None, k: int, normalised: bool) -> Needs:
    """What the passes have to hold for `methods` side by side and the self-map of `own`."""
    every = [*methods, *([own] if own else [])]
    return Needs(
        k=max([k, *(m.k for m in methods if m.k is not None)]),
        weightings=tuple(dict.fromkeys(m.rows for m in every)),
        own=own.rows if own else None,
        prenorm=normalised and any(m.ending == K_NORM for m in every),
    )


def fit_methods(
    gather: Gather,
    passes: Sequence[Pass],
    methods: Sequence[Method],
    own: Method | None,
    shape: PairShape,
    k: int,
    progress: Callable[[int, int, bool], None] = lambda done, total, last: None,
) -> Fits:
    """Fits every method of `methods` and, where given, the self-map by `own`, with `k` layers a map.

    Layers, heads and lambda are chosen on the select split's moments. The self-map reads the `k` target
    layers nearest to each. `progress` is told maps done, of how many, and whether the last pass is on.
    Errors: UsageError K_TOO_LARGE; NumericsError.
    """
    for count in {k, *(m.k for m in methods if m.k is not None)}:
        check_k(count, shape.source_layers)
    nearest = min(k, shape.target_layers)
    jobs = _jobs(methods, own, shape, k)
    raw = frozenset(job.key[0] for job in jobs if job.key[2])
    found: dict[_Job, dict[int, PartFit]] = {job: {} for job in jobs}
    todo = [[job for job in jobs if job.part in p.parts and job.key[0] in p.weightings] for p in passes]
    total, done = sum(len(now) * len(p.layers) for now, p in zip(todo, passes, strict=True)), 0
    for one, now in zip(passes, todo, strict=True):
        wanted = Wanted(one, own.rows if own else None, nearest, raw if "k" in one.parts else frozenset())
        fit, select = gather("fit", wanted), gather("select", wanted)
        for job in now:
            sums = _sums(fit, select, job)
            for layer in one.layers:
                found[job][layer] = _fit_one(sums, layer, job, shape, nearest)
                done += 1
                progress(done, total, one is passes[-1])

    def whole(method: Method, own: bool) -> Fit:
        parts = (found[_job(part, method, own, shape, k)] for part in PARTS)
        return Fit(*([part[layer] for layer in range(shape.target_layers)] for part in parts))

    return Fits({m.name: whole(m, False) for m in methods}, whole(own, True) if own else None)


@dataclass(frozen=True)
class _Job:
    """Keys or values of one fit: of the pair, or with `own` of the target onto itself."""

    part: str
    key: FitKey
    own: bool


def _jobs(methods: Sequence[Method], own: Method | None, shape: PairShape, k: int) -> list[_Job]:
    """What has to be fitted, each once, however many methods share it."""
    wanted = [(m, False) for m in methods] + ([(own, True)] if own else [])
    return list(dict.fromkeys(_job(part, m, o, shape, k) for m, o in wanted for part in PARTS))


def _job(part: str, method: Method, own: bool, shape: PairShape, k: int) -> _Job:
    raw = part == "k" and method.ending == K_NORM and shape.normalised
    return _Job(part, (method.rows, method.head_local, raw, k if own else method.k or k), own)


def _sums(fit: Gathered, select: Gathered, job: _Job) -> Sums:
    both = [g.own[job.part] if job.own else g.pair[job.part, job.key[0]] for g in (fit, select)]
    columns = both[0].onto_prenorm if job.key[2] else both[0].columns
    return Sums(both[0].moments, both[1].moments, columns)


def _fit_one(sums: Sums, layer: int, job: _Job, shape: PairShape, nearest: int) -> PartFit:
    _, head_local, _, k = job.key
    readable: Sequence[int] = range(shape.source_layers)
    heads = shape.source_heads
    if job.own:
        readable, heads, k = nearest_layers(layer, nearest, shape.target_layers), shape.target_heads, nearest
    if head_local:
        return fit_head_local(sums, layer, readable, k, heads, shape.target_heads)
    return fit_full_head(sums, layer, readable, k)
