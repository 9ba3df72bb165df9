"""The command line as another program sees it: lines, exit codes, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tiny import save_corpus, save_pair

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src"), "OMP_NUM_THREADS": "1"}


def call(*arguments: object) -> tuple[int, dict]:
    """Exit code and last event."""
    done = subprocess.run(
        [sys.executable, "-m", "lifeboat_kv", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=300,
    )
    return done.returncode, json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}


def test_codes(tmp_path: Path) -> None:
    source, target = save_pair(tmp_path)
    code, event = call("inspect", source)
    assert code == 0 and event["facts"]["model_type"] == "qwen3"
    code, event = call("inspect", tmp_path / "nothing")
    assert (code, event["type"], event["exit_code"]) == (5, "failed", 5)
    assert call("calibrate", "--k", "4")[0] == 2
    names = ("--source-model", source, "--target-model", target, "--out", tmp_path / "out")
    pair = ("calibrate", *names, "--k", 2)
    code, event = call(*pair, "--device", "cpu", "--corpus", tmp_path / "none")
    assert (code, event["code"]) == (5, "CORPUS_UNREADABLE")
    code, event = call("doctor")
    assert code == 0 and event["devices"][0]["vendor"] in ("none", "nvidia", "amd")
    if event["devices"][0]["vendor"] == "none":
        code, event = call(*pair, "--device", "auto")
        assert (code, event["code"]) == (4, "NO_ACCELERATOR")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_half_written(tmp_path: Path, number: signal.Signals) -> None:
    source, target = save_pair(tmp_path)
    corpus, out = save_corpus(tmp_path / "corpus", probes=130), tmp_path / "out"
    names = ("--source-model", source, "--target-model", target, "--corpus", corpus, "--out", out)
    run = subprocess.Popen(
        [sys.executable, "-m", "lifeboat_kv", "calibrate", *map(str, names), "--k", "2", "--device", "cpu"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=ENVIRONMENT,
    )
    assert run.stdout is not None
    for line in run.stdout:
        if json.loads(line).get("stage") == "capture":
            run.send_signal(number)
            break
    rest = run.stdout.read().splitlines()
    assert run.wait(timeout=60) == 130
    last = json.loads(rest[-1])
    assert (last["type"], last["code"], last["exit_code"]) == ("failed", "INTERRUPTED", 130)
    assert not out.exists() or list(out.iterdir()) == []
