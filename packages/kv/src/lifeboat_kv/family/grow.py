"""Grow a larger model from a trained smaller one without changing what it computes.

Width: new hidden channels start at zero and norm weights shrink by sqrt(old / new), so RMSNorm gives the old
channels what they had; new input columns are random, new output rows zero. Query heads: each group gets new
heads whose o_proj columns are zero. Depth: a new layer copies its predecessor with o_proj and down_proj zero.
After Net2Net (arXiv:1511.05641), progressive stacking (Gong et al., ICML 2019), LLaMA Pro (arXiv:2401.02415).
"""

from __future__ import annotations

import torch
from torch import Tensor

from .architecture import LeanQwen3, Shape

# Where the target's layers come from: an index of the pilot's layer, or None for a new one.
DEPTH = {(5, 7): (0, 1, None, 2, 3, None, 4)}


def _widen(weight: Tensor, rows: int, columns: int, generator: torch.Generator, *, output: bool) -> Tensor:
    """Place `weight` in the corner of [rows, columns]; `output` matrices get zeros, others fresh rows."""
    if output:
        wide = torch.zeros(rows, columns)
    else:
        wide = torch.randn(rows, columns, generator=generator) * weight.std()
    wide[: weight.shape[0], : weight.shape[1]] = weight
    return wide


def _first_of_group(heads: int, width: int, each: int) -> Tensor:
    """Channels of the old heads when every one becomes the first of `each` heads of `width` channels."""
    return torch.cat([torch.arange(width) + head * each * width for head in range(heads)])


@torch.no_grad()
def grow(small: LeanQwen3, shape: Shape, seed: int = 7) -> LeanQwen3:
    """A LeanQwen3 of `shape` that computes what `small` computes.

    Errors: ValueError where KV heads or head width differ, or the depth is in no table.
    """
    old = small.shape
    if (old.kv_heads, old.head_dim) != (shape.kv_heads, shape.head_dim):
        raise ValueError("growth keeps KV heads and head width")
    plan = DEPTH.get((old.layers, shape.layers))
    if plan is None:
        raise ValueError(f"no plan to grow {old.layers} layers to {shape.layers}")
    generator = torch.Generator().manual_seed(seed)
    big = LeanQwen3(shape, small.dtype)
    shrink = (old.hidden / shape.hidden) ** 0.5
    each = shape.heads // old.heads

    def norm(into: torch.nn.Parameter, source: Tensor) -> None:
        into.fill_(shrink)
        into[: old.hidden] = source * shrink

    big.model.embed_tokens.weight.zero_()
    big.model.embed_tokens.weight[:, : old.hidden] = small.model.embed_tokens.weight
    norm(big.model.norm.weight, small.model.norm.weight)
    before = 0
    for layer, origin in zip(big.model.layers, plan, strict=True):
        before = before if origin is None else origin
        source = small.model.layers[before]
        norm(layer.input_layernorm.weight, source.input_layernorm.weight)
        norm(layer.post_attention_layernorm.weight, source.post_attention_layernorm.weight)
        mine, theirs = layer.self_attn, source.self_attn
        mine.q_norm.weight.copy_(theirs.q_norm.weight)
        mine.k_norm.weight.copy_(theirs.k_norm.weight)
        for name in ("k_proj", "v_proj"):
            weight = getattr(theirs, name).weight
            getattr(mine, name).weight.copy_(
                _widen(weight, weight.shape[0], shape.hidden, generator, output=False)
            )
        places = _first_of_group(old.heads, old.head_dim, each)
        query = torch.randn(mine.q_proj.weight.shape, generator=generator) * theirs.q_proj.weight.std()
        query[places, : old.hidden] = theirs.q_proj.weight
        mine.q_proj.weight.copy_(query)
        mine.o_proj.weight.zero_()
        for name in ("gate_proj", "up_proj"):
            weight = getattr(source.mlp, name).weight
            getattr(layer.mlp, name).weight.copy_(
                _widen(weight, shape.mlp, shape.hidden, generator, output=False)
            )
        layer.mlp.down_proj.weight.zero_()
        if origin is not None:
            mine.o_proj.weight[: old.hidden, places] = theirs.o_proj.weight
            layer.mlp.down_proj.weight.copy_(
                _widen(source.mlp.down_proj.weight, shape.hidden, shape.mlp, generator, output=True)
            )
    return big
