"""The reader meets every kind of broken file: always one typed reason, never a crash or a silent yes."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import resource
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save
from small_mapper import SOURCE, TARGET, joined, parts, refused, small_mapper, sound, written

from lifeboat_kv.errors import ArtifactError, ResourceError
from lifeboat_kv.mapper import tensor_file
from lifeboat_kv.mapper.artifact import read_mapper, write_mapper
from lifeboat_kv.mapper.form import K_NORM

ANY_CODE = {"MISSING", "UNREADABLE", "CORRUPT", "SCHEMA", "SHAPE", "DTYPE", "NON_FINITE", "PAIR"}
QUICK = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(tmp_path_factory.mktemp("good"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mapper.safetensors"


@contextmanager
def little_memory(extra: int = 512 << 20) -> Iterator[None]:
    """Lets this process grow by `extra` bytes of address space and no more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + extra, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_whole_file_reads_as_the_format_s_own_library_reads_it(tmp_path: Path, dtype: torch.dtype) -> None:
    folder = tmp_path / write_mapper(tmp_path, small_mapper(dtype), {})
    read = read_mapper(folder, expected_pair=(SOURCE, TARGET))
    theirs = load_file(folder / "mapper.safetensors")
    for index, layer in enumerate(read.layers):
        for name in ("wk", "bk", "wv", "bv"):
            assert torch.equal(getattr(layer, name), theirs[f"{index}.{name}"])
    assert torch.equal(read.layers[0].gamma, theirs["0.gamma"])
    assert torch.equal(read.layers[1].gamma, theirs["1.k_norm"])
    assert torch.equal(read.head.k, theirs["head.k"]) and torch.equal(read.head.v, theirs["head.v"])
    assert (read.layers[1].heads_k, read.layers[1].heads_v) == (((0, 1), (1, 0)), ((1, 1),))
    assert (read.layers[1].ending, read.layers[0].heads_k) == (K_NORM, None)


def test_truncated_at_every_boundary_and_around_it(good: bytes, file: Path) -> None:
    header, _, data = parts(good)
    start = len(good) - len(data)
    ends = {start + offset for name, e in header.items() if name[0] != "_" for offset in e["data_offsets"]}
    edges = {0, 1, 7, 8, 9, start // 2, start, *ends}
    for length in sorted({edge + step for edge in edges for step in (-1, 0, 1)} & set(range(len(good)))):
        file.write_bytes(good[:length])
        assert refused(file) == "CORRUPT", length
        assert refused(file, expected_sha256=hashlib.sha256(good).hexdigest()) == "DIGEST"
    file.write_bytes(good + b"\0")
    assert refused(file) == "CORRUPT"


def test_with_its_digest_every_changed_byte_is_refused(good: bytes, file: Path) -> None:
    digest = hashlib.sha256(good).hexdigest()
    file.write_bytes(good)
    read_mapper(file, expected_sha256=digest.upper())
    for place in range(len(good)):
        changed = bytearray(good)
        changed[place] ^= 1 << (place % 8)
        file.write_bytes(changed)
        with pytest.raises(ArtifactError) as raised:
            read_mapper(file, expected_sha256=digest)
        assert raised.value.code == "DIGEST", place


def test_without_a_digest_a_changed_header_is_refused_or_harmless(good: bytes, file: Path) -> None:
    start = len(good) - len(parts(good)[2])
    for place in range(start):
        changed = bytearray(good)
        changed[place] ^= 1 << (place * 5 % 8)
        file.write_bytes(changed)
        try:
            sound(read_mapper(file))
        except ArtifactError as error:
            assert error.code in ANY_CODE


@given(
    edits=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 40), st.binary(max_size=40)), min_size=1)
)
@settings(max_examples=150, **QUICK)
def test_spliced_files(good: bytes, tmp_path_factory: pytest.TempPathFactory, edits) -> None:
    changed = bytearray(good)
    for place, cut, put in edits:
        at = place % (len(changed) + 1)
        changed[at : at + cut] = put
    file = tmp_path_factory.getbasetemp() / "spliced.safetensors"
    file.write_bytes(changed)
    try:
        sound(read_mapper(file))
    except ArtifactError as error:
        assert error.code in ANY_CODE
    if bytes(changed) != good:
        assert refused(file, expected_sha256=hashlib.sha256(good).hexdigest()) == "DIGEST"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@given(header=json_values, data=st.binary(max_size=64))
