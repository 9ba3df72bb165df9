"""What a model folder is, read from its files alone: config, tokenizer and safetensors headers."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path
from typing import Any

from ..errors import ModelError
from ..host.regular_file import open_regular, read_regular
from .config_facts import config_facts, named, read_config
from .digest_cache import cached_digest

_MAX_JSON = 256 << 20
# Parts of tokenizer.json that change nothing about which ids a text gets.
_NO_CONTENT = ("version", "truncation", "padding")
# Tokenizers of before tokenizer.json, by the files that make one up.
_OLDER_TOKENIZERS = (
    "tekken.json",
    "tokenizer.model",
    "spiece.model",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
)
_UNQUANTISED = ("F64", "F32", "F16", "BF16")
_BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F64": 64, "I64": 64, "U64": 64, "C64": 64}


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
    config = read_config(folder)
    facts = config_facts(config)
    weights = weight_files(folder)
    tensors = _tensor_headers(weights)
    odd = sorted({dtype for _, dtype in tensors.values()} - {*_UNQUANTISED, "I64", "BOOL"})
    return {
        **facts,
        "id": named(config) or folder.resolve().name,
        "commit": None,
        "quantization": facts["quantization"] or (f"stored as {', '.join(odd)}" if odd else None),
        "k_norm": any(name.endswith("self_attn.k_norm.weight") for name in tensors) if tensors else None,
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
    """sha256 of the tokenizer's content, None where the folder holds none.

    In tokenizer.json order of keys, spelling of merges and padding do not count. Folders of before it
    give the digest of the files that stand in its place, which no tokenizer.json equals.
    """
    file = folder / "tokenizer.json"
    if not file.exists():
        return _older_digest(folder)
    try:
        content = _load_json(file)
        for key in _NO_CONTENT:
            content.pop(key, None)
        model = content.get("model", {})
        if isinstance(model.get("merges"), list):
            model["merges"] = [m.split(" ", 1) if isinstance(m, str) else m for m in model["merges"]]
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise ModelError("TOKENIZER_UNREADABLE", f"{file} cannot be read: {error}") from error
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _older_digest(folder: Path) -> str | None:
    files = [folder / name for name in _OLDER_TOKENIZERS if (folder / name).exists()]
    if not files:
        return None
    try:
        lines = [f"{file.name} {cached_digest(file)}" for file in files]
    except OSError as error:
        raise ModelError("TOKENIZER_UNREADABLE", f"{folder}: {error}") from error
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _load_json(file: Path) -> Any:
    return json.loads(read_regular(file, _MAX_JSON).decode("utf-8"))


def _tensor_headers(files: list[Path]) -> dict[str, tuple[int, str]]:
    """Tensor name -> (element count, dtype) from the files' headers, without reading weights.

    Errors: ModelError WEIGHTS_UNREADABLE for a header that does not fit its file, as after half a
    download, and for a shard that the index names and the folder lacks.
    """
    found: dict[str, tuple[int, str]] = {}
    for file in files:
        try:
            found |= _header(file)
        except (OSError, ValueError, KeyError, TypeError, RecursionError, struct.error) as error:
            raise ModelError("WEIGHTS_UNREADABLE", f"{file} is no whole safetensors file: {error}") from error
    if files and (missing := _shards(files[0].parent) - {file.name for file in files}):
        raise ModelError("WEIGHTS_UNREADABLE", f"{files[0].parent} lacks {', '.join(sorted(missing)[:3])}")
    return found


def _header(file: Path) -> dict[str, tuple[int, str]]:
    with open_regular(file) as handle:
        total = os.fstat(handle.fileno()).st_size
        (size,) = struct.unpack("<Q", handle.read(8))
        if size > min(_MAX_JSON, total - 8):
            raise ValueError("its header is longer than the file")
        header = json.loads(handle.read(size))
    found: dict[str, tuple[int, str]] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        count = 1
        for extent in entry["shape"]:
            if type(extent) is not int or extent < 0:
                raise ValueError(f"{name} has the shape {entry['shape']}")
            count *= extent
        start, end = entry["data_offsets"]
        if not 0 <= start <= end or 8 + size + end > total:
            raise ValueError(f"it ends before {name} does; download it again")
        dtype = str(entry["dtype"])
        if end - start != -(-count * _bits_of(dtype) // 8):
            raise ValueError(f"{name} has {end - start} bytes for {count} values of {dtype}")
        found[name] = (count, dtype)
    return found


def _bits_of(dtype: str) -> int:
    """Bits a value of a safetensors dtype takes: 16 for BF16, 8 for F8_E4M3."""
    digits = "".join(c for c in dtype.split("_")[0] if c.isdigit())
    return _BITS.get(dtype) or int(digits)


def _shards(folder: Path) -> set[str]:
    """File names in the folder's weight index; empty without one."""
    file = folder / "model.safetensors.index.json"
    if not file.exists():
        return set()
    try:
        return {str(name) for name in _load_json(file)["weight_map"].values()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise ModelError("WEIGHTS_UNREADABLE", f"{file} cannot be read: {error}") from error
