"""A fitted mapper in memory: for each target layer, linear maps from source keys and values.

Formula, full-head: with x the content keys of all KV heads of the chosen source layers, concatenated,
k = x W + b. Head-local: each target head has its own x, one source head of each chosen layer. A fit
onto post-norm keys then ends with k <- k / RMS(k / gamma), one onto pre-norm keys with
k <- k_norm(k). Values: v = x_v W_v + b_v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from .cache import LayerKV
from .rope import Rope

# Qwen3's own, for facts that do not state it.
DEFAULT_EPS = 1e-6

# How mapped keys end on a target with k_norm: by what the map was fitted onto.
RENORM = "renorm"
K_NORM = "k_norm"

# For each chosen source layer, the source head that each target head reads: [layers][t_kv_heads].
HeadChoice = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class LayerMap:
    """The maps onto one target layer.

    `wk` [len(layers_k) * s_kv_heads * d, t_kv_heads * d] and `bk` [t_kv_heads * d] give content keys
    from the keys of source layers `layers_k`; `wv`, `bv` and `layers_v` the same for values.
    With `heads_k` (head-local) `wk` is [t_kv_heads, len(layers_k) * d, d]; `heads_v` and `wv` likewise.
    `gamma` [d] is the target's k_norm weight, None where keys end as they are; `ending` says how they
    end with it: RENORM after a fit onto post-norm keys, K_NORM after one onto pre-norm keys.
    """

    layers_k: tuple[int, ...]
    layers_v: tuple[int, ...]
    wk: Tensor
    bk: Tensor
    wv: Tensor
    bv: Tensor
    gamma: Tensor | None = None
    heads_k: HeadChoice | None = None
    heads_v: HeadChoice | None = None
    ending: str = RENORM

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> LayerMap:
        """The same maps with their tensors on `device` and in `dtype`."""
        named = {name: getattr(self, name) for name in ("wk", "bk", "wv", "bv", "gamma")}
        return replace(
            self, **{n: None if t is None else t.to(device=device, dtype=dtype) for n, t in named.items()}
        )


@dataclass(frozen=True)
class ConstantHead:
    """The target's own cache of constant first tokens: content keys and values [L, kv_heads, n, d]."""

    token_ids: tuple[int, ...]
    k: Tensor
    v: Tensor

    def match(self, token_ids: Sequence[int] | None) -> int:
        """How many leading tokens are the stored ones; a causal model's cache of those is the same."""
        count = 0
        for ours, theirs in zip(self.token_ids, token_ids or (), strict=False):
            if ours != int(theirs):
                break
            count += 1
        return count


