"""A small mapper on disk and its parts, for tests of the artifact reader."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch

from lifeboat_kv.errors import ArtifactError
from lifeboat_kv.mapper.artifact import read_mapper, write_mapper
from lifeboat_kv.mapper.form import K_NORM, ConstantHead, LayerMap, Mapper

FACTS = {"num_hidden_layers": 2, "num_key_value_heads": 2, "head_dim": 4}
SOURCE = {**FACTS, "id": "s", "weights_sha256": "a" * 64, "tokenizer": "t"}
TARGET = {**FACTS, "id": "t", "weights_sha256": "b" * 64, "tokenizer": "t"}


def small_mapper(dtype: torch.dtype = torch.float32) -> Mapper:
    """One full-head layer with gamma, one head-local layer fitted before the norm, and a constant head."""
    torch.manual_seed(3)
    full = LayerMap(
        (0, 1), (1,), torch.randn(16, 8), torch.randn(8), torch.randn(8, 8), torch.randn(8), torch.ones(4)
    )
    local = LayerMap(
        (0, 1),
        (0,),
        torch.randn(2, 8, 4),
        torch.randn(8),
        torch.randn(2, 4, 4),
        torch.randn(8),
        torch.ones(4),
        heads_k=((0, 1), (1, 0)),
        heads_v=((1, 1),),
        ending=K_NORM,
    )
    head = ConstantHead((5, 6), torch.randn(2, 2, 2, 4), torch.randn(2, 2, 2, 4))
    return Mapper("renorm", SOURCE, TARGET, (full, local), head).to(dtype=dtype)


def refused(file: Path, **wanted: Any) -> str:
    """The code of the one-line reason for which a file is refused."""
    with pytest.raises(ArtifactError) as raised:
        read_mapper(file, **wanted)
    assert 0 < len(raised.value.message) < 600
    assert raised.value.message.isprintable(), "a reason must fit into one line of a log"
    return raised.value.code


def parts(data: bytes) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """(header, manifest, data section) of a whole file."""
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    return header, json.loads(header["__metadata__"]["manifest"]), data[8 + size :]


def joined(header: Any, manifest: Any, data: bytes) -> bytes:
    if manifest is not None:
        header["__metadata__"] = {"manifest": manifest if isinstance(manifest, str) else json.dumps(manifest)}
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def sound(mapper: Mapper) -> None:
    """What a file without a digest may at most be: finite maps of the shapes its own facts demand."""
    for index, layer in enumerate(mapper.layers):
        assert all(torch.isfinite(t).all() for t in (layer.wk, layer.bk, layer.wv, layer.bv))
        assert layer.bk.shape == layer.bv.shape == (8,)
        heads = int(mapper.source["num_key_value_heads"])
        content = [torch.zeros(heads, 3, int(mapper.source["head_dim"]))] * mapper.source["num_hidden_layers"]
        assert mapper.map_layer(index, content, content)[0].shape == (2, 3, 4)


def written(folder: Path) -> bytes:
    """The bytes of the small mapper's file, written into `folder` as a calibration does."""
    return (
        folder / write_mapper(folder, small_mapper(), {"note": "kept"}) / "mapper.safetensors"
    ).read_bytes()
