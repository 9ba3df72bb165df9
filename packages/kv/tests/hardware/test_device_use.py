"""What a guard is told of a device by a simulated driver library and tool: no GPU was asked here."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lifeboat_kv.host import amd_smi, free_memory, nvml
from lifeboat_kv.host.device_use import device_use
from lifeboat_kv.host.processes import resident_group

GIB = 1 << 30
GPU = "NVIDIA H200|9|0|GPU-11|150754820096|0|0"
NOT_SAID = (1 << 64) - 1


@pytest.fixture
def gpu(library: Path | None, monkeypatch: pytest.MonkeyPatch):
    """A GPU of the simulated library, busy as told; the process list is by (pid, bytes, name)."""
    if library is None:
        pytest.skip("no C compiler to make the simulated library with")
    monkeypatch.setattr(nvml, "LIBRARY", str(library))
    monkeypatch.setenv("SIM_NVML_GPUS", GPU)

    def asked(
        processes: list[tuple[int, int, str]] = [],  # noqa: B006
        use: str = f"{140 * GIB}|{100 * GIB}|{40 * GIB}|35",
        device: str = "GPU-11",
        **codes: int,
    ) -> dict[str, Any]:
        monkeypatch.setenv("SIM_NVML_USE", use)
        monkeypatch.setenv("SIM_NVML_PROCESSES", "\n".join("|".join(map(str, row)) for row in processes))
        for name, code in codes.items():
            monkeypatch.setenv(f"SIM_NVML_{name.upper()}", str(code))
        return device_use(device)

    return asked


def test_memory_utilisation_and_who_computes(gpu) -> None:
    told = gpu([(os.getpid(), 3 * GIB, "/usr/bin/python3.11"), (1, NOT_SAID, "nv-hostengine")])
    assert told["kind"] == "nvidia" and told["name"] == "NVIDIA H200" and told["uuid"] == "GPU-11"
    assert told["memory"] == {"total_bytes": 140 * GIB, "free_bytes": 100 * GIB, "used_bytes": 40 * GIB}
    assert told["utilisation"] == 35 and told["problems"] == []
    observer, own = told["processes"]
    assert (observer["pid"], observer["name"], observer["used_bytes"]) == (1, "nv-hostengine", None)
    assert (own["pid"], own["name"], own["used_bytes"]) == (os.getpid(), "python3.11", 3 * GIB)
    assert own["seen"] and own["group"] == os.getpgid(0) and os.getppid() in own["ancestors"]


def test_a_process_of_another_namespace_is_told_as_unseen(gpu) -> None:
    for pid in (0, 4_000_000):
        (told,) = gpu([(pid, GIB, "x")])["processes"]
        assert not told["seen"] and told["group"] is None and told["ancestors"] == []
        assert told["pid"] == (pid or None)


def test_more_processes_than_the_first_question_had_room_for(gpu) -> None:
    rows = [(5_000_000 + i, i, f"p{i}") for i in range(200)]
    assert [p["used_bytes"] for p in gpu(rows)["processes"]] == list(range(200))


@pytest.mark.parametrize(
    ("code", "field"), [("list", "processes"), ("memory", "memory"), ("utilisation", "utilisation")]
)
def test_what_the_driver_does_not_say_is_missing_and_not_nothing(gpu, code: str, field: str) -> None:
    told = gpu(**{code: 3})
    assert told[field] is None
    (problem,) = told["problems"]
    assert field in problem and "NVML error 3" in problem
    assert all(told[other] is not None for other in {"processes", "memory", "utilisation"} - {field})


@pytest.mark.parametrize(("codes", "words"), [({"init": 4}, "permission"), ({"init": 18}, "reboot")])
def test_a_driver_that_does_not_start_says_why(gpu, codes: dict[str, int], words: str) -> None:
    told = gpu(**codes)
    assert told["memory"] is told["processes"] is told["utilisation"] is None
    assert words in told["problems"][0]


def test_gpus_by_number_and_one_that_is_not_there(gpu) -> None:
    assert gpu(device="cuda")["uuid"] == gpu(device="cuda:0")["uuid"] == "GPU-11"
    for device in ("cuda:3", "GPU-99"):
        told = gpu(device=device)
        assert told["memory"] is None and "NVML error 6" in told["problems"][0]


class OldDriver:
    """A double of a library from before the second versions of its questions, with `rows` of (pid, bytes)."""

    def __init__(self, rows: list[tuple[int, int]]) -> None:
        self.rows = rows
        for call in ("Init_v2", "Shutdown", "DeviceGetHandleByIndex_v2", "DeviceGetName", "DeviceGetUUID"):
            setattr(self, f"nvml{call}", lambda *_: 0)

    def nvmlDeviceGetMemoryInfo(self, _: Any, memory: Any) -> int:
        memory._obj.total, memory._obj.free, memory._obj.used = 10, 7, 3
        return 0

    def nvmlDeviceGetUtilizationRates(self, _: Any, rates: Any) -> int:
        rates._obj.gpu = 50
        return 0

    def nvmlDeviceGetComputeRunningProcesses(self, _: Any, count: Any, rows: Any) -> int:
        room, count._obj.value = count._obj.value, len(self.rows)
        if room < len(self.rows):
            return 7
        for row, (pid, used) in zip(rows, self.rows, strict=False):
            row.pid, row.used = pid, used
        return 0


def test_a_driver_that_knows_only_the_first_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(5_000_000 + i, i) for i in range(100)]
    monkeypatch.setattr(ctypes, "CDLL", lambda _: OldDriver(rows))
    told = device_use("cuda:0")
    assert told["memory"] == {"total_bytes": 10, "free_bytes": 7, "used_bytes": 3}
    assert told["utilisation"] == 50 and told["problems"] == []
    assert [(p["pid"], p["used_bytes"]) for p in told["processes"]] == rows


def test_a_host_without_the_drivers_library(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(nvml, "LIBRARY", str(tmp_path / "nowhere.so"))
    told = device_use("cuda")
    assert told["processes"] is None and "cannot be loaded" in told["problems"][0]


def test_the_verb_prints_one_event(library: Path | None) -> None:
    """A whole process, the simulated library on its search path, as a real one would be found."""
    if library is None:
        pytest.skip("no C compiler to make the simulated library with")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(library.parent),
        "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
        "SIM_NVML_GPUS": GPU,
        "SIM_NVML_USE": "10|7|3|99",
    }
    command = [sys.executable, "-m", "lifeboat_kv", "guard", "--device", "GPU-11"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    event = json.loads(done.stdout)
    assert event["type"] == "guard" and event["device"]["memory"]["free_bytes"] == 7
    assert event["device"]["utilisation"] == 99 and event["device"]["processes"] == []


def test_a_cpu_tells_main_memory_and_the_groups_that_were_named(monkeypatch) -> None:
    monkeypatch.setattr(free_memory, "_group_limit", lambda: 8 * GIB)
    monkeypatch.setattr(free_memory, "_group_bytes", lambda: 3 * GIB)
    monkeypatch.setattr(free_memory, "_host_bytes", lambda: 5 * GIB)
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        told = device_use("cpu", [child.pid, 4_000_000])
    finally:
        child.kill()
        child.wait()
    assert told["kind"] == "cpu" and told["memory"]["free_bytes"] == 3 * GIB
    assert told["memory"]["total_bytes"] <= 8 * GIB and told["problems"] == []
    (group,) = told["processes"]
    assert group["pid"] == child.pid and group["used_bytes"] > 0 and os.getpid() in group["ancestors"]
    assert resident_group(child.pid) is None


VM_STAT = """Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               10000.
Pages active:                            400000.
Pages inactive:                           20000.
Pages speculative:                         3000.
Pages throttled:                              0.
Pages wired down:                        150000.
Pages purgeable:                            500.
"""


@pytest.mark.parametrize(("told", "pages"), [(VM_STAT, 33_500), ("", None), ("vm_stat: no", None)])
def test_macos_tells_its_free_pages_simulated(monkeypatch, tmp_path, told: str, pages: int | None) -> None:
    (tmp_path / "told").write_text(told)
    (tmp_path / "vm_stat").write_text(f'#!/bin/sh\ncat "{tmp_path}/told"\n')
    (tmp_path / "vm_stat").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(free_memory.sys, "platform", "darwin")
    assert free_memory._host_bytes() == (pages and pages * 16384)


def test_a_system_that_does_not_tell_its_memory(monkeypatch) -> None:
    for name in ("_host_bytes", "_group_bytes", "_process_bytes"):
        monkeypatch.setattr(free_memory, name, lambda: None)
    told = device_use("cpu")
    assert told["memory"] is None and told["problems"]


STATIC = [
    {"gpu": 0, "asic": {"market_name": "MI300X", "target_graphics_version": "gfx942", "asic_serial": "0x1"}}
]
METRIC = {
    "gpu": 0,
    "usage": {"gfx_activity": {"value": 12, "unit": "%"}},
    "mem_usage": {
        "total_vram": {"value": 196592, "unit": "MB"},
        "used_vram": {"value": 1024, "unit": "MB"},
        "free_vram": {"value": 195568, "unit": "MB"},
    },
}
PROCESS = {
    "name": "/opt/python/bin/python3",
    "pid": 4_000_000,
    "memory_usage": {"vram_mem": {"value": 5, "unit": "MB"}, "gtt_mem": {"value": 0, "unit": "B"}},
}


@pytest.fixture
def amd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A host with a simulated amd-smi on its path, whose answers keep the shapes that its versions print."""
    monkeypatch.setattr(amd_smi, "KFD", tmp_path / "nodes")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def asked(metric: object, process: object, device: str = "rocm") -> dict[str, Any]:
        for name, answer in (("static", STATIC), ("metric", metric), ("process", process)):
            (tmp_path / f"{name}.json").write_text(answer if isinstance(answer, str) else json.dumps(answer))
        (tmp_path / "amd-smi").write_text(f'#!/bin/sh\ncat "{tmp_path}/$1.json"\n')
        (tmp_path / "amd-smi").chmod(0o755)
        return device_use(device)

    return asked