@dataclass(frozen=True)
class Mapper:
    """Maps a source cache into a target cache. `source` and `target` are `inspect_model` facts."""

    method: str
    source: dict[str, Any]
    target: dict[str, Any]
    layers: tuple[LayerMap, ...]
    head: ConstantHead | None = None
    manifest: dict[str, Any] = field(default_factory=dict)

    def map_layer(self, index: int, source_k: Sequence[Tensor], source_v: Sequence[Tensor]) -> LayerKV:
        """Content keys and values of target layer `index`, [..., t_kv_heads, T, d].

        `source_k` and `source_v` hold all source layers, each [..., s_kv_heads, T, d]; keys are
        content keys. Computed in the maps' dtype.
        """
        layer = self.layers[index]
        heads = int(self.target["num_key_value_heads"])
        k = _linear([source_k[s] for s in layer.layers_k], layer.wk, layer.bk, heads, layer.heads_k)
        v = _linear([source_v[s] for s in layer.layers_v], layer.wv, layer.bv, heads, layer.heads_v)
        if layer.gamma is not None and layer.ending == K_NORM:
            k = k_norm(k, layer.gamma, float(self.target.get("rms_norm_eps") or DEFAULT_EPS))
        elif layer.gamma is not None:
            k = renormalise(k, layer.gamma)
        return k, v

    def transfer(
        self,
        source_kv: Sequence[LayerKV],
        positions: Tensor,
        source_rope: Rope,
        target_rope: Rope,
        target_positions: Tensor | None = None,
        *,
        token_ids: Sequence[int] | None = None,
    ) -> list[LayerKV]:
        """The target's cache for rows the source has computed; keys are rotated for the target.

        `source_kv`: per source layer (k, v) [..., s_kv_heads, T, d] with k rotated at `positions` [T].
        `target_positions` defaults to `positions`. `token_ids` are the T rows' tokens (they must start
        the sequence): leading rows equal to the constant head come from it instead of the map.
        Returns per target layer (k, v) [..., t_kv_heads, T, d]. Errors: ValueError on shapes.
        """
        self._check(source_kv)
        at = positions if target_positions is None else target_positions
        content = [source_rope.strip(k, positions) for k, _ in source_kv]
        values = [v for _, v in source_kv]
        exact = self.head.match(token_ids) if self.head is not None else 0
        moved: list[LayerKV] = []
        for index in range(len(self.layers)):
            k, v = self.map_layer(index, content, values)
            if exact:
                k, v = self._with_head(index, exact, k, v)
            moved.append((target_rope.apply(k, at), v))
        return moved

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Mapper:
        """The same mapper with its tensors on `device` and in `dtype`."""

        layers = tuple(m.to(device, dtype) for m in self.layers)
        head = self.head and replace(
            self.head, **{n: getattr(self.head, n).to(device=device, dtype=dtype) for n in "kv"}
        )
        return Mapper(self.method, self.source, self.target, layers, head, self.manifest)

    @property
    def parameters(self) -> int:
        """Count of fitted numbers: weights and biases, without gamma and the constant head."""
        return sum(t.numel() for m in self.layers for t in (m.wk, m.bk, m.wv, m.bv))

    def _with_head(self, index: int, exact: int, k: Tensor, v: Tensor) -> LayerKV:
        k, v = k.clone(), v.clone()
        rows = min(exact, k.shape[-2])
        k[..., :rows, :] = self.head.k[index, :, :rows].to(k)
        v[..., :rows, :] = self.head.v[index, :, :rows].to(v)
        return k, v

    def _check(self, source_kv: Sequence[LayerKV]) -> None:
        count = int(self.source["num_hidden_layers"])
        if len(source_kv) != count:
            raise ValueError(f"the mapper reads {count} source layers, {len(source_kv)} were given")
        want = (int(self.source["num_key_value_heads"]), int(self.source["head_dim"]))
        got = (source_kv[0][0].shape[-3], source_kv[0][0].shape[-1])
        if want != got:
            raise ValueError(f"the mapper reads (KV heads, head dimension) {want}, the cache has {got}")


def gather_features(layers: Sequence[Tensor]) -> Tensor:
    """[..., h, T, d] of several layers -> [..., T, len * h * d], layer-major, then head, then dimension."""
    rows = [t.transpose(-3, -2).flatten(-2) for t in layers]
    return rows[0] if len(rows) == 1 else torch.cat(rows, dim=-1)


def renormalise(k: Tensor, gamma: Tensor) -> Tensor:
    """k <- k / RMS(k / gamma) over the last dimension: what a post-k_norm content key satisfies.

    `gamma` [d] broadcasts from the right. Dimensions whose gamma is zero hold nothing and are left
    out of the mean. A zero key stays zero.
    """
    alive = gamma.abs() > 1e-12
    raw = torch.where(alive, k / torch.where(alive, gamma, torch.ones_like(gamma)), torch.zeros_like(k))
    share = alive.sum().clamp(min=1)
    rms = (raw.square().sum(dim=-1, keepdim=True) / share).sqrt()
    return k / rms.clamp(min=torch.finfo(k.dtype).tiny)


def k_norm(k: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """k <- gamma * k / sqrt(mean(k^2) + eps) over the last dimension, as Qwen3's own k_norm does."""
    return gamma * k * torch.rsqrt(k.square().mean(dim=-1, keepdim=True) + eps)


def _linear(
    layers: Sequence[Tensor], weight: Tensor, bias: Tensor, heads: int, choice: HeadChoice | None
) -> Tensor:
    """[..., s_kv_heads, T, d] of the chosen layers -> [..., heads, T, d]."""
    if choice is None:
        x = gather_features(layers).to(weight.dtype)
        return (x @ weight + bias).unflatten(-1, (heads, -1)).transpose(-3, -2)
    return gather_heads(layers, choice).to(weight.dtype) @ weight + bias.unflatten(-1, (heads, 1, -1))


def gather_heads(layers: Sequence[Tensor], choice: HeadChoice) -> Tensor:
    """[..., h, T, d] of several layers -> [..., t_heads, T, len * d]: each target head's own features."""
    rows = [
        t.index_select(-3, torch.tensor(heads, device=t.device))
        for t, heads in zip(layers, choice, strict=True)
    ]
    return rows[0] if len(rows) == 1 else torch.cat(rows, dim=-1)
