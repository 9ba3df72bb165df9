"""The mapper artifact: one safetensors file named by its sha256, its manifest inside and beside it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from ..errors import ArtifactError
from ..host.resources import write_error
from ..models.digest_cache import file_digest
from .form import K_NORM, RENORM, ConstantHead, HeadChoice, LayerMap, Mapper
from .leftovers import PREFIX, hold, remove_leftovers
from .tensor_file import DTYPES, Header, read_tensor_file, short, strict_json

__all__ = ["read_mapper", "remove_leftovers", "write_mapper"]

SCHEMA = 1
WEIGHTS_FILE = "mapper.safetensors"
MANIFEST_FILE = "manifest.json"
_MANIFEST_KEY = "manifest"
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
_GAMMA = {RENORM: "gamma", K_NORM: "k_norm"}
# What names a model beyond doubt; a mapper is for these bytes, not for a model id.
_IDENTITY = ("weights_sha256", "tokenizer")
# What a cache's shape follows from; a manifest could lie of it beside the right digests.
_CACHE_SHAPE = ("num_hidden_layers", "num_key_value_heads", "head_dim")


def write_mapper(directory: str | os.PathLike[str], mapper: Mapper, manifest: Mapping[str, Any]) -> str:
    """Writes `<directory>/<sha256>/mapper.safetensors` and `manifest.json`; returns the sha256 (hex).

    `manifest` holds whatever the calibration knows; schema, method, pair and layer choice are put in
    from `mapper`. The folder appears whole or not at all. Errors: ArtifactError NON_FINITE, DTYPE;
    ResourceError DISK_FULL, OUT_UNWRITABLE, MEMORY_SHORT.
    """
    root = Path(directory)
    full = {**manifest, **_describe(mapper)}
    tensors = _tensors(mapper)
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ArtifactError("NON_FINITE", f"{name} holds values that are not finite; nothing was written")
    text = json.dumps(full, sort_keys=True, allow_nan=False)
    try:
        root.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=root))
        held = hold(staging)
        try:
            file = staging / WEIGHTS_FILE
            save_file(tensors, file, metadata={_MANIFEST_KEY: text})
            (staging / MANIFEST_FILE).write_text(
                json.dumps(full, sort_keys=True, indent=1) + "\n", encoding="utf-8"
            )
            for name in (WEIGHTS_FILE, MANIFEST_FILE):
                os.chmod(staging / name, 0o644)
                _fsync(staging / name)
            digest = file_digest(file)
            os.chmod(staging, 0o755)
            _publish(staging, root / digest)
            _fsync(root)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            os.close(held)
    except (OSError, SafetensorError) as error:
        raise write_error(root, error) from error
    return digest


def read_mapper(
    path: str | os.PathLike[str],
    *,
    expected_sha256: str | None = None,
    expected_pair: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None,
    max_bytes: int | None = None,
) -> Mapper:
    """Reads a mapper; `path` is the file or its folder. All checks come before a weight is used.

    `expected_sha256` defaults to the folder's name where that is a digest. `expected_pair` is
    (source facts, target facts); digests that both sides know must be equal. `max_bytes` bounds the file.
    Errors: ArtifactError MISSING, UNREADABLE, DIGEST, CORRUPT, SCHEMA, PAIR, SHAPE, DTYPE, NON_FINITE,
    TOO_LARGE; ResourceError MEMORY_SHORT.
    """
    file = Path(path)
    with contextlib.suppress(OSError, ValueError):
        file = file / WEIGHTS_FILE if file.is_dir() else file

    def accept(header: Header) -> dict[str, Any]:
        manifest = _manifest(header.metadata)
        _check_pair(manifest, expected_pair)
        _check_shapes(header, _expected_shapes(manifest), manifest["dtype"])
        return manifest

    manifest, tensors = read_tensor_file(
        file,
        accept,
        expected_sha256=expected_sha256 or _digest_in_name(file.parent.name),
        max_bytes=max_bytes,
    )
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ArtifactError("NON_FINITE", f"{name} holds values that are not finite")
    return _assemble(manifest, tensors)


def _describe(mapper: Mapper) -> dict[str, Any]:
    dtypes = {t.dtype for t in _tensors(mapper).values()}
    names = [name for name, dtype in _DTYPES.items() if dtypes == {dtype}]
    if not names:
        raise ArtifactError(
            "DTYPE", f"a mapper is float32 or bfloat16 throughout, not {sorted(map(str, dtypes))}"
        )
    return {
        "schema": SCHEMA,
        "method": mapper.method,
        "dtype": names[0],
        "source": dict(mapper.source),
        "target": dict(mapper.target),
        "layers": [_describe_layer(m) for m in mapper.layers],
        "constant_head": list(mapper.head.token_ids) if mapper.head else [],
    }


def _describe_layer(m: LayerMap) -> dict[str, Any]:
    """What a layer map reads. Fields are only ever added; without `heads` and `ending` it is full-head."""
    said: dict[str, Any] = {
        "k": list(m.layers_k),
        "v": list(m.layers_v),
        "renormalised": m.gamma is not None and m.ending == RENORM,
    }
    if m.gamma is not None and m.ending == K_NORM:
        said["ending"] = K_NORM
    heads = {part: choice for part, choice in (("k", m.heads_k), ("v", m.heads_v)) if choice is not None}
    if heads:
        said["heads"] = {part: [list(row) for row in choice] for part, choice in heads.items()}
    return said


def _tensors(mapper: Mapper) -> dict[str, Tensor]:
    named: dict[str, Tensor] = {}
    for index, m in enumerate(mapper.layers):
        named |= {f"{index}.wk": m.wk, f"{index}.bk": m.bk, f"{index}.wv": m.wv, f"{index}.bv": m.bv}
        if m.gamma is not None:
            # Named by its use: a reader that does not know pre-norm maps must not take one for the other.
            named[f"{index}.{_GAMMA[m.ending]}"] = m.gamma
    if mapper.head is not None:
        named |= {"head.k": mapper.head.k, "head.v": mapper.head.v}
    # One tensor used twice (an identity map) must be written twice: safetensors refuses shared memory.
    seen: set[int] = set()
    for name, tensor in named.items():
        flat = tensor.detach().to("cpu").contiguous()
        named[name] = flat.clone() if flat.data_ptr() in seen else flat
        seen.add(named[name].data_ptr())
    return named


def _expected_shapes(manifest: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Every tensor the file must hold and its shape, from the manifest's facts alone."""
    source, target = _side(manifest, "source"), _side(manifest, "target")
    s_heads, s_dim = _count(source, "num_key_value_heads"), _count(source, "head_dim")
    t_heads, t_dim = _count(target, "num_key_value_heads"), _count(target, "head_dim")
    count, s_layers = _count(target, "num_hidden_layers"), _count(source, "num_hidden_layers")
    _check_eps(target)
    layers = manifest.get("layers")
    if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
        raise ArtifactError("SCHEMA", "the manifest lacks or misstates 'layers'")
    if len(layers) != count:
        raise ArtifactError("SHAPE", f"{len(layers)} layer maps for a target of {count} layers")
    shapes: dict[str, tuple[int, ...]] = {}
    for index, layer in enumerate(layers):
        for part in ("k", "v"):
            chosen = _naturals(layer, part)
            if not chosen or max(chosen) >= s_layers:
                raise ArtifactError("SHAPE", f"target layer {index} reads source layers {short(chosen)}")
            choice = _head_choice(layer, part)
            if choice is None:
                shapes[f"{index}.w{part}"] = (len(chosen) * s_heads * s_dim, t_heads * t_dim)
            else:
                _check_choice(choice, len(chosen), t_heads, s_heads, index)
                shapes[f"{index}.w{part}"] = (t_heads, len(chosen) * s_dim, t_dim)
            shapes[f"{index}.b{part}"] = (t_heads * t_dim,)
        if ending := _ending(layer):
            shapes[f"{index}.{_GAMMA[ending]}"] = (t_dim,)
    if head := len(_naturals(manifest, "constant_head")):
        shapes |= {f"head.{part}": (count, t_heads, head, t_dim) for part in ("k", "v")}
    return shapes


