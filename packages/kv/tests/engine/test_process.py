"""The engine as the node starts it: one process, one socket, a drain at the end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lifeboat_kv.engine.options import parse_listen, parse_options
from lifeboat_kv.errors import UsageError


def command(folders: dict[str, Path], *extra: str) -> list[str]:
    """The engine's command line on the bundled models."""
    models = ["--pilot", str(folders["pilot"]), "--target", str(folders["target"])]
    return [sys.executable, "-m", "lifeboat_kv.engine", *models, "--kv-budget-bytes", str(64 << 20), *extra]


@contextlib.contextmanager
def spawned(line: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process with its output in pipes; whatever happens, it is gone afterwards."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    source = Path(__file__).parents[2] / "src"
    pipe = subprocess.PIPE
    child = subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, env=environment, cwd=source)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


@pytest.fixture
def process(folders: dict[str, Path], tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A started engine on a Unix socket."""
    path = tmp_path / "engine.sock"
    with spawned(command(folders, "--listen", f"unix:{path}", "--drain-seconds", "150")) as started:
        assert json.loads(started.stdout.readline()) == {
            "event": "ready",
            "engine": "lifeboat-reference",
            "listen": f"unix:{path}",
            "models": ["pilot", "target"],
        }
        yield started, path


def test_private_socket_then_a_drain(process: tuple[subprocess.Popen[str], Path]) -> None:
    started, path = process
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    transport = httpx.HTTPTransport(uds=str(path))
    with httpx.Client(transport=transport, base_url="http://engine", timeout=150) as client:
        assert client.get("/health").status_code == 200
        answers: list[httpx.Response] = []
        body: dict[str, Any] = {"model": "target", "prompt": "a", "max_tokens": 800, "ignore_eos": True}
        asking = threading.Thread(target=lambda: answers.append(client.post("/v1/completions", json=body)))
        asking.start()
        wait_for(
            lambda: 'num_requests_running{model_name="target",engine="0"} 1' in client.get("/metrics").text
        )
        started.send_signal(signal.SIGTERM)
        wait_for(lambda: client.get("/health").status_code == 503)
        refused = client.post("/v1/completions", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")
        asking.join(150)
        assert answers[0].json()["usage"]["completion_tokens"] == 800
    assert started.wait(60) == 0
    assert not path.exists()
    assert "Traceback" not in started.stderr.read()


def test_a_drain_that_runs_out_refuses_what_still_runs(folders: dict[str, Path]) -> None:
    line = command(folders, "--listen", "127.0.0.1:0", "--drain-seconds", "0.2")
    with spawned(line) as started:
        url = f"http://{json.loads(started.stdout.readline())['listen']}"
        body: dict[str, Any] = {"model": "pilot", "prompt": "a", "max_tokens": 5000, "ignore_eos": True}
        with httpx.Client(base_url=url, timeout=150) as client:
            answers: list[httpx.Response] = []
            ask = threading.Thread(target=lambda: answers.append(client.post("/v1/completions", json=body)))
            ask.start()
            gauge = 'num_requests_running{model_name="pilot",engine="0"} 1'
            wait_for(lambda: gauge in client.get("/metrics").text)
            started.send_signal(signal.SIGTERM)
            ask.join(200)
        assert answers[0].status_code == 503
        assert answers[0].json()["error"]["code"] == "overloaded"
        assert started.wait(60) == 0


def wait_for(holds: Callable[[], bool]) -> None:
    """Polls for some minutes: a busy machine is no fault of the engine."""
    end = time.monotonic() + 200
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_it_ends_with_the_process_that_started_it(folders: dict[str, Path]) -> None:
    """The starter prints the engine's pid and ready line and is killed; the engine must not be left over."""
    starter = (
        "import subprocess, sys; p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True);"
        "print(p.pid, flush=True); print(p.stdout.readline(), flush=True); p.wait()"
    )
    line = command(folders, "--listen", "127.0.0.1:0", "--exit-with-parent")
    with spawned([sys.executable, "-c", starter, *line]) as parent:
        pid = int(parent.stdout.readline())
        assert "ready" in parent.stdout.readline()
    wait_for(lambda: not running_process(pid))


def test_a_parent_that_dies_while_models_load_is_not_outlived(folders: dict[str, Path]) -> None:
    starter = (
        "import os, subprocess, sys; env = {**os.environ, 'LIFEBOAT_PARENT_PID': str(os.getpid())};"
        "p = subprocess.Popen(sys.argv[1:], env=env, start_new_session=True); print(p.pid, flush=True)"
    )
    line = command(folders, "--listen", "127.0.0.1:0", "--exit-with-parent")
    with spawned([sys.executable, "-c", starter, *line]) as parent:
        pid = int(parent.stdout.readline())
        try:
            wait_for(lambda: not running_process(pid))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def running_process(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    empty = tmp_path / "nothing"
    arguments = ["--pilot", str(empty), "--listen", "127.0.0.1:0"]
    run = subprocess.run(
        [sys.executable, "-m", "lifeboat_kv.engine", *arguments],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2] / "src",
    )
    assert run.returncode == 5
    assert "CONFIG_UNREADABLE" in run.stderr
    assert "Traceback" not in run.stderr


def test_options() -> None:
    found = parse_options(["--pilot", "a=/x", "--model", "/y", "--listen", "127.0.0.1:0", "--max-batch", "3"])
    assert found.models == (("a", Path("/x")), (None, Path("/y")))
    assert found.limits.max_batch == 3
    for wrong in (
        ["--listen", "127.0.0.1:0"],
        ["--pilot", "x"],
        ["--pilot", "x", "--listen", "0.0.0.0:80"],
        ["--pilot", "x", "--listen", "127.0.0.1:0", "--max-batch", "0"],
        ["--pilot", "x", "--listen", "127.0.0.1:0", "--nonsense"],
    ):
        with pytest.raises(UsageError):
            parse_options(wrong)
    assert parse_listen("[::1]:80").host == "::1"
    assert parse_listen("unix:/a/b").path == Path("/a/b")
