"""Reading the rotary embedding out of a transformers model, and refusing what cannot be undone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import RopeError

# Positions [T] -> cos and sin [T, rotary_dim / 2], float32 on the CPU.
CosSin = Callable[[Tensor], tuple[Tensor, Tensor]]
_HELD = "_lifeboat_held"
_SHORT, _LONG = "short", "long"


@dataclass(frozen=True)
class Rotary:
    """What a model's rotary module does. `turn` is the model's own rotation of keys [T, rotary_dim]."""

    cos_sin: CosSin
    rotary_dim: int
    scaling: float
    limit: int | None
    turn: Callable[[Tensor, Tensor], Tensor]


def read_rotary(model: nn.Module, length: int | None = None) -> Rotary:
    """Frequencies, width, scale and limit of `model`. For `length` and errors see `Rope.from_model`."""
    module = find_rotary(model)
    rope_type = getattr(module, "rope_type", "default")
    if "dynamic" in rope_type:
        raise RopeError("ROPE_DYNAMIC", "dynamic NTK scaling changes the base with length and is refused")
    limit = _hold(module, length) if rope_type.startswith("longrope") else None
    full = _caller(module)
    halves = _half_reader(full, int(module.inv_freq.shape[-1]))
    scaling = _scale(halves, min(limit or 200, 200))
    rotary_dim = 2 * halves(torch.zeros(1, dtype=torch.long))[0].shape[-1]
    return Rotary(halves, rotary_dim, scaling, limit, _own_turn(model, full))


def find_rotary(model: nn.Module) -> nn.Module:
    """The one module of `model` that gives rotary cos and sin. Errors: RopeError naming the cause."""
    decoder = _decoder(model)
    config = getattr(decoder, "config", None)
    if getattr(config, "kv_lora_rank", None):
        raise RopeError("ROPE_MLA", "latent attention (MLA) keeps no keys per head that could be un-rotated")
    parameters = getattr(config, "rope_parameters", None)
    if isinstance(parameters, dict) and parameters.get("mrope_section"):
        raise RopeError("ROPE_SECTIONS", "positions in several sections (multimodal) cannot be un-rotated")
    if not all(getattr(config, "no_rope_layers", None) or [1]):
        raise RopeError("ROPE_PER_LAYER", "some layers have no rotary embedding, others have")
    found = _with_frequencies(decoder)
    if not found:
        raise RopeError("NO_ROPE", f"{type(model).__name__} has no rotary embedding that can be read")
    if len(found) > 1 or not isinstance(getattr(found[0], "rope_type", ""), str):
        raise RopeError("ROPE_PER_LAYER", "layers with different rotary embeddings cannot be mapped")
    if not hasattr(found[0], "inv_freq"):
        raise RopeError("NO_ROPE", f"{type(found[0]).__name__} has no frequencies that can be read")
    return found[0]


def _decoder(model: nn.Module) -> nn.Module:
    """The part that reads text; the whole model where that cannot be told or turns nothing."""
    find = getattr(model, "get_decoder", None)
    decoder = find() if callable(find) else model
    return decoder if _with_frequencies(decoder) else model


def _with_frequencies(root: nn.Module) -> list[nn.Module]:
    """Modules below `root` that hold inverse frequencies of their own."""
    return [
        module
        for module in root.modules()
        if any(name.endswith("inv_freq") for name, _ in module.named_buffers(recurse=False))
    ]


def _hold(module: nn.Module, length: int | None) -> int | None:
    """Holds a LongRoPE module to one set of frequencies; returns how far they go (None: everywhere).

    transformers chooses by the largest position of each call, so that a growing or a batched cache
    would mix keys of both sets.
    """
    original = int(module.config.rope_parameters["original_max_position_embeddings"])
    held = getattr(module, _HELD, None)
    wanted = held if length is None and held else _LONG if (length or 0) > original else _SHORT
    if held not in (None, wanted):
        raise RopeError("ROPE_LENGTH", f"the model is already held to its {held} frequencies")
    if held is None:
        setattr(module, _HELD, wanted)
        if wanted == _LONG:
            # One call past the original length puts the long set in; under another name it stays there.
            expected = _caller(module)(torch.arange(original + 1))
            module.rope_type = "longrope held to its long factors"
            got = _caller(module)(torch.arange(4))
            if not all(torch.equal(a[:4], b) for a, b in zip(expected, got, strict=True)):
                raise RopeError(
                    "ROPE_LENGTH", f"{type(module).__name__} cannot be held to its long frequencies"
                )
        else:
            module.register_forward_pre_hook(_refuse_past(original), with_kwargs=True)
    return None if wanted == _LONG else original


def _refuse_past(original: int) -> Callable[[nn.Module, tuple[Any, ...], dict[str, Any]], None]:
    def check(module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        positions = named["position_ids"] if "position_ids" in named else args[1]
        if int(positions.max()) >= original:
            raise RopeError("ROPE_LENGTH", f"the frequencies change at {original} positions: keep below them")

    return check


def _caller(module: nn.Module) -> CosSin:
    """Calls the module itself: cos and sin [T, width] as the model gets them."""
    device = module.inv_freq.device

    @torch.no_grad()
    def full(positions: Tensor) -> tuple[Tensor, Tensor]:
        like = torch.zeros(1, dtype=torch.float32, device=device)
        try:
            cos, sin = module(like, position_ids=positions.to(device)[None])
            return cos[0].float().cpu(), sin[0].float().cpu()
        except (TypeError, ValueError, IndexError, KeyError) as error:
            raise RopeError("ROPE_LAYOUT", f"{type(module).__name__} gives no cosines and sines") from error

    return full


def _half_reader(full: CosSin, count: int) -> CosSin:
    """Undoes how a module repeats `count` angles over the head's dimensions."""
    sample, _ = full(torch.tensor([3]))
    width = sample.shape[-1]
    if width == count:
        return full
    if width != 2 * count:
        raise RopeError("ROPE_LAYOUT", f"{count} frequencies but {width} cosines")
    if torch.equal(sample[:, :count], sample[:, count:]):
        return lambda positions: tuple(t[:, :count].contiguous() for t in full(positions))
    if torch.equal(sample[:, 0::2], sample[:, 1::2]):
        return lambda positions: tuple(t[:, 0::2].contiguous() for t in full(positions))
    raise RopeError("ROPE_LAYOUT", "the rotary module repeats its angles in an unknown way")


