"""The hardware gate over the table that pairing judges too, and which of torch's GPUs is taken."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from lifeboat_kv.errors import HardwareError, UsageError
from lifeboat_kv.host.devices import NO_DEVICE, choose_device, host_verdict, torch_problem, verdict_on

CASES = Path(__file__).parents[3] / "pairing" / "src" / "cases"
ROWS = [
    row for name in ("hardware", "hardware-more") for row in json.loads((CASES / f"{name}.json").read_text())
]
H200 = {"vendor": "nvidia", "name": "NVIDIA H200", "capability": "9.0"}
T4 = {"vendor": "nvidia", "name": "Tesla T4", "capability": "7.5"}
MI300X = {"vendor": "amd", "name": "AMD Instinct MI300X", "capability": "gfx942"}
RADEON = {"vendor": "amd", "name": "AMD Radeon RX 7900 XTX", "capability": "gfx1100"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_verdicts_are_pairings(row: dict) -> None:
    assert verdict_on(row) == {"ok": "allowed"}.get(row["verdict"], row["verdict"])


@pytest.fixture
def torch_sees(monkeypatch: pytest.MonkeyPatch):
    """Simulates what an installed torch can use: `hip` or `cuda`, and its GPUs in its own order."""
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)

    def seen(build: str | None, *capabilities: str) -> None:
        monkeypatch.setattr(torch.version, "hip", "7.2" if build == "hip" else None)
        monkeypatch.setattr(torch.version, "cuda", "13.0" if build == "cuda" else None)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(capabilities))
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(capabilities))
        monkeypatch.setattr(
            torch.cuda, "get_device_capability", lambda i: tuple(map(int, capabilities[i].split(".")))
        )
        monkeypatch.setattr(
            torch.cuda, "get_device_properties", lambda i: SimpleNamespace(gcnArchName=capabilities[i])
        )

    return seen


@pytest.mark.parametrize(
    ("build", "seen", "devices", "wanted", "device"),
    [
        ("cuda", ["9.0"], [H200], "auto", "cuda"),
        ("cuda", ["9.0"], [H200], "cuda", "cuda"),
        ("cuda", ["7.5", "9.0"], [H200, T4], "auto", "cuda:1"),
        ("cuda", ["9.0", "7.5"], [T4, H200], "auto", "cuda"),
        ("hip", ["gfx942:sramecc+:xnack-"], [MI300X], "rocm", "cuda"),
        ("hip", ["gfx1100", "gfx942"], [RADEON, MI300X], "auto", "cuda:1"),
        ("hip", ["gfx942"], [H200, MI300X], "auto", "cuda"),
        ("cuda", ["9.0"], [MI300X, H200], "auto", "cuda"),
    ],
)
def test_the_allowed_gpu_is_taken_whatever_the_order(
    torch_sees, build: str, seen: list[str], devices: list[dict], wanted: str, device: str
) -> None:
    torch_sees(build, *seen)
    assert choose_device(wanted, devices) == device
    assert torch_problem(devices) is None


@pytest.mark.parametrize(
    ("build", "seen", "devices", "words"),
    [
        (None, [], [H200], "pip install --force-reinstall torch=="),
        (None, [], [MI300X], "/whl/rocm"),
        ("cuda", ["9.0"], [MI300X], "/whl/rocm"),
        ("hip", ["gfx942"], [H200], "pypi.org/simple"),
        ("cuda", ["7.5"], [H200], "cannot use it"),
        ("hip", ["gfx1100"], [MI300X], "cannot use it"),
    ],
)
def test_a_gpu_that_torch_cannot_use_comes_with_the_command(
    torch_sees, build: str | None, seen: list[str], devices: list[dict], words: str
) -> None:
    torch_sees(build, *seen)
    with pytest.raises(HardwareError) as raised:
        choose_device("auto", devices)
    assert (raised.value.code, raised.value.exit_code) == ("TORCH_WITHOUT_GPU", 4)
    assert words in raised.value.message and torch_problem(devices) == raised.value.message


def test_a_gpu_hidden_by_the_environment_is_said_so(torch_sees, monkeypatch: pytest.MonkeyPatch) -> None:
    torch_sees("cuda")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(HardwareError, match="unset CUDA_VISIBLE_DEVICES"):
        choose_device("auto", [H200])


@pytest.mark.parametrize("wanted", ["auto", "cuda", "rocm", "cpu"])
def test_no_way_round_a_refused_gpu(wanted: str) -> None:
    unread = {
        "vendor": "nvidia",
        "name": "NVIDIA GPU",
        "capability": None,
        "problem": "NVML error 18: reboot",
    }
    for devices in ([T4], [RADEON], [T4, RADEON], [unread]):
        with pytest.raises(HardwareError) as raised:
            choose_device(wanted, devices)
        assert (raised.value.code, raised.value.exit_code) == ("HW_REFUSED", 4)
        assert devices[0]["name"] in raised.value.message
    if wanted != "cpu":
        assert "reboot" in raised.value.message


def test_the_cpu_is_chosen_by_name_alone_and_beside_no_gpu() -> None:
    assert choose_device("cpu", [NO_DEVICE]) == "cpu"
    for wanted in ("auto", "cuda", "rocm"):
        with pytest.raises(HardwareError, match="--device cpu") as raised:
            choose_device(wanted, [NO_DEVICE])
        assert raised.value.code == "NO_ACCELERATOR"
    with pytest.raises(UsageError):
        choose_device("cpu", [H200])
    with pytest.raises(UsageError):
        choose_device("gpu", [NO_DEVICE])


def test_a_mixed_host_is_taken_by_its_best() -> None:
    assert host_verdict([T4, RADEON]) == "refused"
    assert host_verdict([RADEON, H200]) == "allowed"
    with pytest.raises(HardwareError, match="--device rocm"):
        choose_device("rocm", [H200, RADEON])
