"""NVIDIA's library, simulated: no GPU was asked here. What it can answer, and what is made of it.

Every case runs twice through the same code: against a simulated libnvidia-ml.so.1 compiled from C, and
against a double in Python where no compiler is at hand.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lifeboat_kv.host import nvml
from lifeboat_kv.host.devices import host_verdict, verdict_on

H200 = "NVIDIA H200|9|0|GPU-11|150754820096|0|0"
T4 = "Tesla T4|7|5|GPU-22|16106127360|0|0"
MIG = "NVIDIA A100-SXM4-80GB MIG 1g.10gb|8|0|MIG-33|10468982784|0|0"
LOST = "NVIDIA H100|9|0|GPU-44|1|15|0"
NO_CAPABILITY = "NVIDIA L4|8|9|GPU-55|24152899584|0|3"
ZERO = "NVIDIA something|0|0|GPU-66|1|0|0"


class Double:
    """What ctypes needs of the library, by the environment's word as in simulated_nvml.c."""

    def __init__(self, _: str) -> None:
        rows = os.environ.get("SIM_NVML_GPUS", "").splitlines()
        self.gpus = [row.split("|") for row in rows]

    def nvmlInit_v2(self) -> int:
        return int(os.environ.get("SIM_NVML_INIT", "0"))

    def nvmlShutdown(self) -> int:
        return 0

    def nvmlDeviceGetCount_v2(self, count: Any) -> int:
        count._obj.value = len(self.gpus)
        return int(os.environ.get("SIM_NVML_COUNT", "0"))

    def nvmlDeviceGetHandleByIndex_v2(self, index: Any, handle: Any) -> int:
        handle._obj.value = index.value + 1
        return int(self.gpus[index.value][5])

    def nvmlDeviceGetName(self, handle: Any, out: Any, _: Any) -> int:
        out.value = self.gpus[handle.value - 1][0].encode()
        return 0

    def nvmlDeviceGetUUID(self, handle: Any, out: Any, _: Any) -> int:
        out.value = self.gpus[handle.value - 1][3].encode()
        return 0

    def nvmlDeviceGetCudaComputeCapability(self, handle: Any, major: Any, minor: Any) -> int:
        row = self.gpus[handle.value - 1]
        major._obj.value, minor._obj.value = int(row[1]), int(row[2])
        return int(row[6])

    def nvmlDeviceGetMemoryInfo(self, handle: Any, memory: Any) -> int:
        memory._obj[0] = int(self.gpus[handle.value - 1][4])
        return 0


@pytest.fixture(params=["compiled", "double"])
def simulated(request, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, library: Path | None):
    """Sets what the simulated library answers; the kernel module's own list is empty unless given."""
    if request.param == "double":
        monkeypatch.setattr(ctypes, "CDLL", Double)
    elif library is None:
        pytest.skip("no C compiler to make the simulated library with")
    else:
        monkeypatch.setattr(nvml, "LIBRARY", str(library))
    monkeypatch.setattr(nvml, "DRIVER", tmp_path / "gpus")

    def answer(*gpus: str, init: int = 0, count: int = 0, driver: str | None = None) -> list[dict[str, Any]]:
        monkeypatch.setenv("SIM_NVML_GPUS", "\n".join(gpus))
        monkeypatch.setenv("SIM_NVML_INIT", str(init))
        monkeypatch.setenv("SIM_NVML_COUNT", str(count))
        if driver is not None:
            folder = tmp_path / "gpus" / "0000:01:00.0"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "information").write_text(f"Model: \t\t {driver}\nIRQ:   \t\t 51\n")
        return nvml.nvidia_devices()

    return answer


def test_what_is_read_of_a_gpu(simulated) -> None:
    assert simulated(H200) == [
        {
            "vendor": "nvidia",
            "name": "NVIDIA H200",
            "capability": "9.0",
            "uuid": "GPU-11",
            "memory_bytes": 150754820096,
            "problem": None,
        }
    ]


@pytest.mark.parametrize(
    ("gpus", "verdicts", "host"),
    [
        ([H200], ["allowed"], "allowed"),
        ([MIG], ["allowed"], "allowed"),
        ([T4], ["refused"], "refused"),
        ([T4, H200], ["refused", "allowed"], "allowed"),
        ([LOST], ["refused"], "refused"),
        ([LOST, H200], ["refused", "allowed"], "allowed"),
        ([NO_CAPABILITY], ["refused"], "refused"),
        ([ZERO], ["refused"], "refused"),
    ],
)
def test_verdicts(simulated, gpus: list[str], verdicts: list[str], host: str) -> None:
    devices = simulated(*gpus)
    assert [verdict_on(device) for device in devices] == verdicts
    assert host_verdict(devices) == host


@pytest.mark.parametrize(
    ("gpu", "problem"), [(LOST, "15"), (NO_CAPABILITY, "NVML error 3"), (ZERO, "0.0"), (H200, None)]
)
def test_what_could_not_be_read_is_said(simulated, gpu: str, problem: str | None) -> None:
    (device,) = simulated(gpu)
    if problem is None:
        assert device["problem"] is None
    else:
        assert device["capability"] is None and problem in device["problem"]


def test_no_gpu_is_none(simulated) -> None:
    assert simulated() == []


@pytest.mark.parametrize(
    ("code", "words"), [(4, "permission"), (15, "bus"), (17, "blocks"), (18, "reboot"), (999, "nvidia-smi")]
)
def test_a_library_that_does_not_start_refuses_and_says_why(simulated, code: int, words: str) -> None:
    (device,) = simulated(H200, init=code)
    assert (
        device["capability"] is None and words in device["problem"] and f"error {code}" in device["problem"]
    )
    assert verdict_on(device) == "refused"


def test_a_library_without_a_driver_means_no_gpu_unless_the_kernel_knows_one(simulated) -> None:
    assert simulated(init=9) == [] and simulated(init=12) == []
    (device,) = simulated(init=9, driver="NVIDIA A10")
    assert device["name"] == "NVIDIA A10" and verdict_on(device) == "refused"


def test_a_count_that_fails_refuses(simulated) -> None:
    (device,) = simulated(H200, count=999, driver="NVIDIA H200")
    assert device["name"] == "NVIDIA H200" and device["capability"] is None


def test_a_driver_without_its_library_is_a_gpu_that_cannot_be_read(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(nvml, "LIBRARY", str(tmp_path / "nowhere.so"))
    monkeypatch.setattr(nvml, "DRIVER", tmp_path)
    assert nvml.nvidia_devices() == []
    (tmp_path / "0000:01:00.0").mkdir()
    (device,) = nvml.nvidia_devices()
    assert "cannot be loaded" in device["problem"] and verdict_on(device) == "refused"


def test_a_library_too_old_to_ask_refuses(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    monkeypatch.setattr(nvml, "DRIVER", tmp_path)
    (device,) = nvml.nvidia_devices()
    assert "too old" in device["problem"] and verdict_on(device) == "refused"


def test_the_library_is_found_by_its_own_name(library: Path | None) -> None:
    """A whole process, the simulated library on its search path, as a real one would be found."""
    if library is None:
        pytest.skip("no C compiler to make the simulated library with")
    code = (
        "from lifeboat_kv.host.devices import host_devices, host_verdict; "
        "d = host_devices(); print(host_verdict(d), d)"
    )
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(library.parent),
        "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
        "SIM_NVML_GPUS": T4,
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("refused") and "Tesla T4" in done.stdout, done.stderr
