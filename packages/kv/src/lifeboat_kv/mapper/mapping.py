"""The inner loop of a transfer: what `Mapper` says in formulas, each row and layer touched once.

Tokens go through in chunks. Of a chunk, each source layer's keys are un-rotated and laid down once, as
rows beside those of the other layers; every target layer that reads them multiplies them from there,
neighbouring layers in one product. What comes out is ended, rotated and written where the caller wants
it. Nothing is rounded below the maps' own dtype; rotations and endings are never below float32.

Memory beside the two caches and the maps: `working_bytes`, the same for any number of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

from ..models.cache import LayerKV
from ..rotation.rope import HALF_SPLIT, Rotation
from .endings import Ending

if TYPE_CHECKING:
    from .form import HeadChoice, LayerMap

# Rows that go through together. On a CPU more of them make no product faster and need more memory; a
# GPU wants launches that are worth their while.
CHUNK_ROWS = 512
GPU_CHUNK_ROWS = 8192


class Destination(Protocol):
    """Where target rows go."""

    def room(self, layer: int, batch: slice, tokens: slice) -> LayerKV:
        """Tensors [b, t_kv_heads, n, d] for keys and values of some sequences' tokens; any strides."""

    def filled(self, layer: int, batch: slice, tokens: slice, room: LayerKV) -> None:
        """Called when `room` holds the rows."""


class Tensors:
    """Rows go into per layer (k, v) [B, t_kv_heads, T, d]."""

    def __init__(self, layers: Sequence[LayerKV]) -> None:
        self._layers = layers

    def room(self, layer: int, batch: slice, tokens: slice) -> LayerKV:
        k, v = self._layers[layer]
        return k[batch, :, tokens], v[batch, :, tokens]

    def filled(self, layer: int, batch: slice, tokens: slice, room: LayerKV) -> None:
        pass


@dataclass(frozen=True)
class Head:
    """The first `rows` tokens' content keys and values, exact: per layer [L, t_kv_heads, >= rows, d]."""

    k: Tensor
    v: Tensor
    rows: int


@dataclass(frozen=True)
class Plan:
    """What layer maps need: which source layers are read, and how their rows lie beside each other.

    A part of a plan is 0 for keys, 1 for values.
    """

    layers: tuple[LayerMap, ...]
    used: tuple[tuple[int, ...], tuple[int, ...]]
    by_head: tuple[bool, bool]
    source_heads: int
    source_dim: int
    target_heads: int
    target_dim: int
    eps: float

    @classmethod
    def of(
        cls,
        layers: Sequence[LayerMap],
        source: tuple[int, int],
        target: tuple[int, int],
        eps: float,
    ) -> Plan:
        """`source` and `target` are (KV heads, head dimension); `eps` is the target's k_norm's."""
        chosen = [m.layers_k for m in layers], [m.layers_v for m in layers]
        used = tuple(tuple(sorted({s for one in part for s in one})) for part in chosen)
        # Rows of one head beside each other where each head reads its own, else rows of one layer.
        local = all(m.heads_k is not None for m in layers), all(m.heads_v is not None for m in layers)
        return cls(tuple(layers), used, local, *source, *target, eps)

    @property
    def dtype(self) -> torch.dtype:
        """The maps' own."""
        return self.layers[0].wk.dtype

    @property
    def device(self) -> torch.device:
        """Where the maps are."""
        return self.layers[0].wk.device

    def width(self, part: int) -> int:
        """Columns of all features of a row."""
        return len(self.used[part]) * self.source_heads * self.source_dim

    def working_bytes(self, tokens: int) -> int:
        """The most that `run` holds at a time beside its arguments, for `tokens` rows in all, in bytes."""
        rows = min(tokens, most_rows(self.device))
        item, exact = (torch.empty((), dtype=t).element_size() for t in (self.dtype, _exact(self.dtype)))
        out = self.target_heads * self.target_dim
        turned = 2 * self.source_heads * self.source_dim if item < exact else 0
        gathered = max((m.wk.shape[-2] * self.target_heads for m in self.layers if m.heads_k), default=0)
        gathered = gathered if self.device.type != "cpu" else 0
        angles = 4 * max(self.source_dim, self.target_dim)
        exactly = 2 * out + turned + angles
        return rows * (item * (self.width(0) + self.width(1) + out + gathered) + exact * exactly)


