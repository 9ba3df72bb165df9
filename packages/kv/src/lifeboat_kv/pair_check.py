"""What must hold between two models before a tensor is touched. The family rule lives in pairing."""

from __future__ import annotations

from typing import Any

from .errors import ModelError, PairError

_NEEDED = ("num_hidden_layers", "hidden_size", "num_key_value_heads", "head_dim", "vocab_size")


def causes_against(source: dict[str, Any], target: dict[str, Any]) -> list[str]:
    """Every cause that forbids the pair, by the names pairing uses; empty where none does."""
    causes = []
    digests = {facts["tokenizer"] for facts in (source, target) if facts["tokenizer"]}
    if len(digests) > 1 or source["vocab_size"] != target["vocab_size"]:
        causes.append("tokenizer")
    if source["num_key_value_heads"] != target["num_key_value_heads"]:
        causes.append("kv_heads")
    if source["head_dim"] != target["head_dim"]:
        causes.append("head_dim")
    for facts in (source, target):
        if not full_attention(facts):
            causes.append("not_full_attention")
        if facts.get("kv_lora_rank"):
            causes.append("mla")
        if "dynamic" in str((facts.get("rope_scaling") or {}).get("rope_type", "")):
            causes.append("dynamic_ntk")
        if facts.get("rope_theta") is None:
            causes.append("no_rope")
    return list(dict.fromkeys(causes))


def check_pair(source: dict[str, Any], target: dict[str, Any]) -> None:
    """Errors: PairError PAIR_IMPOSSIBLE naming all causes; ModelError CONFIG_UNREADABLE."""
    for facts in (source, target):
        missing = [name for name in _NEEDED if facts[name] is None]
        if missing:
            raise ModelError("CONFIG_UNREADABLE", f"{facts['id']}: its config states no {', '.join(missing)}")
    causes = causes_against(source, target)
    if causes:
        raise PairError(
            "PAIR_IMPOSSIBLE", f"{source['id']} -> {target['id']} cannot be a pair: {', '.join(causes)}"
        )


def full_attention(facts: dict[str, Any]) -> bool:
    """Whether every layer attends to everything before it."""
    kinds = facts.get("layer_types")
    if kinds:
        return all(kind == "full_attention" for kind in kinds)
    return not facts.get("sliding_window") or facts.get("use_sliding_window") is False
