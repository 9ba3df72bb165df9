"""Whatever stands in a config.json: facts of the right types, or one line that names what cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifeboat_kv.errors import ModelError
from lifeboat_kv.models.config_facts import config_facts
from lifeboat_kv.models.facts import inspect_model
from lifeboat_kv.models.pair_check import causes_against
from lifeboat_kv.models.pair_rules import kinds, own_causes

CASES = Path(__file__).parents[2] / "pairing" / "src" / "cases" / "configs.jsonl"
CONFIGS = [json.loads(line, parse_constant=str)["config"] for line in CASES.read_text().splitlines()]
KEYS = sorted({key for config in CONFIGS for key in config})
TEXTS = st.sampled_from(
    ["full_attention", "sliding_attention", "dynamic", "yarn", "llama", "qwen3", "rope", "NaN", ""]
)
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-3, 5)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.text(max_size=8)
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*KEYS, "rope_type", "type", "factor", "mrope_section"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
CHANGES = st.dictionaries(
    st.sampled_from([*KEYS, "sparse_config", "is_causal"]), VALUES, min_size=1, max_size=4
)

WHOLE = ("num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim")
WHOLE += ("vocab_size", "max_position_embeddings", "sliding_window", "kv_lora_rank", "num_experts")


def check_types(facts: dict[str, Any]) -> None:
    """The types that contracts' ModelFacts asks for."""
    json.dumps(facts, allow_nan=False)
    for name in WHOLE:
        assert facts[name] is None or (type(facts[name]) is int and 0 < facts[name] < 2**31), name
    assert isinstance(facts["model_type"], str)
    assert facts["rope_theta"] is None or facts["rope_theta"] > 0
    assert facts["rope_scaling"] is None or isinstance(facts["rope_scaling"], dict)
    assert facts["use_sliding_window"] in (None, True, False)
    assert facts["layer_types"] is None or all(isinstance(one, str) for one in facts["layer_types"])
    assert facts["quantization"] is None or isinstance(facts["quantization"], str)
    assert facts["torch_dtype"] is None or isinstance(facts["torch_dtype"], str)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(CONFIGS), CHANGES)
def test_any_config_gives_facts_or_one_line(config: dict[str, Any], changes: dict[str, Any]) -> None:
    try:
        facts = config_facts({**config, **changes})
    except ModelError as error:
        assert error.code == "CONFIG_UNREADABLE" and "\n" not in error.message and len(error.message) < 300
        return
    check_types(facts)
    facts["tokenizer"] = None
    assert set(causes_against(facts, facts)) == set(own_causes(facts))


@settings(max_examples=100, deadline=None)
@given(st.text(min_size=1, max_size=20))
def test_a_kind_that_nobody_has_reviewed_is_never_allowed(kind: str) -> None:
    listed = ("full_with_rope", "full_where_layers_are_listed", "not_full", "latent", "without_rope")
    if any(kind in kinds()[name] for name in listed):
        return
    good = next(config for config in CONFIGS if config.get("model_type") == "qwen3")
    assert "family" in own_causes(config_facts({**good, "model_type": kind}))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "1" + "0" * 400])
def test_a_number_that_no_float_holds_is_no_number(tmp_path: Path, number: str) -> None:
    config = f'{{"model_type": "llama", "num_hidden_layers": 2, "time_step_limit": {number}}}'
    (tmp_path / "config.json").write_text(config)
    json.dumps(inspect_model(tmp_path), allow_nan=False)
    (tmp_path / "config.json").write_text(f'{{"model_type": "llama", "rope_theta": {number}}}')
    with pytest.raises(ModelError, match="rope_theta is"):
        inspect_model(tmp_path)


@pytest.mark.parametrize("key", ["text_config", "llm_config", "language_config", "thinker_config"])
def test_a_nested_language_model_is_the_model(key: str) -> None:
    inner = {"model_type": "gemma2", "num_hidden_layers": 4, "sliding_window": 4096, "vocab_size": 9}
    facts = config_facts({"model_type": "outer", "vocab_size": 5, key: inner})
    assert (facts["model_type"], facts["num_hidden_layers"], facts["vocab_size"]) == ("gemma2", 4, 9)
    assert "not_full_attention" in own_causes(facts)