def _ending(layer: Mapping[str, Any]) -> str | None:
    """How the layer's keys end with the target's k_norm weight; None where they do not."""
    renormalised, ending = _flag(layer, "renormalised"), layer.get("ending")
    if ending is None:
        return RENORM if renormalised else None
    if ending != K_NORM or renormalised:
        raise ArtifactError("SCHEMA", f"the manifest lacks or misstates 'ending': {short(ending)}")
    return K_NORM


def _head_choice(layer: Mapping[str, Any], part: str) -> HeadChoice | None:
    """The source heads each target head reads, by chosen layer; None where the map is full-head."""
    heads = layer.get("heads", {})
    if not isinstance(heads, dict) or not set(heads) <= {"k", "v"}:
        raise ArtifactError("SCHEMA", f"the manifest lacks or misstates 'heads': {short(heads)}")
    rows = heads.get(part)
    if rows is None:
        return None
    if not isinstance(rows, list):
        raise ArtifactError("SCHEMA", f"the manifest lacks or misstates 'heads': {short(rows)}")
    return tuple(tuple(_naturals({"heads": row}, "heads")) for row in rows)


def _check_choice(choice: HeadChoice, layers: int, t_heads: int, s_heads: int, index: int) -> None:
    fits = len(choice) == layers and all(len(row) == t_heads and max(row) < s_heads for row in choice)
    if not fits:
        raise ArtifactError("SHAPE", f"target layer {index} reads source heads {short(choice)}")


def _side(manifest: Mapping[str, Any], side: str) -> dict[str, Any]:
    facts = manifest.get(side)
    if not isinstance(facts, dict):
        raise ArtifactError("SCHEMA", f"the manifest lacks or misstates {side!r}")
    return facts


