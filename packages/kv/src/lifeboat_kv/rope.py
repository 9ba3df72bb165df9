"""Rotary position embedding, applied and undone exactly as a model's own module does it.

Formula: Su et al., arXiv:2104.09864. For one pair of dimensions (a, b) at angle t with scale s:
(a, b) -> s * (a cos t - b sin t, b cos t + a sin t); the inverse divides by s squared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from torch import Tensor, nn

from .errors import RopeError

HALF_SPLIT = "half_split"
INTERLEAVED = "interleaved"


class Rope:
    """One model's rotation of keys. Build it with `Rope.from_model`."""

    def __init__(
        self,
        cos_sin: Callable[[Tensor], tuple[Tensor, Tensor]],
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
        self._half_cos_sin = cos_sin
        self.rotary_dim = rotary_dim
        self.scaling = scaling
        self.layout = layout
        self.limit = limit
        self._table: tuple[Tensor, Tensor] | None = None

    @classmethod
    def from_model(cls, model: nn.Module) -> Rope:
        """Reads frequencies, scale, width and layout out of a transformers model.

        Errors: RopeError ROPE_DYNAMIC for a base that changes with length, NO_ROPE where no single
        rotary module is found, ROPE_LAYOUT where its pairing of dimensions cannot be told.
        """
        module = find_rotary(model)
        rope_type = getattr(module, "rope_type", "default")
        if not isinstance(rope_type, str):
            raise RopeError("NO_ROPE", "layers with different rotary embeddings cannot be mapped")
        if "dynamic" in rope_type:
            raise RopeError("ROPE_DYNAMIC", "dynamic NTK scaling changes the base with length and is refused")
        scaling = float(getattr(module, "attention_scaling", 1.0))
        limit = _longrope_limit(module) if rope_type == "longrope" else None
        halves = _half_reader(module)
        rotary_dim = 2 * halves(torch.zeros(1, dtype=torch.long))[0].shape[-1]
        layout = _probe_layout(model, module, rotary_dim)
        return cls(halves, rotary_dim=rotary_dim, scaling=scaling, layout=layout, limit=limit)

    def cos_sin(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin, float32 [T, rotary_dim] in this model's layout, for positions [T] (int64).

        Both carry the model's attention scaling. Errors: RopeError ROPE_LENGTH past `limit`.
        """
        cos, sin = self._halves(positions)
        if self.layout == HALF_SPLIT:
            return torch.cat((cos, cos), dim=-1), torch.cat((sin, sin), dim=-1)
        return cos.repeat_interleave(2, dim=-1), sin.repeat_interleave(2, dim=-1)

    def apply(self, k: Tensor, positions: Tensor) -> Tensor:
        """Content keys [..., T, d] -> rotated keys, same shape and dtype, for positions [T].

        Computed in float32, in float64 for float64 input.
        """
        return self._turn(k, positions, sign=1.0, divide=1.0)

    def strip(self, k: Tensor, positions: Tensor) -> Tensor:
        """Rotated keys [..., T, d] -> content keys: the inverse of `apply`, same shape and dtype."""
        return self._turn(k, positions, sign=-1.0, divide=self.scaling * self.scaling)

    def _turn(self, k: Tensor, positions: Tensor, *, sign: float, divide: float) -> Tensor:
        if k.shape[-2] != positions.shape[-1]:
            raise ValueError(f"{k.shape[-2]} rows but {positions.shape[-1]} positions")
        work = torch.float64 if k.dtype == torch.float64 else torch.float32
        cos, sin = (t.to(device=k.device, dtype=work) for t in self.cos_sin(positions))
        turned = k[..., : self.rotary_dim].to(work)
        turned = turned * cos + self._rotate_half(turned) * (sign * sin)
        if divide != 1.0:
            turned = turned / divide
        turned = turned.to(k.dtype)
        if self.rotary_dim == k.shape[-1]:
            return turned
        return torch.cat((turned, k[..., self.rotary_dim :]), dim=-1)

    def _rotate_half(self, x: Tensor) -> Tensor:
        """(a, b) -> (-b, a) for every pair of dimensions."""
        if self.layout == HALF_SPLIT:
            a, b = x.chunk(2, dim=-1)
            return torch.cat((-b, a), dim=-1)
        return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)

    def _halves(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin [T, rotary_dim / 2] from a table that grows with the largest position seen."""
        positions = positions.to("cpu", torch.long)
        need = int(positions.max()) + 1 if positions.numel() else 1
        if self.limit is not None and need > self.limit:
            raise RopeError(
                "ROPE_LENGTH", f"the frequencies change at {self.limit} positions, {need} were asked"
            )
        if self._table is None or self._table[0].shape[0] < need:
            size = max(need, 512, 0 if self._table is None else 2 * self._table[0].shape[0])
            size = size if self.limit is None else min(size, self.limit)
            self._table = self._half_cos_sin(torch.arange(size))
        cos, sin = self._table
        return cos[positions], sin[positions]


def find_rotary(model: nn.Module) -> nn.Module:
    """The one module of `model` that gives rotary cos and sin. Errors: RopeError NO_ROPE."""
    base = getattr(model, "model", model)
    module = getattr(base, "rotary_emb", None)
    if module is None or not hasattr(module, "inv_freq"):
        raise RopeError("NO_ROPE", f"{type(model).__name__} has no rotary embedding that can be read")
    return module


def _longrope_limit(module: nn.Module) -> int:
    return int(module.config.rope_parameters["original_max_position_embeddings"])


def _half_reader(module: nn.Module) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    """Calls the module itself, and undoes how it repeats the angles over the head's dimensions."""
    device = module.inv_freq.device

    @torch.no_grad()
    def full(positions: Tensor) -> tuple[Tensor, Tensor]:
        like = torch.zeros(1, dtype=torch.float32, device=device)
        cos, sin = module(like, positions.to(device)[None])
        return cos[0].float().cpu(), sin[0].float().cpu()

    sample, _ = full(torch.tensor([3]))
    width = sample.shape[-1]
    count = module.inv_freq.shape[-1]
    if width == count:
        return full
    if width != 2 * count:
        raise RopeError("ROPE_LAYOUT", f"{count} frequencies but {width} cosines")
    if torch.equal(sample[:, :count], sample[:, count:]):
        return lambda positions: tuple(t[:, :count].contiguous() for t in full(positions))
    if torch.equal(sample[:, 0::2], sample[:, 1::2]):
        return lambda positions: tuple(t[:, 0::2].contiguous() for t in full(positions))
    raise RopeError("ROPE_LAYOUT", "the rotary module repeats its angles in an unknown way")


@torch.no_grad()
def _probe_layout(model: nn.Module, module: nn.Module, rotary_dim: int) -> str:
    """Turns a unit vector with the model's own function and sees which dimension it leaks into."""
    function = getattr(sys.modules[type(model).__module__], "apply_rotary_pos_emb", None)
    if function is None:
        return HALF_SPLIT
    cos, sin = module(
        torch.zeros(1, device=module.inv_freq.device), torch.tensor([[1]], device=module.inv_freq.device)
    )
    unit = torch.zeros(1, 1, 1, rotary_dim, device=cos.device)
    unit[..., 0] = 1.0
    _, turned = function(unit, unit.clone(), cos, sin)
    leaked = (turned[0, 0, 0].abs() > 1e-9).nonzero().flatten().tolist()
    partner = [i for i in leaked if i != 0]
    if partner == [rotary_dim // 2] and rotary_dim != 2:
        return HALF_SPLIT
    if partner == [1]:
        return HALF_SPLIT if rotary_dim == 2 else INTERLEAVED
    raise RopeError("ROPE_LAYOUT", f"dimension 0 is paired with {partner}, which is no known layout")
