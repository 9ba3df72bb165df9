"""Rotations read from transformers' own model classes, and models that are refused by cause."""

from __future__ import annotations

import copy
import sys
from functools import cache
from typing import Any

import pytest
import torch
import transformers

from lifeboat_kv.errors import EXIT_IMPOSSIBLE_PAIR, RopeError, UsageError
from lifeboat_kv.models.side import Side
from lifeboat_kv.moments.capture import prefill
from lifeboat_kv.rotation.rope import HALF_SPLIT, INTERLEAVED, Rope, check_rotation
from lifeboat_kv.score.footprint import LONGEST_SEQ_LEN, check_reach, check_seq_len, shared_context

OLD = 64
SMALL = {
    "vocab_size": 64,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "bos_token_id": 2,
}
WIDE = {"head_dim": 16}
YARN = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0, "original_max_position_embeddings": 256}
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10_000.0,
    "partial_rotary_factor": 0.75,
    "short_factor": [1 + i / 20 for i in range(6)],
    "long_factor": [1 + 2.0 * i for i in range(6)],
    "original_max_position_embeddings": OLD,
}
PHI3 = {"rope_parameters": LONGROPE, "original_max_position_embeddings": OLD}

# Name of the class, what its config says besides, layout and rotated dimensions of sixteen.
READ = [
    ("Llama", {}, HALF_SPLIT, 16),
    ("Qwen2", {}, HALF_SPLIT, 16),
    ("Qwen3", WIDE, HALF_SPLIT, 16),
    (
        "Qwen3Moe",
        {**WIDE, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32},
        HALF_SPLIT,
        16,
    ),
    ("Mistral", {}, HALF_SPLIT, 16),
    (
        "Ministral3",
        {
            **WIDE,
            "rope_parameters": {**YARN, "mscale": 1.0, "mscale_all_dim": 0.5, "llama_4_scaling_beta": 0.1},
        },
        HALF_SPLIT,
        16,
    ),
    ("Phi3", PHI3, HALF_SPLIT, 12),
    ("GPTNeoX", {}, HALF_SPLIT, 4),
    ("StableLm", {}, HALF_SPLIT, 4),
    ("Nemotron", {}, HALF_SPLIT, 8),
    ("Cohere", {}, INTERLEAVED, 16),
    ("Glm", WIDE, INTERLEAVED, 8),
    ("Glm4", WIDE, INTERLEAVED, 8),
    ("Ernie4_5", WIDE, INTERLEAVED, 16),
]
REFUSED = [
    ("DeepseekV2", {"kv_lora_rank": 16, "q_lora_rank": None}, "ROPE_MLA"),
    ("DeepseekV3", {"kv_lora_rank": 16, "q_lora_rank": 16}, "ROPE_MLA"),
    ("Gemma3", WIDE, "ROPE_PER_LAYER"),
    ("Olmo3", {}, "ROPE_PER_LAYER"),
    ("ModernBertDecoder", {}, "ROPE_PER_LAYER"),
    ("SmolLM3", {}, "ROPE_PER_LAYER"),
    ("Llama4", WIDE, "ROPE_PER_LAYER"),
    ("NanoChat", {}, "ROPE_LAYOUT"),
    ("GPTJ", {}, "NO_ROPE"),
    ("OPT", {}, "NO_ROPE"),
    ("Bloom", {}, "NO_ROPE"),
    (
        "Llama",
        {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}},
        "ROPE_DYNAMIC",
    ),
    (
        "Llama",
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 3, 3]}},
        "ROPE_SECTIONS",
    ),
]
# Classes whose text config has a name of its own.
CONFIGS = {"Gemma3": "Gemma3TextConfig", "Llama4": "Llama4TextConfig"}


def build(name: str, extra: dict[str, Any]) -> Any:
    """A tiny model of class `name` with random weights."""
    torch.manual_seed(0)
    config = getattr(transformers, CONFIGS.get(name, f"{name}Config"))(**{**SMALL, **copy.deepcopy(extra)})
    return getattr(transformers, f"{name}ForCausalLM")(config).eval().requires_grad_(False)


