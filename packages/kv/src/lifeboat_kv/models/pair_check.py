"""What must hold between two models before a tensor is touched. The table of families lives in pairing."""

from __future__ import annotations

from typing import Any

from ..errors import ModelError, PairError
from .pair_rules import full_attention, own_causes

__all__ = ["causes_against", "check_pair", "full_attention"]

_ORDER = (
    "family",
    "tokenizer",
    "kv_heads",
    "head_dim",
    "not_full_attention",
    "mla",
    "no_rope",
    "dynamic_ntk",
)
_NEEDED = ("num_hidden_layers", "hidden_size", "num_key_value_heads", "head_dim", "vocab_size")


def causes_against(source: dict[str, Any], target: dict[str, Any]) -> list[str]:
    """Every cause that forbids the pair, by the names pairing uses; empty where none does.

    All of pairing's causes but one: which reviewed family two known kinds belong to is decided there.
    """
    found = {*own_causes(source), *own_causes(target)}
    digests = {facts.get("tokenizer") for facts in (source, target)}
    if len(digests) > 1 or source["vocab_size"] != target["vocab_size"]:
        found.add("tokenizer")
    if source["num_key_value_heads"] != target["num_key_value_heads"]:
        found.add("kv_heads")
    if source["head_dim"] != target["head_dim"]:
        found.add("head_dim")
    return [cause for cause in _ORDER if cause in found]


def check_pair(source: dict[str, Any], target: dict[str, Any]) -> None:
    """Errors: PairError PAIR_IMPOSSIBLE naming all causes; ModelError CONFIG_UNREADABLE."""
    causes = causes_against(source, target)
    if causes:
        raise PairError(
            "PAIR_IMPOSSIBLE",
            f"{source['id']} -> {target['id']} cannot be a pair: {', '.join(causes)}; "
            "name two models of one family (lifeboat helm check says more)",
        )
    for facts in (source, target):
        missing = [name for name in _NEEDED if facts[name] is None]
        if missing:
            raise ModelError("CONFIG_UNREADABLE", f"{facts['id']}: its config states no {', '.join(missing)}")
