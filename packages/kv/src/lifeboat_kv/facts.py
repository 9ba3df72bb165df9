"""What a model folder is, read from its files alone: config, tokenizer and safetensors headers."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path
from typing import Any

from .digest_cache import cached_digest
from .errors import ModelError

_MAX_JSON = 256 << 20
_LONGEST_FACT = 4096
# Other spellings of the same fact in configs of older architectures.
_SPELLINGS = {
    "num_hidden_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden_size": ("hidden_size", "n_embd", "d_model"),
    "num_attention_heads": ("num_attention_heads", "n_head", "n_heads"),
    "vocab_size": ("vocab_size",),
}
# Parts of a config that say nothing of how attention works, or are stated under a name of their own.
_LEFT_OUT = (
    "_name_or_path",
    "torch_dtype",
    "dtype",
    "transformers_version",
    "rope_parameters",
    "architectures",
)
# Parts of tokenizer.json that change nothing about which ids a text gets.
_NO_CONTENT = ("version", "truncation", "padding")


def inspect_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Facts of the model in folder `path`, JSON-ready.

    The architecture's fields carry the names of config.json; `head_dim` is filled in where absent,
    `rope_theta` and `rope_scaling` are read from either spelling. Digests are sha256 hex, sizes bytes.
    A fact the config does not state is None; what else the config says of itself in numbers, flags and
    short lists is passed on as it stands, so that the pairing rules can see every kind of attention.
    `tokenizer` (of its content) and `weights_sha256` are None where the folder holds none.
    Errors: ModelError CONFIG_UNREADABLE, WEIGHTS_UNREADABLE, TOKENIZER_UNREADABLE, PICKLE_REFUSED.
    """
    folder = Path(path)
    config = _read_config(folder)
    text = config.get("text_config") if isinstance(config.get("text_config"), dict) else {}
    merged = {**config, **text}
    weights = weight_files(folder)
    tensors = _tensor_headers(weights)
    heads = _integer(merged, "num_attention_heads")
    hidden = _integer(merged, "hidden_size")
    theta, scaling = _rope(merged)
    return {
        **_plain(merged),
        "id": _identifier(config, folder),
        "commit": None,
        "model_type": str(merged.get("model_type") or config.get("model_type") or ""),
        "architectures": list(config.get("architectures") or []),
        "num_hidden_layers": _integer(merged, "num_hidden_layers"),
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": _key_value_heads(merged, heads),
        "head_dim": _head_dim(merged, hidden, heads),
        "vocab_size": _integer(merged, "vocab_size"),
        "max_position_embeddings": int(merged.get("max_position_embeddings") or 0) or None,
        "rope_theta": theta,
        "rope_scaling": scaling,
        "use_sliding_window": merged.get("use_sliding_window"),
        "sliding_window": merged.get("sliding_window"),
        "sliding_window_pattern": merged.get("sliding_window_pattern"),
        "layer_types": merged.get("layer_types"),
        "kv_lora_rank": merged.get("kv_lora_rank"),
        "attention_bias": merged.get("attention_bias"),
        "num_experts": merged.get("num_experts") or merged.get("num_local_experts"),
        "torch_dtype": merged.get("dtype") or merged.get("torch_dtype"),
        "quantization": (config.get("quantization_config") or {}).get("quant_method"),
        "k_norm": any(name.endswith("self_attn.k_norm.weight") for name in tensors),
        "parameters": sum(count for count, _ in tensors.values()) or None,
        "bytes": sum(f.stat().st_size for f in weights) or None,
        "weights_sha256": weights_digest(weights),
        "tokenizer": tokenizer_digest(folder),
    }


def weight_files(folder: Path) -> list[Path]:
    """The folder's safetensors files by name. Errors: ModelError PICKLE_REFUSED for other formats alone."""
    found = sorted(folder.glob("*.safetensors"))
    if not found and (list(folder.glob("*.bin")) or list(folder.glob("*.pt")) or list(folder.glob("*.pth"))):
        raise ModelError(
            "PICKLE_REFUSED", f"{folder} has no safetensors weights; other formats are never loaded"
        )
    return found


