"""What forbids a model's cache from being carried, read from its facts alone.

packages/pairing is the authority and says it in sentences; these are the same rules by the names of their
causes, so that nothing is fitted or served that pairing would refuse. kinds.json is a copy of pairing's.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

Facts = dict[str, Any]


@cache
def kinds() -> dict[str, Any]:
    """What is known of kinds of models (`model_type`)."""
    return json.loads((Path(__file__).parent / "kinds.json").read_text(encoding="utf-8"))


def own_causes(facts: Facts) -> list[str]:
    """Causes that lie with one model, in pairing's order; "family" where nothing is known of its kind."""
    causes = [
        ("family", not is_known(facts)),
        ("kv_heads", facts.get("num_key_value_heads") is None),
        ("head_dim", facts.get("head_dim") is None),
        ("not_full_attention", not full_attention(facts)),
        ("mla", _is_latent(facts)),
        ("no_rope", _lacks_rope(facts)),
        ("dynamic_ntk", _is_dynamic(facts)),
        ("head_dim", _has_uneven_heads(facts)),
    ]
    return list(dict.fromkeys(name for name, holds in causes if holds))


def is_known(facts: Facts) -> bool:
    """Whether the kind is in one of the lists and the config states what is needed of any."""
    known = kinds()
    kind = facts.get("model_type") or ""
    listed = ("full_with_rope", "full_where_layers_are_listed", "not_full", "latent", "without_rope")
    needed = ("num_hidden_layers", "hidden_size", "vocab_size")
    return any(kind in known[name] for name in listed) and all(_positive(facts.get(n)) for n in needed)


def full_attention(facts: Facts) -> bool:
    """Whether every layer attends to everything before it, and to nothing else."""
    listed, others = _named_layers(facts)
    trusted = listed and _kind_in(facts, "full_where_layers_are_listed")
    if others or _has_window(facts, listed) or _has_other_mixers(facts, trusted) or _has_unknown_signs(facts):
        return False
    return trusted or not _kind_in(facts, "not_full")


def _named_layers(facts: Facts) -> tuple[bool, bool]:
    """(some list names the layers' kinds, one of them is not full attention)."""
    listed = others = False
    for key in kinds()["layer_lists"]:
        layers = facts.get(key)
        if isinstance(layers, list) and layers:
            listed = True
            others |= any(str(layer) not in kinds()["full_layers"] for layer in layers)
    types, flags = facts.get("attention_types"), facts.get("attn_type_list")
    local = isinstance(types, list) and re.search("local|sliding|linear", json.dumps(types))
    linear = isinstance(flags, list) and any(_number(flag) == 0 for flag in flags)
    return listed, bool(others or local or linear)


def _has_window(facts: Facts, listed: bool) -> bool:
    if listed:
        return False
    if _positive(facts.get("attention_chunk_size")):
        return True
    window = _positive(facts.get("sliding_window")) or _positive(facts.get("sliding_window_size"))
    use, start = facts.get("use_sliding_window"), _number(facts.get("max_window_layers"))
    layers, context = facts.get("num_hidden_layers"), _positive(facts.get("max_position_embeddings"))
    if window is None or use is False or (use is not True and _kind_in(facts, "window_off_by_default")):
        return False
    if use is True and start is not None and layers is not None and start >= layers:
        return False
    if _number(facts.get("sliding_window_pattern")) == 1:
        return False
    return context is None or window < context


def _has_other_mixers(facts: Facts, trusted: bool) -> bool:
    state_space = re.compile(kinds()["state_space_keys"])
    if not trusted and any(state_space.search(key) and _is_set(value) for key, value in facts.items()):
        return True
    periods = ("attn_layer_period", "full_attention_interval", "attention_layer_period")
    if any((_number(facts.get(key)) or 0) > 1 for key in periods):
        return True
    chosen = facts.get("attn_layer_indices")
    chosen = facts.get("full_attn_idxs") if chosen is None else chosen
    layers = facts.get("num_hidden_layers")
    if isinstance(chosen, list) and (layers is None or len(chosen) < layers):
        return True
    pattern, cross = facts.get("hybrid_override_pattern"), facts.get("cross_attention_layers")
    blocks = facts.get("block_configs")
    return bool(
        (isinstance(pattern, str) and re.search("[Mm]", pattern))
        or isinstance(facts.get("blocksparse_params"), dict)
        or _positive(facts.get("num_kv_shared_layers"))
        or facts.get("use_cla") is True
        or (isinstance(cross, list) and cross)
        or facts.get("is_encoder_decoder") is True
        or facts.get("is_causal") is False
        or facts.get("use_bidirectional_attention") is True
        or (isinstance(blocks, list) and len({json.dumps(block) for block in blocks}) > 1)
    )


