"""The artifact reader refuses whatever is not exactly the mapper that was asked for."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
import torch

from lifeboat_kv.errors import ArtifactError
from lifeboat_kv.mapper.artifact import read_mapper, remove_leftovers, write_mapper
from lifeboat_kv.mapper.form import ConstantHead, LayerMap, Mapper

FACTS = {"num_hidden_layers": 2, "num_key_value_heads": 2, "head_dim": 4}
SOURCE = {**FACTS, "id": "s", "weights_sha256": "a" * 64, "tokenizer": "t"}
TARGET = {**FACTS, "id": "t", "weights_sha256": "b" * 64, "tokenizer": "t"}


def mapper() -> Mapper:
    torch.manual_seed(3)
    layers = tuple(
        LayerMap(
            (0, 1), (i,), torch.randn(16, 8), torch.randn(8), torch.randn(8, 8), torch.randn(8), torch.ones(4)
        )
        for i in range(2)
    )
    head = ConstantHead((5, 6), torch.randn(2, 2, 2, 4), torch.randn(2, 2, 2, 4))
    return Mapper("renorm", SOURCE, TARGET, layers, head)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return tmp_path / write_mapper(tmp_path, mapper(), {"note": "kept"})


def refused(path: Path, **wanted: object) -> str:
    with pytest.raises(ArtifactError) as raised:
        read_mapper(path, **wanted)
    return raised.value.code


def test_reads_back_what_was_written(written: Path) -> None:
    read = read_mapper(written, expected_sha256=written.name, expected_pair=(SOURCE, TARGET))
    ours = mapper()
    assert read.manifest["note"] == "kept"
    assert json.loads((written / "manifest.json").read_text()) == read.manifest
    for a, b in zip(read.layers, ours.layers, strict=True):
        assert (a.layers_k, a.layers_v) == (b.layers_k, b.layers_v)
        assert all(torch.equal(getattr(a, n), getattr(b, n)) for n in ("wk", "bk", "wv", "bv", "gamma"))
    assert read.head is not None and read.head.token_ids == (5, 6)
    assert torch.equal(read.head.k, ours.head.k)


def test_writing_twice_gives_one_folder_and_no_leftovers(tmp_path: Path, written: Path) -> None:
    assert write_mapper(tmp_path, mapper(), {"note": "kept"}) == written.name
    (tmp_path / ".writing-999999999-x").mkdir()
    remove_leftovers(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [written.name]


@pytest.mark.parametrize("keep", [0, 4, 100, 0.5, 0.99])
def test_truncated(written: Path, keep: float) -> None:
    file = written / "mapper.safetensors"
    data = file.read_bytes()
    file.write_bytes(data[: int(keep if keep >= 1 else keep * len(data))])
    assert refused(written) == "DIGEST"
    moved = written.rename(written.parent / "elsewhere")
    assert refused(moved) == "CORRUPT"


@pytest.mark.parametrize("place", [0.02, 0.5, 0.999])
def test_one_flipped_bit(written: Path, place: float) -> None:
    file = written / "mapper.safetensors"
    data = bytearray(file.read_bytes())
    data[int(place * len(data))] ^= 1
    file.write_bytes(bytes(data))
    assert refused(written) == "DIGEST"


def test_other_digest_other_pair_and_nothing(written: Path, tmp_path: Path) -> None:
    assert refused(written, expected_sha256="0" * 64) == "DIGEST"
    assert refused(written, expected_pair=(TARGET, SOURCE)) == "PAIR"
    assert refused(written, expected_pair=(SOURCE, {**TARGET, "tokenizer": "u"})) == "PAIR"
    assert refused(tmp_path / "nowhere") == "MISSING"


def rewritten(written: Path, change) -> Path:
    """The file with its header changed by `change(header, manifest)`, in a folder of no digest."""
    data = (written / "mapper.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    manifest = json.loads(header["__metadata__"]["manifest"])
    change(header, manifest)
    if "__metadata__" in header:
        header["__metadata__"]["manifest"] = json.dumps(manifest)
    text = json.dumps(header).encode()
    moved = written.parent / "changed"
    moved.mkdir()
    (moved / "mapper.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])
    return moved


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda h, m: m.update(schema=0), "SCHEMA"),
        (lambda h, m: h.pop("__metadata__"), "SCHEMA"),
        (lambda h, m: m.pop("layers"), "SCHEMA"),
        (lambda h, m: m.update(dtype="float16"), "DTYPE"),
        (lambda h, m: m.update(dtype="bfloat16"), "DTYPE"),
        (lambda h, m: m["layers"][0].update(k=[0, 7]), "SHAPE"),
        (lambda h, m: m["layers"][0].update(k=[0]), "SHAPE"),
        (lambda h, m: m["target"].update(num_key_value_heads=4), "SHAPE"),
        (lambda h, m: m.update(constant_head=[]), "SHAPE"),
        (lambda h, m: h["0.wk"].update(shape=[8, 16]), "SHAPE"),
    ],
)
def test_lying_headers(written: Path, change, code: str) -> None:
    assert refused(rewritten(written, change)) == code


def test_numbers_that_are_not_finite_are_neither_written_nor_read(tmp_path: Path) -> None:
    bad = mapper()
    bad.layers[0].wk[0, 0] = float("nan")
    with pytest.raises(ArtifactError) as raised:
        write_mapper(tmp_path, bad, {})
    assert raised.value.code == "NON_FINITE"
    assert list(tmp_path.iterdir()) == []
