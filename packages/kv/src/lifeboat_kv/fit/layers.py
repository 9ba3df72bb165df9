"""From moments to maps: choose source layers by held-out R2, then lambda, then solve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..mapper.form import K_NORM, ConstantHead, HeadChoice, LayerMap, Mapper
from ..methods import Method
from ..moments.accumulate import Columns
from ..moments.second_moments import Moments
from .heads import best_assignment
from .ridge import LAMBDAS, Block, bias, held_out_errors, held_out_r2, solve

# Layers and heads are chosen at one middle lambda; the path is walked for the chosen set only.
_CHOICE_LAMBDA = 1e-3
# After the first layer only the best single ones are tried further: so many times k, and never fewer than 8.
_TRIED, _TRIED_LEAST = 2, 8


@dataclass(frozen=True)
class PartFit:
    """Keys or values of one target layer: what was chosen and how well it holds on the select split.

    `weights` and `bias` are in the form of LayerMap; `heads` is None for a full-head map.
    """

    layers: tuple[int, ...]
    relative_lambda: float
    weights: Tensor
    bias: Tensor
    r2: float
    best_single_r2: float
    heads: HeadChoice | None = None


@dataclass(frozen=True)
class Fit:
    """All target layers, keys and values."""

    keys: list[PartFit]
    values: list[PartFit]


@dataclass(frozen=True)
class Sums:
    """The moments of the fit and the select split over the same columns, and where layers stand in them."""

    fit: Moments
    select: Moments
    columns: Columns

    def blocks(self, x: Tensor, y: Tensor) -> tuple[Block, Block]:
        """Of both splits: features `x` and targets `y`, [..., dx] and [..., dy] columns."""
        return Block.of(self.fit, x, y), Block.of(self.select, x, y)


def fit_full_head(sums: Sums, layer: int, readable: Sequence[int], k: int) -> PartFit:
    """The map onto target `layer` from all heads of `k` of the `readable` layers. Errors: NumericsError."""
    target = sums.columns.target(layer)

    def features(layers: Sequence[int]) -> Tensor:
        return torch.cat([sums.columns.source(s) for s in layers])

    def r2_of(layers: list[int]) -> float:
        fit, held_out = sums.blocks(features(layers), target)
        return held_out_r2(fit, held_out, solve(fit, _CHOICE_LAMBDA))

    chosen, best_single = choose_layers(r2_of, readable, k)
    return _solved(sums, features(chosen), target, chosen, best_single, None)


def fit_head_local(
    sums: Sums, layer: int, readable: Sequence[int], k: int, source_heads: int, target_heads: int
) -> PartFit:
    """The maps of target `layer`'s heads, each from one head of each of `k` readable layers.

    For each source layer, heads are assigned on the matrix of held-out R2 of one source head onto one
    target head. Errors: NumericsError.
    """
    columns = sums.columns
    targets = columns.target(layer).view(target_heads, -1)  # [t_heads, d]
    assigned: dict[int, tuple[int, ...]] = {}
    for s in readable:
        heads = columns.source(s).view(source_heads, -1)
        assigned[s] = best_assignment(_head_r2(sums, heads, targets))

    def features(layers: Sequence[int]) -> Tensor:
        """[t_heads, len(layers) * d]"""
        parts = [columns.source(s).view(source_heads, -1)[list(assigned[s])] for s in layers]
        return torch.cat(parts, dim=-1)

    def r2_of(layers: list[int]) -> float:
        fit, held_out = sums.blocks(features(layers), targets)
        return held_out_r2(fit, held_out, solve(fit, _CHOICE_LAMBDA))

    chosen, best_single = choose_layers(r2_of, readable, k)
    heads = tuple(assigned[s] for s in chosen)
    return _solved(sums, features(chosen), targets, chosen, best_single, heads)


def choose_layers(r2_of: Any, readable: Sequence[int], k: int) -> tuple[tuple[int, ...], float]:
    """Greedy forward choice of `k` layers by `r2_of(layers)`; also the R2 of the best single one."""
    single = {s: r2_of([s]) for s in readable}
    best_single = max(single.values())
    if k == len(readable):
        return tuple(sorted(readable)), best_single
    ranked = sorted(readable, key=lambda s: (-single[s], s))
    tried = ranked[: max(_TRIED_LEAST, _TRIED * k)]
    chosen = [ranked[0]]
    while len(chosen) < k:
        scores = {s: r2_of([*chosen, s]) for s in tried if s not in chosen}
        chosen.append(max(scores, key=lambda s: (scores[s], -s)))
    return tuple(sorted(chosen)), best_single


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
    norms = gammas if method.ending is not None else None
    layers = tuple(
        LayerMap(
            layers_k=key.layers,
            layers_v=value.layers,
            wk=key.weights.to(dtype),
            bk=key.bias.to(dtype),
            wv=value.weights.to(dtype),
            bv=value.bias.to(dtype),
            gamma=None if norms is None else norms[index].to(dtype),
            heads_k=key.heads,
            heads_v=value.heads,
            **({"ending": K_NORM} if method.ending == K_NORM and norms is not None else {}),
        )
        for index, (key, value) in enumerate(zip(fitted.keys, fitted.values, strict=True))
    )
    return Mapper(method.name, source, target, layers, head if method.constant_head else None)


def fit_facts(fitted: Fit) -> list[dict[str, Any]]:
    """JSON-ready: by target layer the chosen layers, heads, lambdas and held-out R2 of keys and values."""
    return [
        {part: _facts(one) for part, one in (("k", key), ("v", value))}
        for key, value in zip(fitted.keys, fitted.values, strict=True)
    ]


def _facts(one: PartFit) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "layers": list(one.layers),
        "lambda": one.relative_lambda,
        "r2": one.r2,
        "best_single_r2": one.best_single_r2,
    }
    return facts if one.heads is None else {**facts, "heads": [list(row) for row in one.heads]}


def _head_r2(sums: Sums, heads: Tensor, targets: Tensor) -> Tensor:
    """Held-out R2 [source heads, target heads] of each source head (columns [heads, d]) alone."""
    everything = targets.flatten().expand(len(heads), -1)
    fit, held_out = sums.blocks(heads, everything)
    errors = held_out_errors(fit, held_out, solve(fit, _CHOICE_LAMBDA))
    missed = errors.unflatten(-1, targets.shape).sum(dim=-1)
    total = held_out.yy.unflatten(-1, targets.shape).sum(dim=-1)
    return 1 - missed / total.clamp(min=torch.finfo(torch.float64).tiny)


def _solved(
    sums: Sums,
    x: Tensor,
    y: Tensor,
    layers: tuple[int, ...],
    best_single: float,
    heads: HeadChoice | None,
) -> PartFit:
    fit, held_out = sums.blocks(x, y)
    scored = []
    for relative_lambda in LAMBDAS:
        weights = solve(fit, relative_lambda)
        scored.append((held_out_r2(fit, held_out, weights), relative_lambda, weights))
    r2, relative_lambda, weights = max(scored, key=lambda entry: entry[0])
    return PartFit(layers, relative_lambda, weights, bias(fit, weights).flatten(), r2, best_single, heads)