def _scale(halves: CosSin, reach: int) -> float:
    """What the module multiplies into cos and sin: its cosine at position 0, where every angle is zero."""
    cos, sin = halves(torch.tensor([0, 1, reach - 1]))
    scale = float(cos[0, 0])
    length = (cos.double().square() + sin.double().square()).sqrt()
    if scale <= 0 or not torch.allclose(length, torch.full_like(length, scale), rtol=1e-5, atol=0):
        raise RopeError("ROPE_SCALE", "the rotary module scales its frequencies differently")
    return scale


def _own_turn(model: nn.Module, full: CosSin) -> Callable[[Tensor, Tensor], Tensor]:
    """The model's own `apply_rotary_pos_emb` on keys [T, rotary_dim] at positions [T]."""
    function = getattr(sys.modules[type(model).__module__], "apply_rotary_pos_emb", None)
    if function is None:
        raise RopeError("ROPE_LAYOUT", f"{type(model).__name__} has no rotation of keys that can be read")

    @torch.no_grad()
    def turn(k: Tensor, positions: Tensor) -> Tensor:
        cos, sin = full(positions)
        try:
            return function(k[None, None], k[None, None].clone(), cos[None], sin[None])[1][0, 0]
        except (TypeError, ValueError, RuntimeError) as error:
            raise RopeError(
                "ROPE_LAYOUT", f"{type(model).__name__} rotates keys in an unknown way"
            ) from error

    return turn
