"""Whatever lies where a mapper should: the store names the refusal, and goes on with the next one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from lifeboat_kv.engine.mappers import MapperRefusedError, MapperStore
from lifeboat_kv.mapper.artifact import write_mapper
from lifeboat_kv.mapper.form import LayerMap, Mapper

FACTS = {"num_hidden_layers": 1, "num_key_value_heads": 2, "head_dim": 4}
SOURCE = {**FACTS, "id": "s", "weights_sha256": "a" * 64, "tokenizer": "t"}
TARGET = {**FACTS, "id": "t", "weights_sha256": "b" * 64, "tokenizer": "t"}


def write(folder: Path, seed: int, dtype: torch.dtype = torch.float32) -> str:
    torch.manual_seed(seed)
    layer = LayerMap((0,), (0,), torch.randn(8, 8), torch.randn(8), torch.randn(8, 8), torch.randn(8))
    return write_mapper(folder, Mapper("ridge", SOURCE, TARGET, (layer,)).to(dtype=dtype), {})


@pytest.fixture
def store(tmp_path: Path):
    made = MapperStore(tmp_path, lambda: {"small": SOURCE, "large": TARGET}, torch.device("cpu"), 1 << 20)
    yield made
    made.close()


def replaced(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(change(file.read_bytes()))


def swapped_for(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def act(file: Path) -> None:
        file.unlink()
        make(file)

    return act


DAMAGE = {
    "truncated": replaced(lambda data: data[:-1]),
    "flipped": replaced(lambda data: data[:-1] + bytes([data[-1] ^ 1])),
    "longer": replaced(lambda data: data + b"\0"),
    "claims a huge header": replaced(lambda data: b"\xff" * 7 + b"\x0f" + data[8:]),
    "deep JSON": replaced(lambda data: (100_000).to_bytes(8, "little") + b"[" * 100_000),
    "empty": replaced(lambda data: b""),
    "gone": lambda file: file.unlink(),
    "a folder": swapped_for(lambda file: file.mkdir()),
    "a pipe": swapped_for(os.mkfifo),
    "a device": swapped_for(lambda file: file.symlink_to("/dev/zero")),
    "a loop": swapped_for(lambda file: file.symlink_to(file.name)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_mapper_is_refused_by_name_and_the_next_one_loads(
    store: MapperStore, tmp_path: Path, name: str
) -> None:
    sha256 = write(tmp_path, seed=1)
    DAMAGE[name](tmp_path / sha256 / "mapper.safetensors")
    error = store.load(sha256).exception(timeout=20)
    assert isinstance(error, MapperRefusedError)
    assert error.code == "ARTIFACT_UNREADABLE"
    assert "\n" not in error.message
    told = store.list()
    assert [(row["state"], row["code"]) for row in told] == [("refused", "ARTIFACT_UNREADABLE")]
    with pytest.raises(MapperRefusedError) as again:
        store.get(sha256)
    assert again.value.code == "ARTIFACT_UNREADABLE"
    sound = write(tmp_path, seed=2)
    assert store.load(sound).result(timeout=20).sha256 == sound
    assert store.get(sound).mapper.method == "ridge"


@pytest.mark.parametrize("share", [0.5, 0.9, 1.9])
def test_a_mapper_beyond_the_budget_is_no_memory(tmp_path: Path, share: float) -> None:
    """`share` of the file's size: below it the file is not read, below twice it bfloat16 is not unpacked."""
    facts = {side["id"]: {**side, "head_dim": 64} for side in (SOURCE, TARGET)}
    layer = LayerMap((0,), (0,), torch.randn(128, 128), torch.randn(128), torch.eye(128), torch.zeros(128))
    made = Mapper("ridge", facts["s"], facts["t"], (layer,)).to(dtype=torch.bfloat16)
    sha256 = write_mapper(tmp_path, made, {})
    size = (tmp_path / sha256 / "mapper.safetensors").stat().st_size
    store = MapperStore(tmp_path, lambda: facts, torch.device("cpu"), int(share * size))
    error = store.load(sha256).exception(timeout=20)
    assert isinstance(error, MapperRefusedError) and error.code == "NO_MEMORY"
    roomy = MapperStore(tmp_path, lambda: facts, torch.device("cpu"), 2 * size)
    assert roomy.load(sha256).result(timeout=20).size > size
    store.close()
    roomy.close()


@pytest.mark.parametrize("fact", ["weights_sha256", "tokenizer", "head_dim", "num_key_value_heads"])
def test_a_mapper_of_another_model_or_shape_joins_nothing(tmp_path: Path, fact: str) -> None:
    sha256 = write(tmp_path, seed=1)
    for served in ((({**SOURCE, fact: 9}), TARGET), (SOURCE, {**TARGET, fact: 9})):
        models = dict(zip("st", served, strict=True))
        store = MapperStore(tmp_path, lambda models=models: models, torch.device("cpu"), 1 << 20)
        error = store.load(sha256).exception(timeout=20)
        store.close()
        assert isinstance(error, MapperRefusedError) and error.code == "PAIR_MISMATCH"


@pytest.mark.parametrize("sha256", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "/", "\0" * 64])
def test_a_name_that_is_no_digest_reads_no_file(store: MapperStore, sha256: str) -> None:
    error = store.load(sha256).exception(timeout=20)
    assert isinstance(error, MapperRefusedError) and error.code == "ARTIFACT_UNREADABLE"
