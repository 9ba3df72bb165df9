"""Stripping and applying rotations, against transformers' own modules."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    CohereConfig,
    CohereForCausalLM,
    GlmConfig,
    GlmForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
)
from transformers.models.cohere import modeling_cohere
from transformers.models.glm import modeling_glm
from transformers.models.llama import modeling_llama

from lifeboat_kv.errors import RopeError
from lifeboat_kv.rope import INTERLEAVED, Rope

SMALL = {
    "vocab_size": 32,
    "hidden_size": 64,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 2048,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 256,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 512,
}


def llama(parameters: dict | None = None) -> LlamaForCausalLM:
    return LlamaForCausalLM(LlamaConfig(**SMALL, rope_parameters=parameters))


def own_rotation(model: torch.nn.Module, module, k: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """What the model's own code makes of content keys [heads, T, d]."""
    cos, sin = model.model.rotary_emb(k, positions[None])
    _, turned = module.apply_rotary_pos_emb(k[None], k[None], cos, sin)
    return turned[0]


@pytest.mark.parametrize(
    ("model", "module"),
    [
        (llama(), modeling_llama),
        (llama(LLAMA3), modeling_llama),
        (llama(YARN), modeling_llama),
        (CohereForCausalLM(CohereConfig(**SMALL)), modeling_cohere),
        (GlmForCausalLM(GlmConfig(**SMALL, pad_token_id=0, eos_token_id=1)), modeling_glm),
    ],
    ids=["half-split", "llama3", "yarn", "interleaved", "partial"],
)
@given(start=st.integers(0, 16_300), seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_rotates_as_the_model_does_and_back(model, module, start: int, seed: int) -> None:
    rope = Rope.from_model(model)
    k = torch.randn(2, 5, SMALL["head_dim"], generator=torch.Generator().manual_seed(seed))
    positions = torch.arange(start, start + 5)
    theirs = own_rotation(model, module, k, positions)
    torch.testing.assert_close(rope.apply(k, positions), theirs, rtol=0, atol=2e-6)
    torch.testing.assert_close(rope.strip(theirs, positions), k, rtol=0, atol=5e-6)


def test_layouts_and_scale_are_read_from_the_model() -> None:
    assert Rope.from_model(CohereForCausalLM(CohereConfig(**SMALL))).layout == INTERLEAVED
    partial = Rope.from_model(GlmForCausalLM(GlmConfig(**SMALL, pad_token_id=0, eos_token_id=1)))
    assert (partial.layout, partial.rotary_dim) == (INTERLEAVED, 16)
    assert Rope.from_model(llama(YARN)).scaling > 1


def test_scaled_rotation_divides_by_the_scale_squared() -> None:
    rope = Rope.from_model(llama(YARN))
    k = torch.randn(2, 4, 32)
    turned = rope.apply(k, torch.arange(4))
    torch.testing.assert_close(turned.norm(dim=-1), k.norm(dim=-1) * rope.scaling)


def test_float64_input_stays_float64() -> None:
    rope = Rope.from_model(llama())
    k = torch.randn(2, 4, 32, dtype=torch.float64)
    back = rope.strip(rope.apply(k, torch.arange(4)), torch.arange(4))
    assert back.dtype == torch.float64
    torch.testing.assert_close(back, k, rtol=0, atol=1e-6)


def test_against_an_independent_float64_formula() -> None:
    rope = Rope.from_model(llama())
    k = torch.randn(1, 3, 32, dtype=torch.float64)
    positions = torch.tensor([0, 7, 901])
    turned = rope.apply(k, positions)
    inverse = 10000.0 ** (-torch.arange(0, 32, 2, dtype=torch.float64) / 32)
    z = torch.complex(k[..., :16], k[..., 16:]) * torch.exp(1j * positions[:, None] * inverse)
    torch.testing.assert_close(turned, torch.cat((z.real, z.imag), -1), rtol=0, atol=2e-4)


def test_dynamic_ntk_is_refused() -> None:
    model = llama({"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0})
    with pytest.raises(RopeError) as raised:
        Rope.from_model(model)
    assert raised.value.code == "ROPE_DYNAMIC"


def test_a_model_without_rotation_is_refused() -> None:
    with pytest.raises(RopeError) as raised:
        Rope.from_model(torch.nn.Linear(2, 2))
    assert raised.value.code == "NO_ROPE"