@settings(max_examples=150, **QUICK)
def test_any_json_as_a_header_and_as_a_manifest(
    good: bytes, tmp_path_factory: pytest.TempPathFactory, header: Any, data: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "json.safetensors"
    file.write_bytes(joined(json.dumps(header).encode(), None, data))
    assert refused(file) in {"CORRUPT", "SCHEMA", "DTYPE"}
    whole, _, tensors = parts(good)
    file.write_bytes(joined(whole, json.dumps(header), tensors))
    assert refused(file) in {"CORRUPT", "SCHEMA"}


ODD: list[Any] = [
    None, True, False, -1, 0, 1.5, 1e300, 10**30, "", "2", "x" * 5000, "\n\x1b[31m", [], [[]], {}, {"k": 1},
    [None], [1.0], ["1"], [True], [-1], [10**30], [[0]],
]  # fmt: skip
USED = [
    ("schema",), ("dtype",), ("method",), ("source",), ("target",), ("layers",), ("layers", 0), ("layers", 1),
    ("constant_head",), ("layers", 0, "k"), ("layers", 0, "v"), ("layers", 0, "renormalised"),
    ("layers", 1, "ending"), ("layers", 1, "heads"), ("layers", 1, "heads", "k"),
    ("layers", 1, "heads", "k", 1), ("layers", 1, "heads", "v", 0),
    ("source", "num_hidden_layers"), ("source", "num_key_value_heads"),
    ("source", "head_dim"), ("target", "num_hidden_layers"), ("target", "num_key_value_heads"),
    ("target", "head_dim"),
]  # fmt: skip


@pytest.mark.parametrize("path", USED, ids=lambda path: ".".join(map(str, path)))
def test_a_manifest_of_wrong_types(good: bytes, file: Path, path: tuple[Any, ...]) -> None:
    """Everything the reader uses; a method may be any text."""
    for value in [*ODD, "gone"]:
        header, manifest, data = parts(good)
        inner = manifest
        for key in path[:-1]:
            inner = inner[key]
        before = copy.deepcopy(inner[path[-1]])
        if value == "gone":
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
        if value == before and type(value) is type(before):
            continue
        if path == ("method",) and isinstance(value, str) and value != "gone":
            continue
        file.write_bytes(joined(header, manifest, data))
        assert refused(file) in {"SCHEMA", "SHAPE", "DTYPE"}, (path, value)


@pytest.mark.parametrize("eps", ["1e-6", True, -1e-6, 1.0, 10**30, [1e-6], {}])
def test_an_epsilon_nobody_can_divide_by(good: bytes, file: Path, eps: Any) -> None:
    header, manifest, data = parts(good)
    manifest["target"]["rms_norm_eps"] = eps
    file.write_bytes(joined(header, manifest, data))
    assert refused(file) == "SCHEMA"
    for fine in (1e-6, 0, None):
        manifest["target"]["rms_norm_eps"] = fine
        file.write_bytes(joined(header, manifest, data))
        sound(read_mapper(file))


@pytest.mark.parametrize("fact", ["num_hidden_layers", "num_key_value_heads", "head_dim"])
def test_a_pair_of_the_right_digests_and_another_shape(good: bytes, file: Path, fact: str) -> None:
    file.write_bytes(good)
    sound(read_mapper(file, expected_pair=(SOURCE, TARGET)))
    for pair in (({**SOURCE, fact: 7}, TARGET), (SOURCE, {**TARGET, fact: 7})):
        assert refused(file, expected_pair=pair) == "PAIR"


@pytest.mark.parametrize("schema", [0, 2, True, 1.0, "1", None])
def test_another_schema(good: bytes, file: Path, schema: Any) -> None:
    header, manifest, data = parts(good)
    file.write_bytes(joined(header, {**manifest, "schema": schema}, data))
    assert refused(file) == "SCHEMA"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"a":' * 100_000,
        '{"schema": NaN}',
        '{"schema": -Infinity}',
        '{"schema": 1e999}',
        '{"schema": ' + "9" * 5000 + "}",
        '{"schema": 1, "schema": 1}',
        '{"schema": "\\ud800"}',
        "",
        "\x00",
    ],
    ids="deep deep-objects nan infinity huge-float huge-int twice surrogate empty nul".split(),
)
def test_json_nobody_may_write(good: bytes, file: Path, text: str) -> None:
    header, _, data = parts(good)
    file.write_bytes(joined(header, text or " ", data))
    assert refused(file) == "CORRUPT"
    file.write_bytes(joined(text.encode(), None, data))
    assert refused(file) == "CORRUPT"


def test_bytes_that_are_not_utf_8(good: bytes, file: Path) -> None:
    file.write_bytes(joined(b'{"\xff\xfe": 1}', None, b""))
    assert refused(file) == "CORRUPT"
    assert b"kept" in good
    file.write_bytes(good.replace(b"kept", b"k\xc3pt"))
    assert refused(file) == "CORRUPT"