def weights_digest(files: list[Path]) -> str | None:
    """sha256 over the digests of all weight files in order of name; None without files.

    One file's digest is the file's own sha256, so that it can be checked with a common tool.
    """
    digests = [cached_digest(f) for f in files]
    if len(digests) <= 1:
        return digests[0] if digests else None
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def tokenizer_digest(folder: Path) -> str | None:
    """sha256 of tokenizer.json's content: order of keys, spelling of merges and padding do not count."""
    file = folder / "tokenizer.json"
    if not file.is_file():
        return None
    try:
        content = _load_json(file)
        for key in _NO_CONTENT:
            content.pop(key, None)
        model = content.get("model", {})
        if isinstance(model.get("merges"), list):
            model["merges"] = [m.split(" ", 1) if isinstance(m, str) else m for m in model["merges"]]
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError("TOKENIZER_UNREADABLE", f"{file} cannot be read: {error}") from error
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _read_config(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    if not folder.is_dir():
        raise ModelError("CONFIG_UNREADABLE", f"there is no model folder at {folder}")
    try:
        config = _load_json(file)
    except (OSError, ValueError) as error:
        raise ModelError("CONFIG_UNREADABLE", f"{file} cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise ModelError("CONFIG_UNREADABLE", f"{file} holds no JSON object")
    return config


def _load_json(file: Path) -> Any:
    if file.stat().st_size > _MAX_JSON:
        raise ValueError("it is too large to be what its name says")
    return json.loads(file.read_text(encoding="utf-8"))


def _tensor_headers(files: list[Path]) -> dict[str, tuple[int, str]]:
    """Tensor name -> (element count, dtype) from the files' headers, without reading weights."""
    found: dict[str, tuple[int, str]] = {}
    for file in files:
        try:
            with open(file, "rb") as handle:
                (size,) = struct.unpack("<Q", handle.read(8))
                if size > min(_MAX_JSON, file.stat().st_size):
                    raise ValueError("its header is longer than the file")
                header = json.loads(handle.read(size))
            for name, entry in header.items():
                if name != "__metadata__":
                    count = 1
                    for extent in entry["shape"]:
                        count *= int(extent)
                    found[name] = (count, str(entry["dtype"]))
        except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
            raise ModelError("WEIGHTS_UNREADABLE", f"{file} is no safetensors file: {error}") from error
    return found


def _rope(config: dict[str, Any]) -> tuple[float | None, dict[str, Any] | None]:
    """(theta, scaling) from `rope_parameters` or from `rope_theta` and `rope_scaling`."""
    parameters = config.get("rope_parameters")
    if isinstance(parameters, dict) and parameters:
        theta = parameters.get("rope_theta", config.get("rope_theta"))
        scaling = {k: v for k, v in parameters.items() if k != "rope_theta"}
        plain = set(scaling) <= {"rope_type"} and scaling.get("rope_type", "default") == "default"
        return _number(theta), None if plain else scaling
    scaling = config.get("rope_scaling")
    if isinstance(scaling, dict) and "type" in scaling and "rope_type" not in scaling:
        scaling = {**scaling, "rope_type": scaling["type"]}
    return _number(config.get("rope_theta")), scaling if isinstance(scaling, dict) else None


def _identifier(config: dict[str, Any], folder: Path) -> str:
    name = config.get("_name_or_path")
    return (
        name if isinstance(name, str) and name and not name.startswith(("/", ".")) else folder.resolve().name
    )


def _integer(config: dict[str, Any], name: str) -> int | None:
    for key in _SPELLINGS[name]:
        value = config.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        if value is not None and not isinstance(value, int):
            raise ModelError("CONFIG_UNREADABLE", f"config.json has no usable {key}: {value!r}")
    return None


def _key_value_heads(config: dict[str, Any], heads: int | None) -> int | None:
    """None where the config states another number for each layer; all heads where it states none."""
    for key in ("num_key_value_heads", "num_kv_heads", "n_head_kv"):
        value = config.get(key)
        if isinstance(value, int) and value > 0:
            return value
        if value is not None:
            return None
    if config.get("multi_query") is True and config.get("new_decoder_architecture") is not True:
        return 1
    return heads


def _head_dim(config: dict[str, Any], hidden: int | None, heads: int | None) -> int | None:
    value = config.get("head_dim")
    if isinstance(value, int) and value > 0:
        return value
    return hidden // heads if hidden and heads and hidden % heads == 0 else None


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """The config's own facts: numbers, flags, short texts, lists and maps of them."""
    return {
        key: value
        for key, value in config.items()
        if key not in _LEFT_OUT and value is not None and len(json.dumps(value)) <= _LONGEST_FACT
    }


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
