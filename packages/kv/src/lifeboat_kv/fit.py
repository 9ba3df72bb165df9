"""From moments to a mapper: choose source layers by held-out R2, then lambda, then solve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from .accumulate import Columns, SplitMoments
from .errors import UsageError
from .mapper import ConstantHead, LayerMap, Mapper
from .methods import Method
from .moments import Moments
from .ridge import LAMBDAS, Block, bias, held_out_r2, solve

# Layers are chosen at one middle lambda; the path is walked for the chosen set only.
_CHOICE_LAMBDA = 1e-3


@dataclass(frozen=True)
class PartFit:
    """Keys or values of one target layer: what was chosen and how well it holds on the select split."""

    layers: tuple[int, ...]
    relative_lambda: float
    weights: Tensor
    bias: Tensor
    r2: float
    best_single_r2: float


@dataclass(frozen=True)
class Fit:
    """All target layers, keys and values."""

    keys: list[PartFit]
    values: list[PartFit]
    facts: dict[str, Any] = field(default_factory=dict)


def fit_layers(
    fit: SplitMoments,
    select: SplitMoments,
    columns: Columns,
    method: Method,
    k: int,
    *,
    from_target: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Fit:
    """Fits every target layer from `k` source layers each (from target layers for the self-map).

    Errors: UsageError K_TOO_LARGE; NumericsError.
    """
    count = columns.target_layers if from_target else columns.source_layers
    if not 1 <= k <= count:
        raise UsageError("K_TOO_LARGE", f"--k {k}: the source has {count} layers, give 1 to {count}")
    sources = [columns.target(i) if from_target else columns.source(i) for i in range(count)]
    fitted: list[list[PartFit]] = [[], []]
    total = 2 * columns.target_layers
    pairs = zip(fit.weighted(method.first_weight), select.weighted(method.first_weight), strict=True)
    for part, (rows, held_out) in enumerate(pairs):
        for layer in range(columns.target_layers):
            fitted[part].append(_fit_part(rows, held_out, sources, columns.target(layer), k))
            progress(part * columns.target_layers + layer + 1, total)
    return Fit(*fitted)


def mapper_from(
    fitted: Fit,
    method: Method,
    source: dict[str, Any],
    target: dict[str, Any],
    gammas: list[Tensor] | None,
    head: ConstantHead | None,
    dtype: torch.dtype = torch.float32,
) -> Mapper:
    """The mapper of a fit. `gammas` are the target's k_norm weights [d] by layer, None without k_norm."""
    layers = tuple(
        LayerMap(
            layers_k=key.layers,
            layers_v=value.layers,
            wk=key.weights.to(dtype),
            bk=key.bias.to(dtype),
            wv=value.weights.to(dtype),
            bv=value.bias.to(dtype),
            gamma=gammas[index].to(dtype) if gammas is not None and method.renormalise else None,
        )
        for index, (key, value) in enumerate(zip(fitted.keys, fitted.values, strict=True))
    )
    return Mapper(method.name, source, target, layers, head if method.constant_head else None)


def fit_facts(fitted: Fit) -> list[dict[str, Any]]:
    """JSON-ready: by target layer the chosen layers, lambdas and held-out R2 of keys and values."""
    return [
        {
            part: {
                "layers": list(one.layers),
                "lambda": one.relative_lambda,
                "r2": one.r2,
                "best_single_r2": one.best_single_r2,
            }
            for part, one in (("k", key), ("v", value))
        }
        for key, value in zip(fitted.keys, fitted.values, strict=True)
    ]


def _fit_part(rows: Moments, held_out: Moments, sources: list[Tensor], target: Tensor, k: int) -> PartFit:
    chosen, best_single = _choose(rows, held_out, sources, target, k)
    x = torch.cat([sources[s] for s in chosen])
    fit, check = Block.of(rows, x, target), Block.of(held_out, x, target)
    scored = []
    for relative_lambda in LAMBDAS:
        weights = solve(fit, relative_lambda)
        scored.append((held_out_r2(fit, check, weights), relative_lambda, weights))
    r2, relative_lambda, weights = max(scored, key=lambda entry: entry[0])
    return PartFit(chosen, relative_lambda, weights, bias(fit, weights), r2, best_single)


def _choose(
    rows: Moments, held_out: Moments, sources: list[Tensor], target: Tensor, k: int
) -> tuple[tuple[int, ...], float]:
    """Greedy forward choice of `k` source layers; also the held-out R2 of the best single one."""
    chosen: list[int] = []
    best_single = float("-inf")
    if k == len(sources):
        singles = [_r2_of(rows, held_out, sources, target, [s]) for s in range(len(sources))]
        return tuple(range(k)), max(singles)
    while len(chosen) < k:
        candidates = [s for s in range(len(sources)) if s not in chosen]
        scores = {s: _r2_of(rows, held_out, sources, target, [*chosen, s]) for s in candidates}
        best = max(candidates, key=lambda s: (scores[s], -s))
        if not chosen:
            best_single = scores[best]
        chosen.append(best)
    return tuple(sorted(chosen)), best_single


def _r2_of(
    rows: Moments, held_out: Moments, sources: list[Tensor], target: Tensor, layers: list[int]
) -> float:
    x = torch.cat([sources[s] for s in layers])
    fit = Block.of(rows, x, target)
    return held_out_r2(fit, Block.of(held_out, x, target), solve(fit, _CHOICE_LAMBDA))
