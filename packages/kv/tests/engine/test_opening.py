"""Models load one after another, each against what is measured free by then."""

from __future__ import annotations

import json
import mmap
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import torch

from lifeboat_kv.engine import memory_book, opening
from lifeboat_kv.engine.core import Engine
from lifeboat_kv.engine.kv_pool import KvPool, KvShape
from lifeboat_kv.engine.memory_ledger import RESERVE_BYTES, MemoryShortError
from lifeboat_kv.engine.memory_report import report_memory
from lifeboat_kv.engine.options import parse_options
from lifeboat_kv.engine.process_memory import resident_memory, touched_bytes
from lifeboat_kv.errors import EXIT_RESOURCES, UsageError

from .test_process import command, spawned

MIB = 1 << 20
CPU = torch.device("cpu")
PAGE = resource.getpagesize()


@pytest.fixture
def opened(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Engine]:
    """Opens an engine on a host where, by a double of the measurement, so much is free."""

    def start(*options: str, free: Callable[[], int]) -> Engine:
        monkeypatch.setattr(memory_book, "free_bytes", lambda device: free())
        models = [f"--model={name}={folder}" for name, folder in folders.items()]
        listen = ["--listen", "127.0.0.1:0"]
        return opening.open_engine(parse_options([*models, *listen, *options]), CPU, lambda batch: None)

    return start


