"""What a path may turn out to be, and files that change under the reader's hands."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from small_mapper import parts, refused, sound, written

from lifeboat_kv.mapper import tensor_file
from lifeboat_kv.mapper.artifact import read_mapper


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(tmp_path_factory.mktemp("good"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mapper.safetensors"


def test_what_is_no_file(good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder" / "mapper.safetensors").mkdir(parents=True)
    assert refused(tmp_path / "folder") == "UNREADABLE"
    os.mkfifo(tmp_path / "fifo")
    assert refused(tmp_path / "fifo") == "UNREADABLE"
    (tmp_path / "zero").symlink_to("/dev/zero")
    assert refused(tmp_path / "zero") == "UNREADABLE"
    (tmp_path / "loop").symlink_to("loop")
    assert refused(tmp_path / "loop") == "UNREADABLE"
    (tmp_path / "dangling").symlink_to("nowhere")
    assert refused(tmp_path / "dangling") == "MISSING"
    (tmp_path / "empty").touch()
    assert refused(tmp_path / "empty") == "CORRUPT"
    assert refused(tmp_path / "empty" / "mapper.safetensors") == "MISSING"
    assert refused(tmp_path / ("n" * 5000)) == "UNREADABLE"
    assert refused(Path("with\0nul")) == "UNREADABLE"
    (tmp_path / "real").write_bytes(good)
    (tmp_path / "link").symlink_to("real")
    sound(read_mapper(tmp_path / "link"))

    def forbidden(*_: Any, **__: Any) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tensor_file.os, "open", forbidden)
    assert refused(tmp_path / "real") == "UNREADABLE"


def before_reading(number: int, act: Callable[[], object]) -> Callable[..., int]:
    """The reader's own way to fill a buffer, with `act` done before the `number`-th time."""
    real, calls = tensor_file._fill, []

    def filled(*args: Any) -> int:
        calls.append(1)
        if len(calls) == number:
            act()
        return real(*args)

    return filled


HEADER, DATA = 2, 3


@pytest.mark.parametrize("moment", [HEADER, DATA])
def test_a_file_that_is_edited_while_it_is_read(
    good: bytes, file: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """The digest is that of the bytes used: no edit slips in between hashing and using."""

    def edit() -> None:
        with open(file, "r+b") as handle:
            handle.seek(4 - len(parts(good)[2]), os.SEEK_END)
            handle.write(struct.pack("<f", 7.0))

    file.write_bytes(good)
    monkeypatch.setattr(tensor_file, "_fill", before_reading(moment, edit))
    assert refused(file, expected_sha256=hashlib.sha256(good).hexdigest()) == "DIGEST"


@pytest.mark.parametrize("bytes_more", [-8, 4])
def test_a_file_whose_length_changes_while_it_is_read(
    good: bytes, file: Path, monkeypatch: pytest.MonkeyPatch, bytes_more: int
) -> None:
    file.write_bytes(good)
    resize = lambda: os.truncate(file, len(good) + bytes_more)  # noqa: E731
    monkeypatch.setattr(tensor_file, "_fill", before_reading(DATA, resize))
    assert refused(file) == "CORRUPT"


def test_an_edit_after_reading_does_not_reach_the_mapper(good: bytes, file: Path) -> None:
    file.write_bytes(good)
    read = read_mapper(file)
    before = read.layers[0].wk.clone()
    file.write_bytes(b"\0" * len(good))
    assert torch.equal(read.layers[0].wk, before)
