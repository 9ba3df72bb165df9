"""AMD's tool and the kernel's list, simulated: no GPU was asked here.

The answers keep the shapes that amd-smi's versions print (ROCm 6.0 to 7.x) with made-up serial numbers.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifeboat_kv.host import amd_smi
from lifeboat_kv.host.devices import host_verdict, verdict_on


def asic(name: str, architecture: object = None, **more: object) -> dict:
    facts = {
        "market_name": name,
        "vendor_id": "0x1002",
        "vendor_name": "Advanced Micro Devices Inc. [AMD/ATI]",
        "subvendor_id": "0x1002",
        "device_id": "0x740f",
        "rev_id": "0x02",
        "asic_serial": "0x1234567890ABCDEF",
        "oam_id": 0,
        **more,
    }
    return facts if architecture is None else {**facts, "target_graphics_version": architecture}


MI300X = {"gpu": 0, "asic": asic("AMD Instinct MI300X", "gfx942", num_compute_units=304)}
MI210 = {"gpu": 1, "asic": asic("AMD Instinct MI210", "gfx90a:sramecc+:xnack-")}
W6800 = {"gpu": 0, "asic": asic("AMD Radeon PRO W6800", "gfx1030")}
BEFORE_6_3 = {"gpu": 0, "asic": asic("AMD INSTINCT MI250 (MCM) OAM AC MBA")}
UNSAID = {"gpu": 0, "asic": asic("N/A", "N/A", asic_serial="N/A")}
NO_CHIP = {"gpu": 0, "asic": "N/A"}
NETWORK_CARD = {"ai_nic": 0, "product_name": "POLLARA 1x400G"}


@pytest.mark.parametrize(
    ("answer", "capabilities", "host"),
    [
        ([MI300X], ["gfx942"], "allowed"),
        ({"gpu_data": [MI300X, MI210]}, ["gfx942", "gfx90a"], "allowed"),
        ({"gpu_data": [W6800], "nic_data": [NETWORK_CARD]}, ["gfx1030"], "refused"),
        ([W6800, MI300X], ["gfx1030", "gfx942"], "allowed"),
        ([BEFORE_6_3], [None], "refused"),
        ([UNSAID], [None], "refused"),
        ([NO_CHIP], [None], "refused"),
        ([{"gpu": 0, "asic": asic("MI300A", 0x942)}], [None], "refused"),
        ([{"gpu": 0, "asic": asic("MI355X", "GFX950")}], ["gfx950"], "allowed"),
        ([{"gpu": 0, "asic": asic("Radeon VII", "gfx906")}], ["gfx906"], "refused"),
        ([NETWORK_CARD, MI300X], ["gfx942"], "allowed"),
    ],
)
def test_the_shapes_of_its_answer(answer: object, capabilities: list, host: str) -> None:
    devices = amd_smi.amd_smi_devices(answer)
    assert [device["capability"] for device in devices] == capabilities
    assert host_verdict(devices) == host
    for device in devices:
        assert device["name"] and (device["capability"] is None) == bool(device["problem"])


@pytest.mark.parametrize("answer", [[], {}, {"gpu_data": "none"}, None, 7, "junk", [None, 3, []]])
def test_what_is_no_answer_is_no_device(answer: object) -> None:
    assert amd_smi.amd_smi_devices(answer) == []


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A host with a simulated tool on its path and nodes in the kernel's list."""
    monkeypatch.setattr(amd_smi, "KFD", tmp_path / "nodes")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def made(script: str | None = None, nodes: list[str] | None = None) -> list[dict]:
        if script is not None:
            (tmp_path / "amd-smi").write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / "amd-smi").chmod(0o755)
        for number, properties in enumerate(nodes or []):
            folder = tmp_path / "nodes" / str(number)
            folder.mkdir(parents=True)
            (folder / "properties").write_text(properties)
        return amd_smi.amd_devices()

    return made


PROCESSOR = "cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n"
MI250_NODE = "cpu_cores_count 0\nsimd_count 416\ngfx_target_version 90010\n"
MI300_NODE = "simd_count 1216\ngfx_target_version 90402\n"
RADEON_NODE = "simd_count 192\ngfx_target_version 110000\n"
UNREADABLE_NODE = "simd_count 192\ngfx_target_version 0\n"


def test_the_tool_is_asked_as_it_prints(host) -> None:
    answer = json.dumps({"gpu_data": [MI300X]})
    script = f"test \"$*\" = 'static --asic --json' && echo '{answer}'"
    assert [d["capability"] for d in host(script)] == ["gfx942"]


@pytest.mark.parametrize(
    "script",
    [
        "exit 1",
        "echo 'AMD SMI: driver not loaded' >&2; exit 255",
        "echo 'WARNING: no JSON data'",
        "printf '\\377\\376junk'",
        "echo '[]'",
        "kill -9 $$",
    ],
)
def test_a_tool_that_fails_leaves_the_kernels_list(host, script: str) -> None:
    devices = host(script, [PROCESSOR, MI300_NODE])
    assert [d["capability"] for d in devices] == ["gfx942"] and verdict_on(devices[0]) == "allowed"


def test_a_tool_that_hangs_is_left_behind(host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amd_smi, "PATIENCE_SECONDS", 0.3)
    assert [d["capability"] for d in host("sleep 60 & wait", [RADEON_NODE])] == ["gfx1100"]


def test_a_tool_that_cannot_be_started(host, tmp_path: Path) -> None:
    (tmp_path / "amd-smi").write_text("#!/nowhere/at/all\n")
    (tmp_path / "amd-smi").chmod(0o755)
    assert host() == []


def test_an_older_tool_is_completed_from_the_kernel(host) -> None:
    (device,) = host(f"echo '{json.dumps([BEFORE_6_3])}'", [PROCESSOR, MI250_NODE])
    assert device["name"].startswith("AMD INSTINCT MI250") and device["capability"] == "gfx90a"
    assert device["problem"] is None and verdict_on(device) == "allowed"


def test_the_kernels_list_alone(host) -> None:
    devices = host(None, [PROCESSOR, PROCESSOR, MI250_NODE, RADEON_NODE, UNREADABLE_NODE, "junk", ""])
    assert [d["capability"] for d in devices] == ["gfx90a", "gfx1100", None]
    assert [verdict_on(d) for d in devices] == ["allowed", "refused", "refused"]


def test_a_host_without_either(host) -> None:
    assert host() == []
    assert host(None, [PROCESSOR]) == []
