"""Whole runs of the command line as real processes, started fast: a server imports torch once and forks.

A child is a process like any other (signals, limits, mounts of its own); what a test does to it before the
run goes by a `Setting`, and where it should hold still by `pause`.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["lifeboat_kv.calibration.calibrate", "lifeboat_kv.__main__", "tiny"])
_NEW_MOUNTS, _PRIVATE, _RECURSIVE, _READ_ONLY = 0x20000, 1 << 18, 1 << 14, 1
PATIENCE_SECONDS = 120


@dataclass(frozen=True)
class Setting:
    """`pause`: a stage to hold still in, or "half a file". `disk`: a folder on a file system of its own, of
    so many KiB, read-only where `read_only`. `file_limit`: bytes a file may have from the last stage on.
    `no_memory_from`: a stage from whose progress on the process may take no further address space."""

    pause: str | None = None
    disk: Path | None = None
    kibibytes: int = 64
    read_only: bool = False
    file_limit: int | None = None
    no_memory_from: str | None = None


class Ran:
    """A run under way; its events as they come, and how it ended."""

    def __init__(self, arguments: list[str], setting: Setting, folder: Path) -> None:
        self._pipe = folder / f"events-{time.monotonic_ns()}"
        os.mkfifo(self._pipe)
        self.process = CONTEXT.Process(
            target=_child, args=(arguments, setting, str(self._pipe), str(folder / "stderr"))
        )
        self.process.start()
        self.events: list[dict] = []
        self._more = threading.Condition()
        self._over = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, found: Callable[[dict], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        with self._more:
            while not any(found(event) for event in self.events):
                assert not self._over and time.monotonic() < deadline, self.events[-3:]
                self._more.wait(timeout=1)

    def end(self, number: signal.Signals | None = None) -> int:
        """Sends `number`, where given, and waits. The exit code; negative for a signal's."""
        if number is not None:
            os.kill(self.process.pid, number)
        self.process.join(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        assert self.process.exitcode is not None
        return self.process.exitcode

    def _read(self) -> None:
        with open(self._pipe, encoding="utf-8") as lines:
            for line in _whole_lines(lines):
                with self._more:
                    self.events.append(json.loads(line))
                    self._more.notify_all()
        with self._more:
            self._over = True
            self._more.notify_all()


def _whole_lines(lines: Iterator[str]) -> Iterator[str]:
    return (line for line in lines if line.endswith("\n"))


def _child(arguments: list[str], setting: Setting, pipe: str, stderr: str) -> None:
    os.dup2(os.open(pipe, os.O_WRONLY), 1)
    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    from lifeboat_kv import __main__, events
    from lifeboat_kv.calibration import calibrate
    from lifeboat_kv.mapper import artifact

    if setting.disk is not None:
        _mount(setting)
    # One short length: what is tested here is how a run ends, not what it measures.
    measured = calibrate.cost_table
    calibrate.cost_table = lambda *given, **named: measured(*given, **{**named, "lengths": (64,)})
    told = events.Events.stage

    def stage(self: events.Events, name: str) -> None:
        told(self, name)
        if name == setting.no_memory_from:
            _take_no_more()
        if name == "write" and setting.file_limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (setting.file_limit, setting.file_limit))
        if name == setting.pause:
            _hold_still()

    events.Events.stage = stage
    if setting.pause == "half a file":

        def half(tensors: object, file: Path, metadata: object) -> None:
            file.write_bytes(b"\0" * 4096)
            _hold_still()

        artifact.save_file = half
    os._exit(__main__.main(arguments))


def _hold_still() -> None:
    line = json.dumps({"type": "paused"})
    os.write(1, f"{line}\n".encode())
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        time.sleep(0.02)


def _take_no_more() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))


def _mount(setting: Setting) -> None:
    """A small file system over the folder, in this process's own view alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    flags = _READ_ONLY if setting.read_only else 0
    options = f"size={setting.kibibytes}k".encode()
    where = str(setting.disk).encode()
    done = (
        libc.unshare(_NEW_MOUNTS) == 0
        and libc.mount(b"none", b"/", None, _PRIVATE | _RECURSIVE, None) == 0
        and libc.mount(b"tmpfs", where, b"tmpfs", flags, options) == 0
    )
    if not done:
        os._exit(77)