@cache
def model(index: int) -> Any:
    return build(*READ[index][:2])


every_class = pytest.mark.parametrize("index", range(len(READ)), ids=[row[0] for row in READ])


@every_class
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_turns_keys_as_the_class_s_own_code_does(index: int, dtype: torch.dtype) -> None:
    one = model(index)
    rope = Rope.from_model(one)
    assert (rope.layout, rope.rotary_dim) == READ[index][2:]
    at = torch.tensor([0, 1, 5, 33, (rope.limit or 4096) - 1])
    k = torch.randn(2, 5, rope.rotary_dim, generator=torch.Generator().manual_seed(index)).to(dtype)
    module = next(m for m in one.modules() if hasattr(m, "inv_freq"))
    cos, sin = module(k, position_ids=at[None])
    own = sys.modules[type(one).__module__].apply_rotary_pos_emb(k[None], k[None].clone(), cos, sin)[1][0]
    # In bfloat16 the model rounds cosines and products as well; the float32 bound is rope.py's.
    bound = rope.scaling * k.float().norm(dim=-1, keepdim=True) * (8 if dtype == torch.float32 else 4)
    unit = 2.0**-24 if dtype == torch.float32 else 2.0**-8
    assert ((rope.apply(k, at).float() - own.float()).abs() <= bound * unit).all()
    assert ((rope.strip(own, at).float() - k.float()).abs() <= bound / rope.scaling * unit).all()


@every_class
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_every_layer_of_the_cache_is_un_rotated(index: int, dtype: torch.dtype) -> None:
    """Content keys do not depend on where a sequence starts; a wrong rotation would."""
    one = model(index).to(dtype)
    try:
        rope = Rope.from_model(one)
        check_rotation(one, rope, shift=40)
        for broken in wrong(rope):
            with pytest.raises(RopeError) as raised:
                check_rotation(one, broken, shift=40)
            assert raised.value.code == "ROPE_PER_LAYER"
    finally:
        one.float()


def wrong(rope: Rope) -> list[Rope]:
    """The rotation in the other layout, backwards, and with another base."""

    def read(change):
        return lambda positions: change(*rope._read(positions))

    def made(layout: str, change) -> Rope:
        return Rope(
            read(change), rotary_dim=rope.rotary_dim, scaling=rope.scaling, layout=layout, limit=rope.limit
        )

    other = INTERLEAVED if rope.layout == HALF_SPLIT else HALF_SPLIT
    same = lambda cos, sin: (cos, sin)  # noqa: E731
    return [
        made(other, same),
        made(rope.layout, lambda cos, sin: (cos, -sin)),
        made(rope.layout, lambda cos, sin: (cos.flip(-1), sin.flip(-1))),
        made(rope.layout, lambda cos, sin: (torch.ones_like(cos), torch.zeros_like(sin))),
    ]


@pytest.mark.parametrize(("name", "extra", "code"), REFUSED, ids=[f"{r[0]}-{r[2]}" for r in REFUSED])
def test_refused_by_cause(name: str, extra: dict[str, Any], code: str) -> None:
    with pytest.raises(RopeError) as raised:
        Rope.from_model(build(name, extra))
    assert raised.value.code == code
    assert raised.value.exit_code == EXIT_IMPOSSIBLE_PAIR


def test_layers_without_keys_of_their_own_are_refused() -> None:
    extra = {"head_dim": 16, "layer_types": ["linear_attention", "full_attention"] * 2}
    hybrid = build("MiniMax", extra)
    with pytest.raises(RopeError) as raised:
        check_rotation(hybrid, Rope.from_model(hybrid))
    assert raised.value.code == "ROPE_PER_LAYER"


def test_no_model_at_all() -> None:
    with pytest.raises(RopeError) as raised:
        Rope.from_model(torch.nn.Linear(2, 2))
    assert raised.value.code == "NO_ROPE"


