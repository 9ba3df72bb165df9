"""Stripping and applying rotations, against float64 formulas; the bounds are those rope.py states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rope_formulas import frequencies, pair_lengths, per_dimension, rotate, scale
from transformers import (
    CohereConfig,
    CohereForCausalLM,
    GlmConfig,
    GlmForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
)

from lifeboat_kv.errors import RopeError
from lifeboat_kv.rotation.rope import HALF_SPLIT, INTERLEAVED, Rope, context_tokens

CONTEXT = 131_072
FITTED = 1_024
SMALL = {
    "vocab_size": 32,
    "hidden_size": 128,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "max_position_embeddings": CONTEXT,
    "pad_token_id": 0,
    "eos_token_id": 1,
}
OLD = 4096
PLAIN = {"rope_type": "default", "rope_theta": 10_000.0}
YARN = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 32.0, "original_max_position_embeddings": OLD}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10_000.0,
    "partial_rotary_factor": 0.75,
    "short_factor": [1 + i / 100 for i in range(24)],
    "long_factor": [1 + 2.0 * i for i in range(24)],
    "original_max_position_embeddings": OLD,
}


@dataclass(frozen=True)
class Case:
    """A model and what the formulas say of it; `reach` is the longest sequence it may hold."""

    rope: Rope
    turns: np.ndarray
    size: float
    reach: int = CONTEXT

    def slack(self, at: torch.Tensor, unit: float) -> np.ndarray:
        """The stated bound of a rotation as a share of its pair's length, [T, 64].

        The model computes its angles in float32; where it blends frequencies, they are less exact.
        """
        angles = at.numpy()[:, None] * per_dimension(self.turns, 64, interleaved=self.interleaved)
        blended = not np.array_equal(self.turns, frequencies(PLAIN, 2 * len(self.turns)))
        return 8 * unit + (32 if blended else 4) * angles * 2.0**-24

    @property
    def interleaved(self) -> bool:
        return self.rope.layout == INTERLEAVED

    def rotated(self, k: torch.Tensor, positions: torch.Tensor) -> np.ndarray:
        exact = k.double().numpy()
        return rotate(exact, positions.numpy(), self.turns, self.size, interleaved=self.interleaved)

    def lengths(self, k: torch.Tensor) -> np.ndarray:
        return pair_lengths(k.double().numpy(), len(self.turns), interleaved=self.interleaved)


def llama(parameters: dict | None = None) -> LlamaForCausalLM:
    return LlamaForCausalLM(LlamaConfig(**SMALL, rope_parameters=parameters))


def phi3() -> Phi3ForCausalLM:
    sizes = {k: v for k, v in SMALL.items() if k != "head_dim"}
    return Phi3ForCausalLM(
        Phi3Config(**sizes, rope_parameters=dict(LONGROPE), original_max_position_embeddings=OLD)
    )


def case_of(parameters: dict) -> Case:
    rope = Rope.from_model(llama(parameters))
    return Case(rope, frequencies(parameters, 64), scale(parameters, CONTEXT))


@cache
def case(name: str) -> Case:
    if name == "interleaved":
        return Case(
            Rope.from_model(CohereForCausalLM(CohereConfig(**SMALL, rope_parameters=dict(PLAIN)))),
            frequencies({}, 64),
            1.0,
        )
    if name == "partial":
        return Case(
            Rope.from_model(
                GlmForCausalLM(GlmConfig(**SMALL, rope_parameters={**PLAIN, "partial_rotary_factor": 0.5}))
            ),
            frequencies({}, 32),
            1.0,
        )
    if name == "longrope":
        rope = Rope.from_model(phi3())
        return Case(rope, frequencies(LONGROPE, 48), scale(LONGROPE, CONTEXT), OLD)
    if name == "longrope-long":
        rope = Rope.from_model(phi3(), length=OLD + 1)
        return Case(rope, frequencies(LONGROPE, 48, long=True), scale(LONGROPE, CONTEXT))
    return case_of(
        {
            "half-split": PLAIN,
            "wide-base": {"rope_type": "default", "rope_theta": 1e7},
            "linear": {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 4.0},
            "llama3": LLAMA3,
            "yarn": YARN,
            "yarn-mscale": {
                **YARN,
                "mscale": 1.0,
                "mscale_all_dim": 0.3,
                "beta_fast": 24.0,
                "beta_slow": 2.0,
            },
            "yarn-attention-factor": {**YARN, "attention_factor": 1.7},
            "yarn-not-truncated": {**YARN, "truncate": False},
        }[name]
    )


NAMES = [
    "half-split",
    "wide-base",
    "linear",
    "llama3",
    "yarn",
    "yarn-mscale",
    "yarn-attention-factor",
    "yarn-not-truncated",
    "interleaved",
    "partial",
    "longrope",
    "longrope-long",
]
UNIT = {torch.float32: 2.0**-24, torch.bfloat16: 2.0**-8}
seeds = st.integers(0, 1 << 30)


def keys(seed: int, size: float, dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (size * torch.randn(2, 6, 64, generator=generator)).to(dtype)


def places(start: float, reach: int) -> torch.Tensor:
    """Six positions from a share of the reach on; the sixth is the last there is."""
    first = int(start * (reach - 6))
    return torch.tensor([*range(first, first + 5), reach - 1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", UNIT, ids=str)
@given(start=st.floats(0, 1), seed=seeds, size=st.sampled_from([1e-3, 1.0, 1e3]))
@example(start=0.0, seed=0, size=1.0)
@example(start=32 * FITTED / CONTEXT, seed=0, size=1.0)
@example(start=1.0, seed=0, size=1.0)
@settings(max_examples=25, deadline=None)
def test_both_ways_within_the_stated_bounds(name: str, dtype, start: float, seed: int, size: float) -> None:
    """At every position up to the whole context, which is 128 times the fitted length."""
    one = case(name)
    k, at = keys(seed, size, dtype), places(start, one.reach)
    turned = one.rope.apply(k, at)
    assert turned.dtype == dtype
    allowed = one.size * one.lengths(k) * one.slack(at, UNIT[dtype])
    assert (np.abs(turned.double().numpy() - one.rotated(k, at)) <= allowed).all()
    back = one.rope.strip(turned, at).double().numpy()
    assert (np.abs(back - k.double().numpy()) <= 8 * UNIT[dtype] * one.lengths(k)).all()


@pytest.mark.parametrize("name", NAMES)
@given(start=st.floats(0, 1), seed=seeds)
@settings(max_examples=10, deadline=None)
def test_stripping_what_the_formula_rotated(name: str, start: float, seed: int) -> None:
    """The inverse alone, in float64: keys rotated by the formula come back as they were."""
    one = case(name)
    k, at = keys(seed, 1.0, torch.float64), places(start, one.reach)
    back = one.rope.strip(torch.from_numpy(one.rotated(k, at)), at)
    assert back.dtype == torch.float64
    error = np.abs(back.numpy() - k.numpy())
    assert (error <= one.lengths(k) * one.slack(at, UNIT[torch.float32])).all()


@pytest.mark.parametrize("name", NAMES)
def test_scale_and_width_are_the_formula_s(name: str) -> None:
    one = case(name)
    assert one.rope.scaling == pytest.approx(one.size, rel=1e-6)
    assert one.rope.rotary_dim == 2 * len(one.turns)
    assert one.rope.layout == (INTERLEAVED if name in ("interleaved", "partial") else HALF_SPLIT)
    assert one.rope.limit == (OLD if name == "longrope" else None)


def test_longrope_refuses_what_lies_past_its_short_frequencies() -> None:
    model = phi3()
    rope = Rope.from_model(model)
    k = torch.randn(2, 1, 64)
    rope.strip(k, torch.tensor([OLD - 1]))
    for act in (rope.strip, rope.apply):
        with pytest.raises(RopeError) as raised:
            act(k, torch.tensor([OLD]))
        assert raised.value.code == "ROPE_LENGTH"
    assert context_tokens(model, rope) == OLD
    assert context_tokens(llama(), case("half-split").rope) == CONTEXT


def test_positions_in_any_order_and_none_below_zero() -> None:
    one = case("yarn")
    at = torch.tensor([5, 70_000, 5, 0, 6, 7])
    k = keys(1, 1.0, torch.float64)
    turned = one.rope.apply(k, at)
    for row, position in enumerate(at):
        alone = one.rope.apply(k[:, row : row + 1], position[None])
        assert torch.equal(turned[:, row : row + 1], alone)
    assert one.rope.apply(k[:, :0], at[:0]).shape == (2, 0, 64)
    backwards = torch.tensor([8, 7, 6, 5, 4, 3])
    assert torch.equal(one.rope.apply(k, backwards), one.rope.apply(k.flip(1), backwards.flip(0)).flip(1))
    for below in ([-1, 0], [-1, 5]):
        with pytest.raises(ValueError):
            one.rope.apply(k[:, :2], torch.tensor(below))
    with pytest.raises(ValueError):
        one.rope.apply(k, at[:3])


def test_one_rotation_turns_every_layer() -> None:
    one = case("partial")
    at = torch.arange(100, 106)
    rotation = one.rope.at(at)
    for seed in range(3):
        k = keys(seed, 1.0, torch.float32)
        assert torch.equal(rotation.apply(k), one.rope.apply(k, at))
        assert torch.equal(rotation.strip(k), one.rope.strip(k, at))
    cos, sin = one.rope.cos_sin(at)
    turned = torch.stack((-k[..., 1:32:2], k[..., 0:32:2]), -1).flatten(-2)
    torch.testing.assert_close(rotation.apply(k)[..., :32], k[..., :32] * cos + turned * sin)


def test_gradients_pass_through() -> None:
    one = case("half-split")
    k = keys(0, 1.0, torch.float32).requires_grad_()
    at = torch.arange(6)
    one.rope.apply(k, at).sum().backward()
    wanted = one.rope.strip(torch.ones_like(k), at)
    torch.testing.assert_close(k.grad, wanted.detach())
