"""Signals, kills, full disks and want of memory against real runs: the right code, and nothing left over."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest
import torch
from forked import Ran, Setting
from safetensors import SafetensorError
from tiny import save_corpus, save_pair

from lifeboat_kv.errors import ModelError, ResourceError, UsageError
from lifeboat_kv.host import free_memory, memory
from lifeboat_kv.host.resources import as_resource_error, check_out_folder, write_error
from lifeboat_kv.mapper.leftovers import hold, remove_leftovers

NO_MOUNTS = 77


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("pair")
    return *save_pair(folder), save_corpus(folder / "corpus", fit=16, probes=110, words=80)


@pytest.fixture
def start(made: tuple[Path, Path, Path], tmp_path: Path):
    def started(out: Path, **setting: object) -> Ran:
        source, target, corpus = map(str, made)
        arguments = ["calibrate", "--source-model", source, "--target-model", target, "--corpus", corpus]
        arguments += ["--k", "1", "--device", "cpu", "--method", "ridge", "--out", str(out)]
        return Ran(arguments, Setting(**setting), tmp_path)

    return started


def left(out: Path) -> list[str]:
    return sorted(path.name for path in out.iterdir()) if out.exists() else []


@pytest.mark.parametrize(
    ("stage", "number"),
    [
        ("inspect", signal.SIGTERM),
        ("capture", signal.SIGINT),
        ("fit", signal.SIGTERM),
        ("half a file", signal.SIGTERM),
    ],
)
def test_a_signal_ends_a_run_at_any_stage(start, tmp_path: Path, stage: str, number: signal.Signals) -> None:
    out = tmp_path / "out"
    run = start(out, pause=stage)
    run.wait_for(lambda event: event["type"] == "paused")
    assert run.end(number) == 130
    assert (run.events[-1]["code"], run.events[-1]["exit_code"]) == ("INTERRUPTED", 130)
    assert left(out) == []


@pytest.mark.parametrize("stage", ["score", "half a file"])
def test_a_kill_leaves_nothing_that_the_next_run_does_not_clear(start, tmp_path: Path, stage: str) -> None:
    out = tmp_path / "out"
    run = start(out, pause=stage)
    run.wait_for(lambda event: event["type"] == "paused")
    assert run.end(signal.SIGKILL) == -signal.SIGKILL
    assert [name for name in left(out) if not name.startswith(".writing-")] == []
    if stage != "half a file":
        assert left(out) == []
        return
    assert len(left(out)) == 1
    again = start(out)
    assert again.end() == 0
    assert left(out) == [again.events[-1]["artifact"]["sha256"]]


def test_a_folder_that_is_being_written_is_no_leftover(tmp_path: Path) -> None:
    mine, dead, reused = (tmp_path / f".writing-{pid}-x" for pid in (os.getpid(), 2**22 + 7, 1))
    for folder in (mine, dead, reused):
        folder.mkdir()
    os.utime(reused, (0, 0))
    os.utime(mine, (0, 0))
    held = hold(mine)
    remove_leftovers(tmp_path)
    assert left(tmp_path) == [mine.name]
    os.close(held)
    remove_leftovers(tmp_path)
    assert left(tmp_path) == []


def test_a_disk_that_fills_up_at_the_last_step(start, tmp_path: Path) -> None:
    """A file system of 16 KiB where one can be mounted, else a limit on what a file may hold."""
    out = tmp_path / "out"
    out.mkdir()
    run = start(out, disk=out, kibibytes=16)
    if run.end() == NO_MOUNTS:
        run = start(out, file_limit=8192)
    assert (run.end(), run.events[-1]["code"]) == (6, "DISK_FULL")
    assert "another --out" in run.events[-1]["message"] and left(out) == []


def test_a_read_only_folder_is_found_before_anything_is_computed(start, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    run = start(out, disk=out, read_only=True)
    code = run.end()
    if code == NO_MOUNTS:
        pytest.skip("mounting a read-only file system needs root")
    assert (code, run.events[-1]["code"]) == (6, "OUT_UNWRITABLE")
    assert [event["type"] for event in run.events] == ["failed"]


def test_an_out_folder_that_is_a_file_is_wrong_usage(start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        run = start(out)
        assert (run.end(), run.events[-1]["code"]) == (2, "OUT_NO_FOLDER")
    assert (tmp_path / "file").read_text() == "mine"


def test_models_larger_than_memory_are_refused_from_their_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_memory, "_host_bytes", lambda: 1 << 30)
    assert memory.memory_budget({"parameters": 10**7}, {"parameters": 10**7}, "cpu") is not None
    with pytest.raises(ResourceError, match="use a host with more memory") as raised:
        memory.memory_budget({"parameters": 10**8}, {"parameters": 10**9}, "cpu")
    assert (raised.value.code, raised.value.exit_code) == ("MEMORY_SHORT", 6)


def test_the_process_own_limit_counts_as_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_memory.resource, "getrlimit", lambda _: (1 << 40, 1 << 40))
    assert (1 << 39) < free_memory._process_bytes() < (1 << 40)
    monkeypatch.setattr(free_memory.resource, "getrlimit", lambda _: (4096, 4096))
    assert memory.free_bytes("cpu") == 0


def test_memory_that_runs_out_on_the_way(start, tmp_path: Path) -> None:
    run = start(tmp_path / "out", no_memory_from="inspect")
    assert run.end() == 6
    assert run.events[-1]["code"] == "MEMORY_SHORT" and left(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), "MEMORY_SHORT"),
        (
            RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory"),
            "MEMORY_SHORT",
        ),
        (RuntimeError("std::bad_alloc"), "MEMORY_SHORT"),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), "MEMORY_SHORT"),
        (RuntimeError("HIP out of memory. Tried to allocate"), "MEMORY_SHORT"),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"), "MEMORY_SHORT"),
        (OSError(errno.ENOMEM, "in another language"), "MEMORY_SHORT"),
        (SafetensorError("Cannot allocate memory (os error 12)"), "MEMORY_SHORT"),
        (ImportError("libtorch_cpu.so: failed to map segment from shared object"), "MEMORY_SHORT"),
        (RuntimeError("can't start new thread"), "MEMORY_SHORT"),
        (OSError(errno.ENOSPC, "No space left on device"), "DISK_FULL"),
        (OSError(errno.EDQUOT, "in another language"), "DISK_FULL"),
        (OSError(errno.EFBIG, "File too large"), "DISK_FULL"),
        (SafetensorError("I/O error: No space left on device (os error 28)"), "DISK_FULL"),
        (OSError(errno.ENOENT, "No such file or directory"), None),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), None),
        (KeyError("out of memory"), None),
        (ModelError("MODEL_UNREADABLE", "it says: out of memory"), None),
    ],
)
def test_want_of_memory_and_disk_by_what_libraries_say(error: Exception, code: str | None) -> None:
    found = as_resource_error(error)
    assert (found.code if found else None) == code
    if found:
        assert found.exit_code == 6 and "\n" not in found.message


def test_the_gpus_memory_is_told_from_the_hosts() -> None:
    assert "the GPU's" in as_resource_error(torch.OutOfMemoryError("CUDA out of memory")).message
    assert "this host's" in as_resource_error(MemoryError()).message


def test_an_out_folder_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    check_out_folder(tmp_path / "a" / "b")
    assert left(tmp_path / "a" / "b") == []
    (tmp_path / "file").touch()
    with pytest.raises(UsageError):
        check_out_folder(tmp_path / "file")


def test_what_kept_a_file_from_being_written_is_named() -> None:
    for number, code in (
        (errno.EACCES, "OUT_UNWRITABLE"),
        (errno.EROFS, "OUT_UNWRITABLE"),
        (errno.ENOSPC, "DISK_FULL"),
    ):
        error = write_error(Path("out"), OSError(number, os.strerror(number)))
        assert isinstance(error, ResourceError) and error.code == code and error.exit_code == 6