@pytest.mark.parametrize("length", [None, OLD + 1], ids=["short", "long"])
def test_longrope_is_the_class_s_own_for_a_whole_sequence(length: int | None) -> None:
    """transformers chooses by the whole sequence: short up to the original length, long beyond."""
    free, held = build("Phi3", PHI3), build("Phi3", PHI3)
    rope = Rope.from_model(held, length=length)
    tokens = OLD if length is None else 3 * OLD
    ids = torch.randint(64, (1, tokens), generator=torch.Generator().manual_seed(2))
    theirs, _ = prefill(free, ids)
    ours, _ = prefill(held, ids)
    at = torch.arange(tokens)
    for (k, v), (own_k, own_v) in zip(ours, theirs, strict=True):
        torch.testing.assert_close((k, v), (own_k, own_v))
    first = free.model.layers[0]
    hidden = first.input_layernorm(free.model.embed_tokens(ids))
    content = first.self_attn.qkv_proj(hidden)[..., 64:96].unflatten(-1, (2, 16)).transpose(1, 2)
    torch.testing.assert_close(rope.strip(theirs[0][0], at), content, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(rope.apply(content, at), theirs[0][0], rtol=1e-4, atol=1e-5)


def test_a_model_held_to_its_short_frequencies_refuses_what_would_switch_them() -> None:
    held = build("Phi3", PHI3)
    Rope.from_model(held)
    cache = held.model(torch.zeros(1, OLD - 1, dtype=torch.long), use_cache=True).past_key_values
    held.model(torch.zeros(1, 1, dtype=torch.long), past_key_values=cache)
    with pytest.raises(RopeError) as raised:
        held.model(torch.zeros(1, 1, dtype=torch.long), past_key_values=cache)
    assert raised.value.code == "ROPE_LENGTH"
    with pytest.raises(RopeError):
        held.model(torch.zeros(1, OLD + 1, dtype=torch.long))


def test_sequences_and_answers_must_fit_into_context_and_frequencies() -> None:
    narrow, wide = build("Phi3", PHI3), build("Qwen3", WIDE)
    sides = [Side(one, Rope.from_model(one)) for one in (narrow, wide)]
    assert shared_context(*sides) == OLD
    assert shared_context(sides[1], sides[1]) == 4096
    check_reach(4096 - 64, sides[1], sides[1])
    for longest, pair in ((OLD - 63, sides), (4096 - 63, [sides[1], sides[1]])):
        with pytest.raises(UsageError) as raised:
            check_reach(longest, *pair)
        assert raised.value.code == "BAD_SEQ_LEN" and "--seq-len" in raised.value.message
    for fitting, context in ((OLD, OLD), (LONGEST_SEQ_LEN, None), (LONGEST_SEQ_LEN, 1 << 30)):
        check_seq_len(fitting, context)
        with pytest.raises(UsageError) as raised:
            check_seq_len(fitting + 1, context)
        assert (raised.value.code, raised.value.exit_code) == ("BAD_SEQ_LEN", 2)


def test_a_model_held_to_its_long_frequencies_keeps_them_for_short_sequences() -> None:
    held = build("Phi3", PHI3)
    rope = Rope.from_model(held, length=2 * OLD)
    ids = torch.randint(64, (1, 2 * OLD), generator=torch.Generator().manual_seed(3))
    whole, _ = prefill(held, ids)
    part, _ = prefill(held, ids[:, :8])
    torch.testing.assert_close(part[-1][0], whole[-1][0][:, :, :8], rtol=1e-4, atol=1e-5)
    check_rotation(held, rope)
    assert Rope.from_model(held).limit is None
    with pytest.raises(RopeError) as raised:
        Rope.from_model(held, length=OLD)
    assert raised.value.code == "ROPE_LENGTH"


def test_scales_that_differ_by_frequency_are_refused() -> None:
    one = build("Llama", {})
    real = one.model.rotary_emb.forward

    def uneven(x, position_ids):
        cos, sin = real(x, position_ids)
        size = torch.linspace(1, 2, 8).repeat(2)
        return cos * size, sin * size

    one.model.rotary_emb.forward = uneven
    with pytest.raises(RopeError) as raised:
        Rope.from_model(one)
    assert raised.value.code == "ROPE_SCALE"
