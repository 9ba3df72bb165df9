"""Rotary position embedding, applied and undone exactly as a model's own module does it.

Formula: Su et al., arXiv:2104.09864. For one pair of dimensions (a, b) at angle t with scale s:
(a, b) -> s * (a cos t - b sin t, b cos t + a sin t); the inverse divides by s squared.

Bounds, with u the unit roundoff of the keys' dtype (2^-24, 2^-8 for bfloat16) and |k| a pair's length:
strip(apply(k)) is within 8 u |k| of k at every position, since both use the same cosines. Against exact
angles, apply is within s |k| (8 u + 4 t 2^-24): the model itself computes the angle t in float32, with
32 t in place of 4 t where its frequencies are blended from two sets (YaRN, llama3) or divided by a list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from ..errors import RopeError
from .rope_reading import CosSin, read_rotary

HALF_SPLIT = "half_split"
INTERLEAVED = "interleaved"
_FIRST_TABLE = 512


@dataclass(frozen=True)
class Rotation:
    """The rotation at T fixed positions; made once, it turns the keys of every layer.

    `cos` and `sin` [T, rotary_dim / 2] carry the model's scale and live where the keys live.
    """

    cos: Tensor
    sin: Tensor
    scaling: float
    layout: str

    def apply(self, k: Tensor) -> Tensor:
        """Content keys [..., T, d] -> rotated keys, same shape and dtype; dimensions past the rotary pass."""
        return self._turn(k, self.cos, self.sin)

    def strip(self, k: Tensor) -> Tensor:
        """Rotated keys [..., T, d] -> content keys: the inverse of `apply`, same shape and dtype."""
        return self._turn(k, *self._inverse)

    @cached_property
    def _inverse(self) -> tuple[Tensor, Tensor]:
        square = self.scaling * self.scaling
        return self.cos / square, -self.sin / square

    def _turn(self, k: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        if k.shape[-2] != cos.shape[0]:
            raise ValueError(f"{k.shape[-2]} rows but {cos.shape[0]} positions")
        width = 2 * cos.shape[-1]
        work = k[..., :width].to(cos.dtype)
        a, b = work.chunk(2, dim=-1) if self.layout == HALF_SPLIT else (work[..., 0::2], work[..., 1::2])
        pair = torch.addcmul(a * cos, b, sin, value=-1), torch.addcmul(b * cos, a, sin)
        turned = torch.cat(pair, -1) if self.layout == HALF_SPLIT else torch.stack(pair, -1).flatten(-2)
        turned = turned.to(k.dtype)
        return turned if width == k.shape[-1] else torch.cat((turned, k[..., width:]), dim=-1)


class Rope:
    """One model's rotation of keys. Build it with `Rope.from_model`."""

    def __init__(
        self,
        cos_sin: CosSin,
        *,
        rotary_dim: int,
        scaling: float = 1.0,
        layout: str = HALF_SPLIT,
        limit: int | None = None,
    ) -> None:
        """`cos_sin` maps positions [T] to cos and sin [T, rotary_dim / 2], both times `scaling`.

        `limit` is the first position the frequencies no longer hold for (LongRoPE), None for none.
        """
        if layout not in (HALF_SPLIT, INTERLEAVED):
            raise RopeError("ROPE_LAYOUT", f"the rotary layout {layout!r} is not known")
        self._read = cos_sin
        self.rotary_dim = rotary_dim
        self.scaling = scaling
        self.layout = layout
        self.limit = limit
        self._tables: dict[torch.device, tuple[Tensor, Tensor]] = {}

    @classmethod
    def from_model(cls, model: nn.Module, *, length: int | None = None) -> Rope:
        """Reads frequencies, scale, width and layout out of a transformers model.

        LongRoPE has two sets of frequencies, and a cache must hold keys of one only. The model is held
        to one set for good: the short one, up to the original length (`limit`), past which it raises
        ROPE_LENGTH instead of switching; with `length` beyond the original length the long one, for
        every position. Errors: RopeError, its code the cause: ROPE_DYNAMIC, ROPE_PER_LAYER, ROPE_MLA,
        ROPE_SECTIONS, ROPE_LAYOUT, ROPE_SCALE, ROPE_LENGTH, NO_ROPE.
        """
        read = read_rotary(model, length)
        made = {
            layout: cls(
                read.cos_sin,
                rotary_dim=read.rotary_dim,
                scaling=read.scaling,
                layout=layout,
                limit=read.limit,
            )
            for layout in (HALF_SPLIT, INTERLEAVED)
        }
        # The model's own function decides: it must turn random keys as one of the two layouts does.
        positions = torch.tensor([0, 1, 2, min(29, (read.limit or 30) - 1)])
        k = torch.randn(4, read.rotary_dim, generator=torch.Generator().manual_seed(0))
        theirs = read.turn(k, positions)
        for rope in made.values():
            if torch.allclose(rope.apply(k, positions), theirs, rtol=0, atol=1e-4 * read.scaling):
                return rope
        raise RopeError(
            "ROPE_LAYOUT", f"{type(model).__name__} pairs the dimensions of a key in no known way"
        )

    def at(
        self, positions: Tensor, device: torch.device | str | None = None, dtype: torch.dtype = torch.float32
    ) -> Rotation:
        """The rotation at positions [T] (int64, on the CPU where no wait for a device is wanted).

        `device` defaults to that of `positions`. Errors: RopeError ROPE_LENGTH; ValueError below zero.
        """
        device = torch.device(device) if device is not None else positions.device
        first, last = (int(positions.min()), int(positions.max())) if positions.numel() else (0, 0)
        if first < 0:
            raise ValueError(f"position {first} is below zero")
        cos, sin = self._table(device, last + 1)
        if positions.numel() == last - first + 1 and bool((positions.diff() == 1).all()):
            cos, sin = cos[first : last + 1], sin[first : last + 1]
        else:
            rows = positions.to(device, torch.long)
            cos, sin = cos[rows], sin[rows]
        return Rotation(cos.to(dtype), sin.to(dtype), self.scaling, self.layout)

    def cos_sin(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin, float32 [T, rotary_dim] in this model's layout, for positions [T] (int64).

        Both carry the model's attention scaling. Errors: RopeError ROPE_LENGTH past `limit`.
        """
        rotation = self.at(positions)
        cos, sin = rotation.cos, rotation.sin
        if self.layout == HALF_SPLIT:
            return torch.cat((cos, cos), dim=-1), torch.cat((sin, sin), dim=-1)
        return cos.repeat_interleave(2, dim=-1), sin.repeat_interleave(2, dim=-1)

    def apply(self, k: Tensor, positions: Tensor) -> Tensor:
        """Content keys [..., T, d] -> rotated keys, same shape and dtype, for positions [T].

        Computed in float32, in float64 for float64 input.
        """
        return self._for(k, positions).apply(k)

    def strip(self, k: Tensor, positions: Tensor) -> Tensor:
        """Rotated keys [..., T, d] -> content keys: the inverse of `apply`, same shape and dtype."""
        return self._for(k, positions).strip(k)

    def _for(self, k: Tensor, positions: Tensor) -> Rotation:
        return self.at(positions, k.device, torch.float64 if k.dtype == torch.float64 else torch.float32)

    def _table(self, device: torch.device, need: int) -> tuple[Tensor, Tensor]:
        """cos and sin [at least `need`, rotary_dim / 2] on `device`; grows with the largest position seen."""
        if self.limit is not None and need > self.limit:
            raise RopeError(
                "ROPE_LENGTH", f"the frequencies change at {self.limit} positions, {need} were asked"
            )
        table = self._tables.get(device)
        if table is None or table[0].shape[0] < need:
            size = max(need, _FIRST_TABLE, 0 if table is None else 2 * table[0].shape[0])
            size = size if self.limit is None else min(size, self.limit)
            cos, sin = self._read(torch.arange(size))
            table = self._tables[device] = (cos.to(device), sin.to(device))
        return table


def context_tokens(model: nn.Module, rope: Rope) -> int | None:
    """The longest sequence the model and its frequencies are good for; None where nothing bounds it."""
    bounds = (getattr(model.config, "max_position_embeddings", None), rope.limit)
    return min((int(b) for b in bounds if b), default=None)


@torch.no_grad()
def check_rotation(model: nn.Module, rope: Rope, *, tokens: int = 12, shift: int = 37) -> None:
    """Proves on the model itself that `rope` un-rotates its cache, in every layer.

    Content keys do not depend on where a sequence starts, only rotated ones do. So the same tokens at
    positions 0 ... and at `shift` ... must leave the same keys once stripped; a layer that rotates
    otherwise, or not at all, cannot. Errors: RopeError ROPE_PER_LAYER naming the first such layer.
    """
    body: Callable = getattr(model, model.base_model_prefix, model)
    ids = torch.randint(
        int(model.config.vocab_size), (1, tokens), generator=torch.Generator().manual_seed(1)
    ).to(model.device)
    kept = []
    for start in (0, shift):
        positions = torch.arange(start, start + tokens)
        try:
            out = body(input_ids=ids, position_ids=positions[None].to(model.device), use_cache=True)
            keys = [layer.keys.double() for layer in out.past_key_values.layers]
        except (AttributeError, TypeError, ValueError) as error:
            raise RopeError("ROPE_PER_LAYER", "a layer keeps no keys of its tokens in the cache") from error
        kept.append([rope.strip(k, positions) for k in keys])
    most = 1e-2 if model.dtype in (torch.float32, torch.float64) else 0.4
    for layer, (here, there) in enumerate(zip(*kept, strict=True)):
        if float((here - there).norm()) > most * float(here.norm()):
            raise RopeError(
                "ROPE_PER_LAYER", f"layer {layer} rotates its keys otherwise than the model's module"
            )