def test_what_amd_smi_tells_in_all_its_shapes(amd) -> None:
    none = [{"gpu": 0, "process_list": [{"process_info": "No running processes detected"}]}]
    one = {"gpu_data": [{"gpu": 0, "process_list": [{"process_info": PROCESS}]}]}
    for metric in ([METRIC], {"gpu_data": [METRIC]}):
        told = amd(metric, none)
        assert told["memory"]["free_bytes"] == 195568 << 20 and told["utilisation"] == 12
        assert told["processes"] == [] and told["problems"] == [] and told["uuid"] == "0x1-0"
    (process,) = amd([METRIC], one, device="0x1-0")["processes"]
    assert (process["name"], process["used_bytes"], process["seen"]) == ("python3", 5 << 20, False)


@pytest.mark.parametrize("answer", ["", "junk", [], {}, [{"gpu": 0}], [{"gpu": 0, "process_list": "N/A"}]])
def test_what_amd_smi_does_not_tell_is_missing(amd, answer: object) -> None:
    told = amd(answer, answer)
    assert told["memory"] is told["utilisation"] is told["processes"] is None
    assert len(told["problems"]) == 3 and all("amd-smi" in p for p in told["problems"])


def test_a_process_that_amd_smi_half_tells_is_no_empty_list(amd) -> None:
    rows = [{"gpu": 0, "process_list": [{"process_info": {"name": "x", "pid": "N/A"}}]}]
    assert amd([METRIC], rows)["processes"] is None