@torch.inference_mode()
def run(
    plan: Plan,
    source: Sequence[LayerKV],
    destination: Destination,
    strip: Rotation | None = None,
    turn: Rotation | None = None,
    head: Head | None = None,
) -> None:
    """Maps `source`, per source layer (k, v) [B, s_kv_heads, T, d], into `destination`.

    `strip` un-rotates source keys and `turn` rotates target keys, at T positions each; None leaves
    content keys as they are. Layers of `destination` count from 0 in the plan's order.
    """
    batch, _, tokens, _ = source[0][0].shape
    most = min(batch * tokens, most_rows(plan.device))
    keys, values = (_Features(plan, part, most) for part in (0, 1))
    work = _Work(plan, most)
    exact = _exact(plan.dtype)
    endings = [
        None if m.gamma is None else Ending(m.gamma.to(exact), m.ending, plan.eps) for m in plan.layers
    ]
    for sequences, span in _chunks(batch, tokens, most):
        shape = sequences.stop - sequences.start, span.stop - span.start
        back = strip and Turn.of(strip, span, plan.source_dim, exact, inverse=True)
        on = turn and Turn.of(turn, span, plan.target_dim, exact)
        keys.start(*shape)
        values.start(*shape)
        for index, layer in enumerate(plan.layers):
            for s in layer.layers_k:
                keys.lay(s, source[s][0][sequences, :, span].transpose(1, 2), back)
            for s in layer.layers_v:
                values.lay(s, source[s][1][sequences, :, span].transpose(1, 2), None)
            room = destination.room(index, sequences, span)
            k = work.product(keys, layer.layers_k, layer.wk, layer.bk, layer.heads_k)
            if endings[index] is not None:
                k = work.end(k, endings[index])
            k = k.unflatten(0, shape)
            if head is not None:
                _put(head.k[index], head.rows, span, k)
            turn_rows(k, on, room[0].transpose(1, 2))
            v = work.product(values, layer.layers_v, layer.wv, layer.bv, layer.heads_v).unflatten(0, shape)
            if head is not None:
                _put(head.v[index], head.rows, span, v)
            room[1].transpose(1, 2).copy_(v)
            destination.filled(index, sequences, span, room)


class _Features:
    """One part's features of a chunk: each source layer's rows once, whoever reads them.

    Columns go layer, head, dimension; where every map is head-local they go head, layer, dimension, so
    that what a target head reads of neighbouring layers lies together.
    """

    def __init__(self, plan: Plan, part: int, most_rows: int) -> None:
        self.by_head = plan.by_head[part]
        self.source_dim = plan.source_dim
        self._heads, self._width = plan.source_heads, plan.width(part)
        self._at = {layer: slot for slot, layer in enumerate(plan.used[part])}
        self._room = torch.empty(most_rows * self._width, dtype=plan.dtype, device=plan.device)
        self._laid: set[int] = set()

    def start(self, batch: int, tokens: int) -> None:
        """Begins a chunk of `tokens` tokens of each of `batch` sequences."""
        self._laid.clear()
        rows, heads, d, slots = batch * tokens, self._heads, self.source_dim, len(self._at)
        flat = self._room[: rows * self._width]
        self.rows = flat.view(rows, self._width)
        view = (batch, tokens, heads, slots, d) if self.by_head else (batch, tokens, slots, heads, d)
        self._slots = flat.view(view).transpose(2, 3) if self.by_head else flat.view(view)

    def lay(self, layer: int, rows: Tensor, turn: Turn | None) -> None:
        """Writes a source layer's rows [b, n, h, d], turned, unless they are there."""
        if layer not in self._laid:
            turn_rows(rows, turn, self._slots[:, :, self._at[layer]])
            self._laid.add(layer)

    def layer(self, layer: int) -> Tensor:
        """A view [rows, h, d]."""
        return self._slots[:, :, self._at[layer]].flatten(0, 1)

    def stretches(self, layers: Sequence[int], heads: Sequence[int] | None) -> Iterator[tuple[Tensor, slice]]:
        """(columns, rows of the weights they meet) of what one target head, or all (None), read.

        Columns that lie together come together.
        """
        d, all_heads, slots = self.source_dim, self._heads, len(self._at)
        width = d if heads is not None else all_heads * d
        start, stop, met = 0, 0, 0
        for index, layer in enumerate(layers):
            slot, head = self._at[layer], 0 if heads is None else heads[index]
            first = (head * slots + slot if self.by_head else slot * all_heads + head) * d
            if first != stop or index == 0:
                if stop > start:
                    yield self.rows[:, start:stop], slice(met, met + stop - start)
                    met += stop - start
                start = first
            stop = first + width
        yield self.rows[:, start:stop], slice(met, met + stop - start)


class _Work:
    """Room for one target layer's rows, used again for every layer."""

    def __init__(self, plan: Plan, most_rows: int) -> None:
        self._plan = plan
        wide = most_rows * plan.target_heads * plan.target_dim
        exact = _exact(plan.dtype)
        self._out = torch.empty(wide, dtype=plan.dtype, device=plan.device)
        self._ended = self._out if exact == plan.dtype else torch.empty_like(self._out, dtype=exact)
        self._room = torch.empty_like(self._out, dtype=exact)

    def product(
        self, x: _Features, layers: Sequence[int], weight: Tensor, bias: Tensor, choice: HeadChoice | None
    ) -> Tensor:
        """Features times weights plus bias, [rows, t_heads, d]; good until the next call."""
        heads, d = self._plan.target_heads, self._plan.target_dim
        rows = x.rows.shape[0]
        y = self._out[: rows * heads * d].view(rows, heads * d)
        if choice is None:
            _add_up(x.stretches(layers, None), weight, bias, y)
        elif x.rows.device.type != "cpu":
            return _by_head_at_once(x, layers, weight, bias, choice, y.view(heads, rows, d))
        else:
            for head in range(heads):
                columns = slice(head * d, head * d + d)
                stretches = x.stretches(layers, [chosen[head] for chosen in choice])
                _add_up(stretches, weight[head], bias[columns], y[:, columns])
        return y.view(rows, heads, d)

    def end(self, k: Tensor, ending: Ending) -> Tensor:
        """Ends mapped keys [rows, t_heads, d]."""
        if k.dtype != self._ended.dtype:
            k = self._ended[: k.numel()].view(k.shape).copy_(k)
        return ending.apply(k, self._room[: k.numel()].view(k.shape))


