"""Fits one method or several side by side, pass by pass, from the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .accumulate import Gathered, Joint, Wanted
from .errors import UsageError
from .fit import Fit, PartFit, Sums, fit_full_head, fit_head_local
from .mapper import K_NORM
from .methods import Method
from .passes import Needs, Pass, nearest_layers

# Gathers what a pass wants over one split, "fit" or "select".
Gather = Callable[[str, Wanted], Gathered]


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
    return Needs(
        k=k,
        weightings=len({m.rows for m in methods}),
        prenorm=normalised and any(m.ending == K_NORM for m in methods),
        self_map=own is not None,
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
    check_k(k, shape.source_layers)
    nearest = min(k, shape.target_layers)
    raw = {m.rows for m in (*methods, *([own] if own else [])) if _onto_raw(m, shape, "k")}
    weightings = tuple(dict.fromkeys(m.rows for m in methods))
    found: dict[tuple[str, tuple[str, bool, bool]], dict[int, PartFit]] = {}
    self_map: dict[str, dict[int, PartFit]] = {}
    kinds = {(part, _key(m, shape, part)): m for m in methods for part in ("k", "v")}
    total = sum(
        (sum(1 for part, _ in kinds if part in one.parts) + len(one.parts) * (own is not None))
        * len(one.layers)
        for one in passes
    )
    done = 0
    for one in passes:
        onto_raw = frozenset(raw) if "k" in one.parts else frozenset()
        wanted = Wanted(one, weightings, own.rows if own else None, nearest, onto_raw)
        fit, select = gather("fit", wanted), gather("select", wanted)

        def tell(last: bool = one is passes[-1]) -> None:
            nonlocal done
            done += 1
            progress(done, total, last)

        for (part, key), method in kinds.items():
            if part not in one.parts:
                continue
            sums = _sums(fit.pair[part, method.rows], select.pair[part, method.rows], key[2])
            for layer in one.layers:
                readable = range(shape.source_layers)
                fitted = _fit(sums, layer, readable, k, method, shape.source_heads, shape.target_heads)
                found.setdefault((part, key), {})[layer] = fitted
                tell()
        for part in one.parts if own else ():
            sums = _sums(fit.own[part], select.own[part], _onto_raw(own, shape, part))
            for layer in one.layers:
                readable = nearest_layers(layer, nearest, shape.target_layers)
                fitted = _fit(sums, layer, readable, nearest, own, shape.target_heads, shape.target_heads)
                self_map.setdefault(part, {})[layer] = fitted
                tell()

    def whole(by_part: Callable[[str], dict[int, PartFit]]) -> Fit:
        keys, values = by_part("k"), by_part("v")
        return Fit(*([part[layer] for layer in range(shape.target_layers)] for part in (keys, values)))

    by_method = {m.name: whole(lambda part, m=m: found[part, _key(m, shape, part)]) for m in methods}
    return Fits(by_method, whole(self_map.__getitem__) if own else None)


def _onto_raw(method: Method, shape: PairShape, part: str) -> bool:
    """Whether keys are fitted onto the target's rows before k_norm."""
    return part == "k" and method.ending == K_NORM and shape.normalised


def _key(method: Method, shape: PairShape, part: str) -> tuple[str, bool, bool]:
    """What a method's fit of one part depends on; methods that agree in it share the fit."""
    return method.rows, method.head_local, _onto_raw(method, shape, part)


def _sums(fit: Joint, select: Joint, raw: bool) -> Sums:
    return Sums(fit.moments, select.moments, fit.onto_prenorm if raw else fit.columns)


def _fit(
    sums: Sums,
    layer: int,
    readable: Sequence[int],
    k: int,
    method: Method,
    source_heads: int,
    target_heads: int,
) -> PartFit:
    if method.head_local:
        return fit_head_local(sums, layer, readable, k, source_heads, target_heads)
    return fit_full_head(sums, layer, readable, k)