def test_without_budgets_all_is_taken_from_what_is_free(opened: Callable[..., Engine]) -> None:
    engine = opened(free=lambda: RESERVE_BYTES + 600 * MIB)
    found = report_memory(engine)
    pools = {name: model["kv_pool_bytes"] for name, model in found["models"].items()}
    tokens = {name: pools[name] // found["models"][name]["kv_bytes_per_token"] for name in pools}
    assert abs(tokens["pilot"] - tokens["target"]) <= 16
    assert found["staging"]["budget_bytes"] < 600 * MIB // 16
    assert found["mappers"]["budget_bytes"] < 600 * MIB // 8
    # What was promised before the caches is kept out of them.
    assert 100 * MIB < sum(pools.values()) < 300 * MIB
    assert found["reserve_bytes"] == RESERVE_BYTES


def test_the_second_model_gets_what_the_first_left(
    opened: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else took memory while the first was loaded: its budget stands, the other's shrinks."""
    first: dict[str, int] = {}

    def free() -> int:
        return RESERVE_BYTES + (450 if first else 900) * MIB

    real = opening.KvPool

    def watched(shape: KvShape, size: int, device: torch.device) -> KvPool:
        first.setdefault("bytes", size)
        return real(shape, size, device)

    monkeypatch.setattr(opening, "KvPool", watched)
    engine = opened(free=free)
    models = report_memory(engine)["models"]
    per_token = {name: model["kv_bytes_per_token"] for name, model in models.items()}
    alike = models["pilot"]["kv_pool_bytes"] // per_token["pilot"] * per_token["target"]
    assert models["target"]["kv_pool_bytes"] < alike


def test_what_engines_beside_were_promised_is_kept_out(opened: Callable[..., Engine]) -> None:
    def pools(*options: str, free: int) -> list[int]:
        models = report_memory(opened(*options, free=lambda: RESERVE_BYTES + free))["models"]
        return [model["kv_pool_bytes"] for model in models.values()]

    assert pools("--promised-bytes", str(300 * MIB), free=900 * MIB) == pools(free=600 * MIB)
    # Staging and the two tiers of mappers take one byte each where nothing is left.
    with pytest.raises(MemoryShortError, match="629,145,603 are promised to others"):
        opened("--promised-bytes", str(600 * MIB), "--kv-budget-bytes", "1000000", free=lambda: RESERVE_BYTES)
    with pytest.raises(UsageError):
        opened("--promised-bytes", "-1", free=lambda: 0)


def test_a_second_model_that_does_not_fit_is_refused_before_the_first_is_loaded(
    opened: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    def untouched(*_: object) -> None:
        raise AssertionError("nothing may be loaded")

    monkeypatch.setattr(opening, "open_model", untouched)
    budgets = f"pilot={100 * MIB},target={700 * MIB}"
    with pytest.raises(MemoryShortError, match="target does not fit") as caught:
        opened("--kv-budget-bytes", budgets, free=lambda: RESERVE_BYTES + 900 * MIB)
    assert caught.value.missing_bytes > 0
    assert caught.value.needed_bytes - caught.value.available_bytes == caught.value.missing_bytes


def test_a_second_model_that_no_longer_fits_is_refused_before_it_is_allocated(
    opened: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    load = opening.open_model

    def watched(folder: Path, *rest: object) -> object:
        loaded.append(folder.name)
        return load(folder, *rest)

    monkeypatch.setattr(opening, "open_model", watched)
    budgets = f"pilot={100 * MIB},target={300 * MIB}"

    def free() -> int:
        return RESERVE_BYTES + (900 if not loaded else 500) * MIB

    with pytest.raises(MemoryShortError, match="target does not fit"):
        opened("--kv-budget-bytes", budgets, free=free)
    assert loaded == ["pilot"]


def test_budgets_of_no_use_are_refused(opened: Callable[..., Engine]) -> None:
    for wrong in ("pilot=5,target=900000", "pilto=900000"):
        with pytest.raises(UsageError, match="--kv-budget-bytes"):
            opened("--kv-budget-bytes", wrong, free=lambda: 4 << 30)
    with pytest.raises(MemoryShortError, match="The budget for staging"):
        opened("--staging-budget-bytes", str(5 << 30), free=lambda: 4 << 30)


def test_the_process_says_what_is_missing_and_ends_with_the_code_of_resources(
    folders: dict[str, Path],
) -> None:
    line = command(folders, "--listen", "127.0.0.1:0", "--staging-budget-bytes", str(1 << 50))
    run = subprocess.run(line, capture_output=True, text=True, cwd=Path(__file__).parents[2] / "src")
    assert run.returncode == EXIT_RESOURCES
    said = json.loads(run.stdout)
    assert (said["event"], said["code"]) == ("failed", "MEMORY_SHORT")
    assert f"{1 << 50:,} bytes" in said["message"]
    assert said["message"] in run.stderr


def test_a_pool_comes_into_memory_as_it_is_written() -> None:
    before = resident_memory()
    assert before is not None
    pool = KvPool(KvShape(layers=2, kv_heads=2, head_dim=64, dtype=torch.float32), 256 * MIB, CPU)
    assert pool.touched_bytes == 0
    slots = torch.arange(16, 16 * 200)
    rows = torch.ones(2, len(slots), 64)
    pool.write(0, slots, rows, rows)
    written = 2 * rows.nbytes
    assert written <= (pool.touched_bytes or 0) < written + 8 * PAGE
    after = resident_memory()
    assert after is not None
    assert after.total - before.total < 64 * MIB
    assert pool.layers[1].abs().sum() == 0


def test_pages_are_counted_as_they_lie() -> None:
    room = mmap.mmap(-1, 8 * PAGE)
    tensor = torch.frombuffer(room, dtype=torch.uint8)
    assert touched_bytes(tensor) == 0
    tensor[3 * PAGE] = 1
    tensor[5 * PAGE + 7] = 1
    assert touched_bytes(tensor) == 2 * PAGE


def test_a_real_engine_measures_its_own_loading(folders: dict[str, Path]) -> None:
    """In a process of its own: what the parts add up to lies within what is resident."""
    with spawned(command(folders, "--listen", "127.0.0.1:0")) as started:
        url = f"http://{json.loads(started.stdout.readline())['listen']}"
        found = httpx.get(f"{url}/helm/memory", timeout=150).json()
    models = found["models"].values()
    known = found["runtime_bytes"] + found["scratch_bytes"]
    known += sum(model["load_bytes"] + model["kv_touched_bytes"] for model in models)
    assert found["runtime_bytes"] > 50 * MIB
    assert all(model["load_bytes"] > 0 for model in models)
    assert sum(model["kv_touched_bytes"] for model in models) < 4 * MIB
    assert known <= 1.05 * found["process_resident_bytes"]