@dataclass(frozen=True)
class Turn:
    """A rotation of rows at n positions: x <- x cos + x' sin, x' having the halves of each pair exchanged.

    `cos` and `sin` [n, 1, d] hold sign and scale; past the rotary dimensions they are 1 and 0.
    `pairs` are the dimensions of all first and all second halves.
    """

    cos: Tensor
    sin: Tensor
    pairs: tuple[slice, slice]

    @classmethod
    def of(
        cls, rotation: Rotation, span: slice, dim: int, dtype: torch.dtype, *, inverse: bool = False
    ) -> Turn:
        """The rotation of rows of `dim` at the positions of `span`, or what undoes it."""
        cos, sin = rotation.cos[span].to(dtype), rotation.sin[span].to(dtype)
        if inverse:
            square = rotation.scaling * rotation.scaling
            cos, sin = cos / square, -sin / square
        half = cos.shape[-1]
        if rotation.layout == HALF_SPLIT:
            pairs = slice(half), slice(half, 2 * half)
        else:
            pairs = slice(0, 2 * half, 2), slice(1, 2 * half, 2)
        whole = [torch.full((len(cos), 1, dim), fill, dtype=dtype, device=cos.device) for fill in (1.0, 0.0)]
        for first, second, room in ((cos, cos, whole[0]), (-sin, sin, whole[1])):
            room[:, 0, pairs[0]], room[:, 0, pairs[1]] = first, second
        return cls(*whole, pairs)


def turn_rows(rows: Tensor, turn: Turn | None, out: Tensor) -> None:
    """Writes rows [b, n, h, d], turned, into `out`, which shares no memory with them; any strides."""
    if turn is None:
        out.copy_(rows)
        return
    exact = turn.cos.dtype
    rows = rows.to(exact)
    room = out if out.dtype == exact else torch.empty(rows.shape, dtype=exact, device=out.device)
    torch.mul(rows, turn.cos, out=room)
    for ours, other in (turn.pairs, turn.pairs[::-1]):
        room[..., ours].addcmul_(rows[..., other], turn.sin[..., ours])
    if room is not out:
        out.copy_(room)


def _add_up(stretches: Iterator[tuple[Tensor, slice]], weight: Tensor, bias: Tensor, out: Tensor) -> None:
    for index, (columns, met) in enumerate(stretches):
        torch.addmm(out if index else bias, columns, weight[met], out=out)


def _by_head_at_once(
    x: _Features, layers: Sequence[int], weight: Tensor, bias: Tensor, choice: HeadChoice, out: Tensor
) -> Tensor:
    """All target heads in one batched product, for devices on which many small ones would be slow."""
    heads, rows, d = out.shape
    own = x.rows.new_empty(heads, rows, len(layers), x.source_dim)
    for index, (layer, chosen) in enumerate(zip(layers, choice, strict=True)):
        own[:, :, index].copy_(x.layer(layer)[:, list(chosen)].transpose(0, 1))
    return torch.baddbmm(bias.view(heads, 1, d), own.flatten(2), weight, out=out).transpose(0, 1)


def _put(exact: Tensor, count: int, span: slice, mapped: Tensor) -> None:
    """Writes exact rows [t_heads, >= count, d] over those of `span` that they are."""
    stop = min(count, span.stop)
    if span.start < stop:
        mapped[..., : stop - span.start, :, :] = exact[:, span.start : stop].transpose(0, 1)


def _chunks(batch: int, tokens: int, most: int) -> Iterator[tuple[slice, slice]]:
    """(sequences, tokens) of pieces of at most `most` rows that are about the same size."""
    if tokens <= most:
        step = max(1, most // max(1, tokens))
        for start in range(0, batch, step):
            yield slice(start, min(start + step, batch)), slice(0, tokens)
        return
    pieces = -(-tokens // most)
    bounds = [tokens * piece // pieces for piece in range(pieces + 1)]
    for sequence in range(batch):
        for start, stop in pairwise(bounds):
            yield slice(sequence, sequence + 1), slice(start, stop)


def most_rows(device: torch.device) -> int:
    """Rows that are worth going through a map together on a device."""
    return CHUNK_ROWS if device.type == "cpu" else GPU_CHUNK_ROWS


def _exact(dtype: torch.dtype) -> torch.dtype:
    """What rotations and endings are computed in."""
    return torch.float64 if dtype == torch.float64 else torch.float32
