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
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from .digest_cache import file_digest
from .errors import ArtifactError, ResourceError
from .mapper import ConstantHead, LayerMap, Mapper

SCHEMA = 1
WEIGHTS_FILE = "mapper.safetensors"
MANIFEST_FILE = "manifest.json"
_MANIFEST_KEY = "manifest"
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
# What names a model beyond doubt; a mapper is for these bytes, not for a model id.
_IDENTITY = ("weights_sha256", "tokenizer")


def write_mapper(directory: str | os.PathLike[str], mapper: Mapper, manifest: Mapping[str, Any]) -> str:
    """Writes `<directory>/<sha256>/mapper.safetensors` and `manifest.json`; returns the sha256 (hex).

    `manifest` holds whatever the calibration knows; schema, method, pair and layer choice are put in
    from `mapper`. The folder appears whole or not at all. Errors: ArtifactError NON_FINITE, DTYPE;
    ResourceError DISK_FULL.
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
        staging = Path(tempfile.mkdtemp(prefix=f".writing-{os.getpid()}-", dir=root))
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
    except (OSError, SafetensorError) as error:
        raise ResourceError("DISK_FULL", f"the mapper could not be written to {root}: {error}") from error
    return digest


def read_mapper(
    path: str | os.PathLike[str],
    *,
    expected_sha256: str | None = None,
    expected_pair: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None,
) -> Mapper:
    """Reads a mapper; `path` is the file or its folder. All checks come before a weight is used.

    `expected_sha256` defaults to the folder's name where that is a digest. `expected_pair` is
    (source facts, target facts); digests that both sides know must be equal.
    Errors: ArtifactError MISSING, DIGEST, CORRUPT, SCHEMA, PAIR, SHAPE, DTYPE, NON_FINITE.
    """
    file = Path(path)
    file = file / WEIGHTS_FILE if file.is_dir() else file
    if not file.is_file():
        raise ArtifactError("MISSING", f"there is no mapper at {file}")
    expected = expected_sha256 or _digest_in_name(file.parent.name)
    if expected is not None and file_digest(file) != expected.lower():
        raise ArtifactError("DIGEST", f"{file} is not the mapper {expected[:12]}: its bytes differ")
    try:
        with safe_open(file, framework="pt") as opened:
            manifest = _manifest(opened.metadata())
            _check_pair(manifest, expected_pair)
            shapes = _expected_shapes(manifest)
            _check_shapes(opened, shapes, manifest["dtype"])
            tensors = {name: opened.get_tensor(name) for name in shapes}
    except SafetensorError as error:
        raise ArtifactError("CORRUPT", f"{file} is no whole safetensors file: {error}") from error
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
        "layers": [
            {"k": list(m.layers_k), "v": list(m.layers_v), "renormalised": m.gamma is not None}
            for m in mapper.layers
        ],
        "constant_head": list(mapper.head.token_ids) if mapper.head else [],
    }


def _tensors(mapper: Mapper) -> dict[str, Tensor]:
    named: dict[str, Tensor] = {}
    for index, m in enumerate(mapper.layers):
        named |= {f"{index}.wk": m.wk, f"{index}.bk": m.bk, f"{index}.wv": m.wv, f"{index}.bv": m.bv}
        if m.gamma is not None:
            named[f"{index}.gamma"] = m.gamma
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
    try:
        s_width = int(manifest["source"]["num_key_value_heads"]) * int(manifest["source"]["head_dim"])
        t_heads = int(manifest["target"]["num_key_value_heads"])
        t_dim = int(manifest["target"]["head_dim"])
        count = int(manifest["target"]["num_hidden_layers"])
        s_layers = int(manifest["source"]["num_hidden_layers"])
        layers = manifest["layers"]
        if len(layers) != count:
            raise ArtifactError("SHAPE", f"{len(layers)} layer maps for a target of {count} layers")
        shapes: dict[str, tuple[int, ...]] = {}
        for index, layer in enumerate(layers):
            for part in ("k", "v"):
                if not layer[part] or any(not 0 <= int(s) < s_layers for s in layer[part]):
                    raise ArtifactError("SHAPE", f"target layer {index} reads source layers {layer[part]}")
                shapes[f"{index}.w{part}"] = (len(layer[part]) * s_width, t_heads * t_dim)
                shapes[f"{index}.b{part}"] = (t_heads * t_dim,)
            if layer["renormalised"]:
                shapes[f"{index}.gamma"] = (t_dim,)
        if head := len(manifest["constant_head"]):
            shapes |= {f"head.{part}": (count, t_heads, head, t_dim) for part in ("k", "v")}
    except (KeyError, TypeError, ValueError) as error:
        raise ArtifactError("SCHEMA", f"the manifest lacks or misstates {error}") from error
    return shapes


def _check_shapes(opened: Any, shapes: Mapping[str, tuple[int, ...]], dtype: str) -> None:
    names = set(opened.keys())
    if names != set(shapes):
        odd = sorted(names ^ set(shapes))[:4]
        raise ArtifactError("SHAPE", f"the file's tensors are not the manifest's: {odd}")
    wanted = {"float32": "F32", "bfloat16": "BF16"}.get(dtype)
    for name, shape in shapes.items():
        part = opened.get_slice(name)
        if part.get_dtype() != wanted:
            raise ArtifactError("DTYPE", f"{name} is {part.get_dtype()}, the manifest says {dtype}")
        if tuple(part.get_shape()) != shape:
            raise ArtifactError("SHAPE", f"{name} is {tuple(part.get_shape())}, not {shape}")


def _manifest(metadata: Mapping[str, str] | None) -> dict[str, Any]:
    try:
        manifest = json.loads((metadata or {})[_MANIFEST_KEY])
    except (KeyError, ValueError) as error:
        raise ArtifactError("SCHEMA", "the file carries no manifest") from error
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        found = manifest.get("schema") if isinstance(manifest, dict) else None
        raise ArtifactError("SCHEMA", f"schema {found!r} is not {SCHEMA}; calibrate again with this version")
    if manifest.get("dtype") not in _DTYPES:
        raise ArtifactError("DTYPE", f"dtype {manifest.get('dtype')!r} is not float32 or bfloat16")
    return manifest


def _check_pair(
    manifest: Mapping[str, Any], expected: tuple[Mapping[str, Any], Mapping[str, Any]] | None
) -> None:
    if expected is None:
        return
    for side, facts in zip(("source", "target"), expected, strict=True):
        ours = manifest.get(side)
        if not isinstance(ours, dict):
            raise ArtifactError("SCHEMA", f"the manifest has no {side}")
        for key in _IDENTITY:
            if facts.get(key) and facts[key] != ours.get(key):
                raise ArtifactError("PAIR", f"the mapper's {side} is another model: its {key} differs")


def _assemble(manifest: dict[str, Any], tensors: Mapping[str, Tensor]) -> Mapper:
    layers = tuple(
        LayerMap(
            layers_k=tuple(int(s) for s in layer["k"]),
            layers_v=tuple(int(s) for s in layer["v"]),
            wk=tensors[f"{index}.wk"],
            bk=tensors[f"{index}.bk"],
            wv=tensors[f"{index}.wv"],
            bv=tensors[f"{index}.bv"],
            gamma=tensors.get(f"{index}.gamma"),
        )
        for index, layer in enumerate(manifest["layers"])
    )
    head = None
    if manifest["constant_head"]:
        ids = tuple(int(t) for t in manifest["constant_head"])
        head = ConstantHead(ids, tensors["head.k"], tensors["head.v"])
    return Mapper(str(manifest["method"]), manifest["source"], manifest["target"], layers, head, manifest)


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


def remove_leftovers(directory: str | os.PathLike[str]) -> None:
    """Deletes the half-written folders of runs that were killed; those of living processes stay."""
    for folder in Path(directory).glob(".writing-*"):
        owner = folder.name.split("-")[1]
        if not (owner.isdigit() and _alive(int(owner))):
            shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
