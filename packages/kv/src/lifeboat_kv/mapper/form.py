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

from ..mapper import mapping
from ..models.cache import LayerKV
from ..rotation.rope import Rope, Rotation
from .endings import DEFAULT_EPS, RENORM
from .endings import K_NORM as K_NORM
from .endings import renormalise as renormalise

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
    _plans: dict[Any, mapping.Plan] = field(default_factory=dict, init=False, repr=False, compare=False)

    def map_layer(self, index: int, source_k: Sequence[Tensor], source_v: Sequence[Tensor]) -> LayerKV:
        """Content keys and values of target layer `index`, [..., t_kv_heads, T, d].

        `source_k` and `source_v` hold all source layers, each [..., s_kv_heads, T, d]; keys are
        content keys. Computed in the maps' dtype.
        """
        source = [(_batched(k), _batched(v)) for k, v in zip(source_k, source_v, strict=True)]
        out = self._room(source_k[0], 1)
        mapping.run(self._plan((index,), source), source, mapping.Tensors([_both_batched(out[0])]))
        return out[0]

    def content(self, source_kv: Sequence[LayerKV], positions: Tensor, source_rope: Rope) -> list[LayerKV]:
        """What `transfer` would rotate: content keys and values of every target layer, without the head.

        Arguments and errors as there.
        """
        self._check(source_kv)
        source = [_both_batched(one) for one in source_kv]
        out = self._room(source_kv[0][0], len(self.layers))
        mapping.run(
            self._plan(tuple(range(len(self.layers))), source),
            source,
            mapping.Tensors([_both_batched(one) for one in out]),
            source_rope.at(positions, self._device),
        )
        return out

    def transfer(
        self,
        source_kv: Sequence[LayerKV],
        positions: Tensor,
        source_rope: Rope,
        target_rope: Rope,
        target_positions: Tensor | None = None,
        *,
        token_ids: Sequence[int] | None = None,
        out: Sequence[LayerKV] | None = None,
    ) -> list[LayerKV]:
        """The target's cache for rows the source has computed; keys are rotated for the target.

        `source_kv`: per source layer (k, v) [..., s_kv_heads, T, d] with k rotated at `positions` [T].
        `target_positions` defaults to `positions`. `token_ids` are the T rows' tokens (they must start
        the sequence): leading rows equal to the constant head come from it instead of the map.
        Returns per target layer (k, v) [..., t_kv_heads, T, d] in the maps' dtype: `out` where given
        (any strides and dtype, no memory shared with the source). Errors: ValueError on shapes.
        """
        self._check(source_kv)
        out = self._room(source_kv[0][0], len(self.layers)) if out is None else out
        self.transfer_to(
            mapping.Tensors([_both_batched(one) for one in out]),
            source_kv,
            source_rope.at(positions, self._device),
            target_rope.at(positions if target_positions is None else target_positions, self._device),
            token_ids=token_ids,
        )
        return list(out)

    def transfer_to(
        self,
        destination: mapping.Destination,
        source_kv: Sequence[LayerKV],
        strip: Rotation,
        turn: Rotation,
        *,
        token_ids: Sequence[int] | None = None,
    ) -> None:
        """`transfer` into whatever `destination` is, chunk by chunk; rotations as `Rope.at` gives them."""
        self._check(source_kv)
        source = [_both_batched(one) for one in source_kv]
        count = self.head.match(token_ids) if self.head is not None else 0
        head = mapping.Head(self.head.k, self.head.v, count) if count else None
        plan = self._plan(tuple(range(len(self.layers))), source)
        mapping.run(plan, source, destination, strip, turn, head)

    def working_bytes(self, tokens: int) -> int:
        """What a transfer of `tokens` rows holds at most beside source, target and maps, in bytes."""
        shape = int(self.source["num_key_value_heads"]), int(self.source["head_dim"])
        return self._plan_for(tuple(range(len(self.layers))), shape).working_bytes(tokens)

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

    def _plan(self, indices: tuple[int, ...], source: Sequence[LayerKV]) -> mapping.Plan:
        k = source[0][0]
        return self._plan_for(indices, (k.shape[-3], k.shape[-1]))

    def _plan_for(self, indices: tuple[int, ...], source: tuple[int, int]) -> mapping.Plan:
        key = (indices, source)
        if key not in self._plans:
            heads = int(self.target["num_key_value_heads"])
            target = heads, self.layers[0].bk.shape[0] // heads
            eps = float(self.target.get("rms_norm_eps") or DEFAULT_EPS)
            self._plans[key] = mapping.Plan.of([self.layers[i] for i in indices], source, target, eps)
        return self._plans[key]

    @property
    def _device(self) -> torch.device:
        return self.layers[0].wk.device

    def _room(self, like: Tensor, count: int) -> list[LayerKV]:
        """Unwritten (k, v) [..., t_kv_heads, T, d] of `count` target layers for rows of `like`'s shape."""
        bias = self.layers[0].bk
        heads = int(self.target["num_key_value_heads"])
        shape = (*like.shape[:-3], heads, like.shape[-2], bias.shape[0] // heads)
        return [(bias.new_empty(shape), bias.new_empty(shape)) for _ in range(count)]

    def _check(self, source_kv: Sequence[LayerKV]) -> None:
        count = int(self.source["num_hidden_layers"])
        if len(source_kv) != count:
            raise ValueError(f"the mapper reads {count} source layers, {len(source_kv)} were given")
        want = (int(self.source["num_key_value_heads"]), int(self.source["head_dim"]))
        got = (source_kv[0][0].shape[-3], source_kv[0][0].shape[-1])
        if want != got:
            raise ValueError(f"the mapper reads (KV heads, head dimension) {want}, the cache has {got}")


def _batched(t: Tensor) -> Tensor:
    """[..., h, T, d] -> [B, h, T, d], a view."""
    return t[None] if t.dim() == 3 else t if t.dim() == 4 else t.flatten(0, -4)


def _both_batched(layer: LayerKV) -> LayerKV:
    return _batched(layer[0]), _batched(layer[1])
