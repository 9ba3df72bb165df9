"""Memory: sums do not grow with the corpus, and what is free is found out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lifeboat_kv import memory
from lifeboat_kv.errors import ResourceError
from lifeboat_kv.memory import free_bytes, memory_budget

TESTS = Path(__file__).resolve().parents[1]
GATHER = """
import resource, sys
import torch
torch.set_num_threads(1)
from tiny import tiny_model
from lifeboat_kv.accumulate import Side, Wanted, accumulate
from lifeboat_kv.corpus import Sequence
from lifeboat_kv.passes import Pass, Widths
from lifeboat_kv.rope import Rope
side = [Side(m, Rope.from_model(m)) for m in (tiny_model(3, 32, 1), tiny_model(4, 48, 2))]
one = Wanted(Pass(("k", "v"), (0, 1, 2, 3), ("plain", "first")), "first", 2)
def texts(count):
    return [Sequence(str(i), "a", tuple((i * 7 + j * j) % 90 + 4 for j in range(90))) for i in range(count)]
def run(count):
    accumulate(texts(count), *side, Widths(3, 32, 4, 32), one, exact=lambda s: 0, stride=1, seed=0,
               batch_tokens=900, device="cpu")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run(30)
before = run(30)
print(run(8 * 30) - before)
"""


def test_eight_times_the_corpus_takes_no_more_memory() -> None:
    """Rows that were kept would be 18,900 more, of 224 columns, for keys and for values: 34 MB."""
    env = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent / 'src'}", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run([sys.executable, "-c", GATHER], env=env, capture_output=True, text=True, check=True)
    assert int(ran.stdout.split()[-1]) * 1024 < 12 << 20


def test_what_is_free_is_a_number_and_the_models_are_taken_off(monkeypatch) -> None:
    free = free_bytes("cpu")
    assert free is None or free > 1 << 20
    monkeypatch.setattr(memory, "free_bytes", lambda device: 8 << 30)
    facts = {"parameters": 100_000_000}
    left = memory_budget(facts, facts, "cpu")
    assert left is not None and left < (8 << 30) - 2 * 400_000_000
    large = {"parameters": 2_100_000_000}
    with pytest.raises(ResourceError) as raised:
        memory_budget(facts, large, "cpu")
    assert raised.value.code == "MEMORY_SHORT" and "8192 MiB are free" in raised.value.message
    monkeypatch.setattr(memory, "free_bytes", lambda device: None)
    assert memory_budget(facts, large, "cpu") is None


def test_a_control_group_counts_less_its_idle_files(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    assert memory._group_bytes() is None
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 400\ninactive_file 200\n")
    assert memory._group_bytes() == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._group_bytes() is None