def entry(name: str, **fields: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda header: header[name].update(fields)


LIES = {
    "enormous shape": (entry("0.wk", shape=[1 << 40, 1 << 40]), "CORRUPT"),
    "enormous offsets": (entry("0.wk", data_offsets=[0, 100 << 30]), "CORRUPT"),
    "offsets beyond 64 bits": (entry("0.wk", data_offsets=[0, 1 << 80]), "CORRUPT"),
    "negative shape": (entry("0.wk", shape=[-16, -8]), "CORRUPT"),
    "negative offsets": (entry("0.wk", data_offsets=[-512, 0]), "CORRUPT"),
    "offsets backwards": (entry("0.wk", data_offsets=[512, 0]), "CORRUPT"),
    "shape of flags": (entry("0.bk", shape=[True, 8]), "CORRUPT"),
    "shape of floats": (entry("0.bk", shape=[8.0]), "CORRUPT"),
    "shape as text": (entry("0.bk", shape="8"), "CORRUPT"),
    "a thousand dimensions": (entry("0.bk", shape=[1] * 1000 + [8]), "CORRUPT"),
    "unknown dtype": (entry("0.wk", dtype="F31"), "DTYPE"),
    "dtype no text": (entry("0.wk", dtype=["F32"]), "DTYPE"),
    "four-bit dtype": (entry("0.wk", dtype="F4"), "DTYPE"),
    "no dtype": (lambda h: h["0.wk"].pop("dtype"), "CORRUPT"),
    "one field more": (entry("0.wk", stride=[8, 1]), "CORRUPT"),
    "entry no object": (lambda h: h.update({"0.wk": 5}), "CORRUPT"),
    "tensor missing": (lambda h: h.pop("0.wk"), "CORRUPT"),
    "metadata no object": (lambda h: h.update(__metadata__=[1]), "CORRUPT"),
    "metadata not texts": (lambda h: h.update(__metadata__={"manifest": {}}), "CORRUPT"),
    "no metadata": (lambda h: h.pop("__metadata__"), "SCHEMA"),
}


@pytest.mark.parametrize("name", LIES)
def test_lying_headers_cost_no_memory(good: bytes, file: Path, name: str) -> None:
    change, code = LIES[name]
    header, _, data = parts(good)
    change(header)
    file.write_bytes(joined(header, None, data))
    with little_memory():
        assert refused(file) == code


def test_overlapping_and_repeated_tensors(good: bytes, file: Path) -> None:
    header, _, data = parts(good)
    first = copy.deepcopy(header["0.bk"]["data_offsets"])
    header["0.bv"]["data_offsets"] = first
    file.write_bytes(joined(header, None, data))
    assert refused(file) == "CORRUPT"
    text = json.dumps(parts(good)[0])
    again = json.dumps({"0.bk": parts(good)[0]["0.bk"]})[1:-1]
    file.write_bytes(joined((text[:-1] + ", " + again + "}").encode(), None, data))
    assert refused(file) == "CORRUPT"


def test_numbers_across_their_own_boundaries() -> None:
    """No file of one dtype can hold such a tensor; a file of several could."""
    rows = {"a": ("U8", [1], [0, 1]), "b": ("BF16", [2], [1, 5])}
    header = {
        name: dict(zip(("dtype", "shape", "data_offsets"), row, strict=True)) for name, row in rows.items()
    }
    with pytest.raises(ArtifactError) as raised:
        tensor_file.parse_header(json.dumps(header).encode(), 5)
    assert raised.value.code == "CORRUPT" and "aligned" in raised.value.message


@pytest.mark.parametrize("claim", [0, 1, 1 << 30, 100 << 30, (1 << 63) - 1, (1 << 64) - 1])
def test_lying_header_lengths_cost_no_memory(good: bytes, file: Path, claim: int) -> None:
    file.write_bytes(struct.pack("<Q", claim) + good[8:])
    with little_memory():
        assert refused(file) == "CORRUPT"


def test_a_sparse_file_larger_than_memory_is_neither_read_nor_hashed(good: bytes, file: Path) -> None:
    header, manifest, _ = parts(good)
    wide = 1 << 38
    manifest["layers"][0] |= {"k": [0], "renormalised": False}
    manifest["source"] |= {"head_dim": 1 << 30, "num_key_value_heads": 1 << 8}
    header = {"0.wk": {"dtype": "F32", "shape": [wide, 8], "data_offsets": [0, wide * 32]}}
    file.write_bytes(joined(header, manifest, b""))
    try:
        os.truncate(file, file.stat().st_size + wide * 32)
    except OSError:
        pytest.skip("this file system holds no sparse file of 8 TiB")
    assert refused(file, expected_sha256="0" * 64) == "SHAPE"
    with pytest.raises(ResourceError) as raised:
        tensor_file.read_tensor_file(file, lambda header: None)
    assert raised.value.code == "MEMORY_SHORT"
    with pytest.raises(ArtifactError) as bounded:
        read_mapper(file, max_bytes=1 << 30)
    assert bounded.value.code == "TOO_LARGE"


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.int8])
def test_foreign_dtypes(good: bytes, file: Path, dtype: torch.dtype) -> None:
    _, manifest, _ = parts(good)
    file.write_bytes(good)
    foreign = {name: tensor.to(dtype) for name, tensor in load_file(file).items()}
    file.write_bytes(save(foreign, metadata={"manifest": json.dumps(manifest)}))
    assert refused(file) == "DTYPE"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_one_number_that_is_not_finite(good: bytes, file: Path, bad: float) -> None:
    header, _, data = parts(good)
    for name in ("0.wk", "1.k_norm", "head.v"):
        at = header[name]["data_offsets"][1] - 4
        file.write_bytes(good[: -len(data)] + data[:at] + struct.pack("<f", bad) + data[at + 4 :])
        assert refused(file) == "NON_FINITE"