def _count(facts: Mapping[str, Any], name: str) -> int:
    """A positive whole number; `true`, 2.0 and "2" are none."""
    value = facts.get(name)
    if type(value) is not int or not 0 < value < 1 << 31:
        raise ArtifactError("SCHEMA", f"the manifest lacks or misstates {name!r}: {short(value)}")
    return value


def _check_eps(facts: Mapping[str, Any]) -> None:
    """The one other fact that mapping computes with: k_norm's epsilon, where it is stated."""
    value = facts.get("rms_norm_eps")
    if value is not None and (type(value) not in (int, float) or not 0 <= value < 1):
        raise ArtifactError("SCHEMA", f"the manifest lacks or misstates 'rms_norm_eps': {short(value)}")


def _naturals(facts: Mapping[str, Any], name: str) -> list[int]:
    value = facts.get(name)
    if not isinstance(value, list) or not all(type(n) is int and 0 <= n < 1 << 31 for n in value):
        raise ArtifactError("SCHEMA", f"the manifest lacks or misstates {name!r}: {short(value)}")
    return value


def _flag(facts: Mapping[str, Any], name: str) -> bool:
    value = facts.get(name)
    if not isinstance(value, bool):
        raise ArtifactError("SCHEMA", f"the manifest lacks or misstates {name!r}: {short(value)}")
    return value


def _check_shapes(header: Header, shapes: Mapping[str, tuple[int, ...]], dtype: str) -> None:
    if set(header.entries) != set(shapes):
        odd = sorted(set(header.entries) ^ set(shapes))[:4]
        raise ArtifactError("SHAPE", f"the file's tensors are not the manifest's: {short(odd)}")
    for name, shape in shapes.items():
        entry = header.entries[name]
        if DTYPES.get(entry.dtype) is not _DTYPES[dtype]:
            raise ArtifactError("DTYPE", f"{name} is {entry.dtype}, the manifest says {dtype}")
        if entry.shape != shape:
            raise ArtifactError("SHAPE", f"{name} is {short(entry.shape)}, not {shape}")


def _manifest(metadata: Mapping[str, str]) -> dict[str, Any]:
    if _MANIFEST_KEY not in metadata:
        raise ArtifactError("SCHEMA", "the file carries no manifest")
    manifest = strict_json(metadata[_MANIFEST_KEY])
    schema = manifest.get("schema") if isinstance(manifest, dict) else None
    if type(schema) is not int or schema != SCHEMA:
        raise ArtifactError(
            "SCHEMA", f"schema {short(schema)} is not {SCHEMA}; calibrate again with this version"
        )
    dtype = manifest.get("dtype")
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise ArtifactError("DTYPE", f"dtype {short(dtype)} is not float32 or bfloat16")
    if not isinstance(manifest.get("method"), str):
        raise ArtifactError(
            "SCHEMA", f"the manifest lacks or misstates 'method': {short(manifest.get('method'))}"
        )
    return manifest


def _check_pair(
    manifest: Mapping[str, Any], expected: tuple[Mapping[str, Any], Mapping[str, Any]] | None
) -> None:
    if expected is None:
        return
    for side, facts in zip(("source", "target"), expected, strict=True):
        ours = _side(manifest, side)
        for key in (*_IDENTITY, *_CACHE_SHAPE):
            if facts.get(key) and facts[key] != ours.get(key):
                raise ArtifactError("PAIR", f"the mapper's {side} is another model: its {key} differs")


def _assemble(manifest: dict[str, Any], tensors: Mapping[str, Tensor]) -> Mapper:
    layers = tuple(
        LayerMap(
            layers_k=tuple(layer["k"]),
            layers_v=tuple(layer["v"]),
            wk=tensors[f"{index}.wk"],
            bk=tensors[f"{index}.bk"],
            wv=tensors[f"{index}.wv"],
            bv=tensors[f"{index}.bv"],
            gamma=tensors.get(f"{index}.{_GAMMA[_ending(layer) or RENORM]}"),
            heads_k=_head_choice(layer, "k"),
            heads_v=_head_choice(layer, "v"),
            ending=_ending(layer) or RENORM,
        )
        for index, layer in enumerate(manifest["layers"])
    )
    head = None
    if manifest["constant_head"]:
        ids = tuple(manifest["constant_head"])
        head = ConstantHead(ids, tensors["head.k"], tensors["head.v"])
    return Mapper(manifest["method"], manifest["source"], manifest["target"], layers, head, manifest)


def _digest_in_name(name: str) -> str | None:
    return name if len(name) == 64 and all(c in "0123456789abcdef" for c in name) else None


def _publish(staging: Path, final: Path) -> None:
    """Renames into place; the same digest already there is the same bytes, unless it was damaged."""
    if final.exists():
        with contextlib.suppress(OSError):
            if file_digest(final / WEIGHTS_FILE) == final.name:
                return
        shutil.rmtree(final)
    os.rename(staging, final)


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