def _has_unknown_signs(facts: Facts) -> bool:
    """Settings by whose name alone attention may be another, unless known to be harmless."""
    suspicious = re.compile(kinds()["suspicious_keys"], re.IGNORECASE)
    state_space = re.compile(kinds()["state_space_keys"])
    harmless = {*kinds()["harmless_keys"], *kinds()["layer_lists"]}
    return any(
        suspicious.search(key) and key not in harmless and not state_space.search(key) and _is_set(value)
        for key, value in facts.items()
    )


def _is_latent(facts: Facts) -> bool:
    names = ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim")
    return any(_positive(facts.get(name)) for name in names) or _kind_in(facts, "latent")


def _has_uneven_heads(facts: Facts) -> bool:
    width, head = _number(facts.get("v_head_dim")), facts.get("head_dim")
    return not _is_latent(facts) and width is not None and head is not None and width != head


def _lacks_rope(facts: Facts) -> bool:
    named = ("position_embedding_type", "position_embeddings_type", "positional_encoding_type")
    embedding = next((facts[key] for key in named if facts.get(key) is not None), None)
    rotates = isinstance(embedding, str) and re.match("rope|rotary", embedding, re.IGNORECASE)
    shares = ("partial_rotary_factor", "rotary_pct", "rotary_dim")
    types = _rope_types(facts)
    if (
        (isinstance(embedding, str) and not rotates)
        or facts.get("alibi") is True
        or facts.get("use_alibi") is True
        or any(facts.get(key) is False for key in ("use_rope", "rope", "use_rotary", "rotary"))
        or any(_number(facts.get(key)) == 0 for key in shares)
        or _has_layers_without_rope(facts)
        or any(t not in (*kinds()["rope_can_be_undone"], *kinds()["rope_changes_with_length"]) for t in types)
        or _kind_in(facts, "without_rope")
    ):
        return True
    stated = ("rope_theta", "rotary_emb_base", *shares, "rope_parameters")
    known = any(_kind_in(facts, name) for name in ("full_with_rope", "latent", "not_full"))
    return not (rotates or types or known or any(facts.get(key) is not None for key in stated))


def _has_layers_without_rope(facts: Facts) -> bool:
    kind = facts.get("model_type") or ""
    layers = facts.get("no_rope_layers")
    layers = facts.get("nope_layers") if layers is None else layers
    if isinstance(layers, list) and layers:
        flags = all(isinstance(one, bool) or _number(one) in (0, 1) for one in layers)
        return not flags or not all(layers)
    interval = facts.get("no_rope_layer_interval")
    interval = facts.get("nope_layer_interval") if interval is None else interval
    if _positive(interval) or kind == "smollm3" or kind.startswith("llama4"):
        return True
    windowed = _positive(facts.get("sliding_window")) or not isinstance(facts.get("layer_types"), list)
    return kind in ("cohere2", "exaone_moe", "afmoe") or (kind == "exaone4" and bool(windowed))


def _is_dynamic(facts: Facts) -> bool:
    dynamic = kinds()["rope_changes_with_length"]
    return facts.get("use_dynamic_ntk") is True or any(t in dynamic for t in _rope_types(facts))


def _rope_types(facts: Facts) -> set[str]:
    """RoPE types named by any spelling, by layer kind where the config gives one for each."""
    found: set[str] = set()

    def visit(value: Any, depth: int) -> None:
        if not isinstance(value, dict) or depth > 2:
            return
        found.update(value[k].lower() for k in ("rope_type", "type") if isinstance(value.get(k), str))
        if isinstance(value.get("mrope_section"), list):
            found.add("mrope")
        for inner in value.values():
            visit(inner, depth + 1)

    visit(facts.get("rope_scaling"), 0)
    visit(facts.get("rope_parameters"), 0)
    return found


def _kind_in(facts: Facts, name: str) -> bool:
    return (facts.get("model_type") or "") in kinds()[name]


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _positive(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and 0 < number < math.inf else None


def _is_set(value: Any) -> bool:
    """Whether a config's value says something: not null, not off, not empty."""
    return value not in (None, False, 0, "", [], {})
