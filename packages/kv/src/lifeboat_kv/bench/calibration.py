"""The parts of a whole calibration, each measured small and multiplied. Written for GPUs.

Models are single decoder layers of random weights; nothing here is a score of anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache

from ..fit.ridge import LAMBDAS, Block, solve
from ..moments.passes import Needs, Widths, plan_passes
from .clock import Clock, available_bytes
from .kernels import measure_moments
from .prefill import one_layer
from .shapes import LARGE, QWEN3_14B, QWEN3_32B, DecoderShape, PairShape, moments_flops


@dataclass(frozen=True)
class Corpus:
    """CALIBRATION.md's defaults: sequences of the four splits, their tokens, every `stride`-th row taken."""

    fit: int = 500
    select: int = 64
    gate: int = 256
    report: int = 128
    tokens: int = 1024
    stride: int = 4
    points: int = 3
    answer: int = 64
    arms: int = 10


@torch.no_grad()
def measure_calibration(
    clock: Clock,
    pair: PairShape = LARGE,
    source: DecoderShape = QWEN3_14B,
    target: DecoderShape = QWEN3_32B,
    corpus: Corpus | None = None,
    batch: int = 4,
    dtype: torch.dtype = torch.bfloat16,
) -> dict[str, Any]:
    """Seconds by part, their sum, and what each was multiplied from. JSON-ready.

    Left out, because they need real models: reading weights, tokenising, writing the mapper, the cost
    table. The number of passes is what the memory left beside both models' bf16 weights allows.
    """
    c = corpus or Corpus()
    forward = {d: _forward(clock, d, batch, c.tokens, 0, dtype) for d in (source, target)}
    both = sum(forward[d] * d.layers for d in (source, target)) / (batch * c.tokens)
    passes = _passes(clock, pair, source, target, batch * c.tokens)
    width = pair.width * pair.source_layers
    rows = (c.fit + c.select) * c.tokens // c.stride
    sample = min(rows, 8192)
    point = measure_moments(clock, min(width, 8192), min(width, 8192), sample, 2, weighted=True)
    rate = point.flops / (point.ms / 1e3)
    onto = pair.width * pair.target_layers
    # Every pass multiplies all source columns again, each with its own share of the target's.
    flops = 2 * (passes * moments_flops(rows, width) + 2 * rows * width * onto)
    solves = [_solve(clock, j * pair.width, pair.width) for j in range(1, pair.k + 1)]
    one_map = sum((pair.source_layers - j) * s for j, s in enumerate(solves)) + len(LAMBDAS) * solves[-1]
    items = (c.gate + c.report) * c.points
    step = _forward(clock, target, 64, 1, c.tokens, dtype) * target.layers
    tail = _forward(clock, target, 32, 51 + c.answer, c.tokens, dtype) * target.layers
    parts = {
        "both models over fit and select, every pass": passes * both * (c.fit + c.select) * c.tokens,
        "moments, every pass": flops / rate,
        "choosing layers and solving": 2 * pair.target_layers * one_map,
        "both models over gate and report": both * (c.gate + c.report) * c.tokens,
        "the target's own answers": step * c.answer * items / 64,
        "answers of all arms": tail * c.arms * items / 32,
    }
    return {
        "pair": pair.name,
        "passes": passes,
        "seconds": {name: round(s, 2) for name, s in parts.items()},
        "total_seconds": round(sum(parts.values()), 1),
    }


def _forward(
    clock: Clock, shape: DecoderShape, batch: int, tokens: int, before: int, dtype: torch.dtype
) -> float:
    """Median seconds of one layer over `batch` rows of `tokens` tokens on top of `before` cached ones."""
    model = one_layer(shape, clock.device, dtype)
    size = (batch, shape.kv_heads, before, shape.head_dim)
    held = [torch.zeros(size, dtype=dtype, device=clock.device) for _ in range(2)]
    given = torch.zeros(batch, tokens, shape.hidden, dtype=dtype, device=clock.device)

    def work() -> None:
        cache = DynamicCache()
        if before:
            cache.update(*held, 0)
        model(inputs_embeds=given, past_key_values=cache, use_cache=True)

    return clock.times(work, 3).median


def _solve(clock: Clock, width: int, onto: int) -> float:
    """Median seconds of one ridge system in float64."""
    x = torch.randn(2 * width, width, dtype=torch.float64, device=clock.device)
    y = torch.randn(2 * width, onto, dtype=torch.float64, device=clock.device)
    block = Block(float(len(x)), x.mean(0), y.mean(0), x.T @ x, x.T @ y, y.square().sum(0))
    return clock.times(lambda: solve(block, 1e-3), 2).median


def _passes(clock: Clock, pair: PairShape, source: DecoderShape, target: DecoderShape, tokens: int) -> int:
    # Projections of bf16: two of all heads, two of the KV heads, three of the feed-forward part.
    inner = {d: 3 * d.intermediate + 2 * (d.heads + d.kv_heads) * d.head_dim for d in (source, target)}
    weights = sum(2 * d.layers * d.hidden * count for d, count in inner.items())
    free = available_bytes(clock.device)
    widths = Widths(pair.source_layers, pair.width, pair.target_layers, pair.width)
    needs = Needs(k=pair.k, weightings=("all",))
    return len(plan_passes(widths, needs, tokens, None if free is None else max(0, free - weights)))
