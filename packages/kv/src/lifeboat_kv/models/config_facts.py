"""What a config.json says of a model's attention, under one set of names and with usable values only."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from ..errors import ModelError
from ..host.regular_file import read_regular

_LARGEST_FILE = 16 << 20
_LARGEST_NUMBER = 1 << 31
_LARGEST_THETA = 1e15
_LONGEST_FACT = 4096
_LONGEST_LIST = 2048
# Other spellings of the same fact in configs of older architectures.
_SPELLINGS = {
    "num_hidden_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden_size": ("hidden_size", "n_embd", "d_model"),
    "num_attention_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "vocab_size": ("vocab_size",),
    "head_dim": ("head_dim", "attention_head_dim", "kv_channels", "d_kv"),
    "num_key_value_heads": (
        "num_key_value_heads_per_layer",
        "num_key_value_heads",
        "num_kv_heads",
        "n_head_kv",
        "kv_n_heads",
        "multi_query_group_num",
    ),
    "num_experts": ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"),
}
# Where a multimodal config keeps its language model; what else it nests is no part of these facts.
_LANGUAGE = ("thinker_config", "text_config", "llm_config", "language_config")
_NESTED_ELSEWHERE = (*_LANGUAGE, "vision_config", "audio_config", "talker_config", "attn_config")
# Parts of a config that say nothing of how attention works, or are stated under a name of their own.
_LEFT_OUT = (
    "_name_or_path",
    "torch_dtype",
    "dtype",
    "transformers_version",
    "rope_parameters",
    "architectures",
    *_NESTED_ELSEWHERE,
)
# What transformers takes where a config leaves it unsaid, and it matters.
_UNSAID = {"mistral": {"sliding_window": 4096}}


def read_config(folder: Path) -> dict[str, Any]:
    """The JSON object in `folder`/config.json. Errors: ModelError CONFIG_UNREADABLE."""
    file = folder / "config.json"
    if not folder.is_dir():
        raise ModelError("CONFIG_UNREADABLE", f"there is no model folder at {folder}")
    try:
        # NaN and Infinity become texts: harmless where nobody needs them, and no number where one is needed.
        text = read_regular(file, _LARGEST_FILE).decode("utf-8")
        config = json.loads(text, parse_constant=str, parse_float=_finite)
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError("CONFIG_UNREADABLE", f"{file} cannot be read: {_short(error)}") from error
    if not isinstance(config, dict):
        raise ModelError("CONFIG_UNREADABLE", f"{file} holds no JSON object")
    return config


def config_facts(config: dict[str, Any]) -> dict[str, Any]:
    """The architecture's facts, JSON-ready; None where the config says nothing of one.

    Errors: ModelError CONFIG_UNREADABLE naming the first value that cannot be what its name says.
    """
    merged = _merged(config)
    kind = merged.get("model_type")
    if kind is not None and not isinstance(kind, str):
        raise _unusable("model_type", kind, "a text")
    for name, value in _UNSAID.get(kind or "", {}).items():
        merged.setdefault(name, value)
    hidden, heads = _number(merged, "hidden_size"), _number(merged, "num_attention_heads")
    kv_heads, per_layer = _key_value_heads(merged, heads)
    theta, scaling = _rope(merged)
    quantisation = merged.get("quantization_config")
    if quantisation is not None and not isinstance(quantisation, dict):
        raise _unusable("quantization_config", quantisation, "an object")
    if isinstance(merged.get("block_configs"), list):
        blocks = [b.get("attention") if isinstance(b, dict) else b for b in merged["block_configs"]]
        merged["block_configs"] = blocks[:_LONGEST_LIST]
        kv_heads = None if any(block != blocks[0] for block in blocks) else kv_heads
    return {
        **_plain(merged),
        "model_type": kind or "",
        "architectures": [str(name) for name in _list(merged, "architectures") or ()],
        "num_hidden_layers": _number(merged, "num_hidden_layers"),
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "num_key_value_heads_per_layer": per_layer,
        "head_dim": _head_dim(merged, hidden, heads),
        "vocab_size": _number(merged, "vocab_size"),
        "max_position_embeddings": _whole(merged, "max_position_embeddings"),
        "rope_theta": theta,
        "rope_scaling": scaling,
        "use_sliding_window": _flag(merged, "use_sliding_window"),
        "sliding_window": None if merged.get("sliding_window") is False else _whole(merged, "sliding_window"),
        "layer_types": _texts(merged, "layer_types"),
        "kv_lora_rank": _whole(merged, "kv_lora_rank"),
        "attention_bias": merged.get("attention_bias"),
        "num_experts": _number(merged, "num_experts") or _experts_of_feed_forward(merged),
        "torch_dtype": _dtype(merged),
        "quantization": _quantisation(quantisation),
    }


def _finite(text: str) -> float | str:
    """A number, or its text where no float holds it (1e999)."""
    value = float(text)
    return value if math.isfinite(value) else text


def named(config: dict[str, Any]) -> str | None:
    """The id that a config gives itself, where it is one: never a path, never anything unprintable."""
    name = config.get("_name_or_path")
    return name if isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?", name) else None


def _merged(config: dict[str, Any]) -> dict[str, Any]:
    """The config with its language model's part, and its attention's, laid over it."""
    merged = dict(config)
    for name in (*_LANGUAGE, "attn_config"):
        inner = merged.get(name)
        if isinstance(inner, dict):
            for key, value in inner.items():
                if value is not None and not (name == "attn_config" and key == "model_type"):
                    merged[key] = value
    return merged


def _number(config: dict[str, Any], name: str) -> int | None:
    """A whole number from 1 on by any of its spellings; None where unsaid or where layers differ."""
    for key in _SPELLINGS[name]:
        value = config.get(key)
        if value is None or (isinstance(value, list) and name != "vocab_size"):
            continue
        if value == 0 and name == "num_experts":
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < _LARGEST_NUMBER:
            raise _unusable(key, value, "a whole number from 1 on")
        return value
    return None


def _whole(config: dict[str, Any], key: str) -> int | None:
    """A whole number from 1 on, None for 0 as for nothing."""
    value = config.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LARGEST_NUMBER:
        raise _unusable(key, value, "a whole number")
    return value or None


def _flag(config: dict[str, Any], key: str) -> bool | None:
    value = config.get(key)
    if value is not None and not isinstance(value, bool):
        raise _unusable(key, value, "true or false")
    return value


def _list(config: dict[str, Any], key: str) -> list[Any] | None:
    value = config.get(key)
    if value is not None and not isinstance(value, list):
        raise _unusable(key, value, "a list")
    return value


def _texts(config: dict[str, Any], key: str) -> list[str] | None:
    value = _list(config, key)
    if value is None:
        return None
    if len(value) > _LONGEST_LIST or not all(isinstance(one, str) for one in value):
        raise _unusable(key, value, "a list of texts")
    return value


def _key_value_heads(config: dict[str, Any], heads: int | None) -> tuple[int | None, list[int] | None]:
    """(the number every layer has, the numbers by layer where the config gives them so)."""
    for key in _SPELLINGS["num_key_value_heads"]:
        value = config.get(key)
        if isinstance(value, list):
            if not value or not all(type(one) is int and 0 < one < _LARGEST_NUMBER for one in value):
                raise _unusable(key, value, "whole numbers from 1 on")
            return (value[0] if len(set(value)) == 1 else None), value[:_LONGEST_LIST]
    stated = _number(config, "num_key_value_heads")
    # Falcon's first generation: one KV head is said by a flag alone, whatever number stands beside it.
    if config.get("multi_query") is True and config.get("new_decoder_architecture") is not True:
        return 1, None
    return stated or heads, None


def _head_dim(config: dict[str, Any], hidden: int | None, heads: int | None) -> int | None:
    stated = _number(config, "head_dim")
    if stated is not None:
        return stated
    return hidden // heads if hidden and heads and hidden % heads == 0 else None


def _experts_of_feed_forward(config: dict[str, Any]) -> int | None:
    inner = config.get("ffn_config")
    return _number(inner, "num_experts") if isinstance(inner, dict) else None


def _rope(config: dict[str, Any]) -> tuple[float | None, dict[str, Any] | None]:
    """(theta, scaling) from `rope_parameters` or from `rope_theta` and `rope_scaling`."""
    for key in ("rope_parameters", "rope_scaling"):
        value = config.get(key)
        if value is not None and not isinstance(value, dict):
            raise _unusable(key, value, "an object")
    parameters = config.get("rope_parameters")
    theta = config.get("rope_theta")
    if parameters:
        theta = parameters.get("rope_theta", theta)
        scaling = {k: v for k, v in parameters.items() if k != "rope_theta"}
    else:
        scaling = dict(config.get("rope_scaling") or {})
    if "type" in scaling and "rope_type" not in scaling:
        scaling["rope_type"] = scaling["type"]
    _check_scaling(scaling)
    plain = set(scaling) <= {"rope_type", "type"} and scaling.get("rope_type", "default") == "default"
    return _theta(theta), None if plain else scaling


def _check_scaling(scaling: dict[str, Any]) -> None:
    for key in ("rope_type", "type"):
        if scaling.get(key) is not None and not isinstance(scaling[key], str):
            raise _unusable(key, scaling[key], "a text")
    factor = scaling.get("factor")
    if factor is not None and not (_is_number(factor) and 0 < factor < _LARGEST_NUMBER):
        raise _unusable("rope_scaling's factor", factor, "a number above 0")


def _theta(value: Any) -> float | None:
    if value is None:
        return None
    if not _is_number(value) or not 0 < value < _LARGEST_THETA:
        raise _unusable("rope_theta", value, "a number above 0")
    return float(value)


def _dtype(config: dict[str, Any]) -> str | None:
    value = config.get("dtype") or config.get("torch_dtype")
    return value if isinstance(value, str) else None


def _quantisation(config: dict[str, Any] | None) -> str | None:
    if not config:
        return None
    method = config.get("quant_method") or config.get("quant_algo")
    return method if isinstance(method, str) and method else "of a method that is not named"


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """The config's own facts. One too long to pass on leaves its name, so that the rules still see it."""
    facts: dict[str, Any] = {}
    for key, value in config.items():
        if key in _LEFT_OUT or value is None:
            continue
        length = len(json.dumps(value))
        facts[key] = value if length <= _LONGEST_FACT or key == "block_configs" else f"({length} characters)"
    return facts


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _unusable(key: str, value: Any, wanted: str) -> ModelError:
    return ModelError("CONFIG_UNREADABLE", f"config.json: {key} is {_short(value)}, not {wanted}")


def _short(value: Any) -> str:
    text = str(value) if isinstance(value, Exception) else json.dumps(value, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."
