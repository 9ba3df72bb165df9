"""AMD's GPUs as the tool amd-smi tells them, and as the kernel lists them where the tool cannot."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

KFD = Path("/sys/class/kfd/kfd/topology/nodes")
PATIENCE_SECONDS = 20.0
_GRAPHICS = re.compile(r"gfx[0-9a-f]{3,4}")
_UNSAID = ("", "n/a", "none", "unknown")


def amd_devices() -> list[dict[str, Any]]:
    """Facts of every AMD GPU: {vendor, name, capability, uuid, problem}; empty for none.

    The tool leaves the architecture out before ROCm 6.3; the kernel's list, in the same order, fills it in.
    """
    told, kernel = _ask_tool(), kfd_devices()
    if not told:
        return kernel
    if len(told) == len(kernel):
        for device, known in zip(told, kernel, strict=True):
            if device["capability"] is None:
                device |= {"capability": known["capability"], "problem": known.get("problem")}
    return told


def amd_smi_devices(answer: Any) -> list[dict[str, Any]]:
    """Devices from the JSON of `amd-smi static --asic --json`: a list, or a list under `gpu_data`."""
    rows = answer.get("gpu_data") if isinstance(answer, dict) else answer
    found = []
    for row in rows if isinstance(rows, list) else []:
        # Network cards stand in the same list; what is no GPU has neither number nor chip.
        if not isinstance(row, dict) or not ("asic" in row or "gpu" in row):
            continue
        asic = row.get("asic") if isinstance(row.get("asic"), dict) else {}
        architecture = str(asic.get("target_graphics_version", "")).strip().lower().split(":")[0]
        read = _GRAPHICS.fullmatch(architecture) is not None
        serial = _said(asic.get("asic_serial"))
        found.append(
            {
                "vendor": "amd",
                "name": _said(asic.get("market_name")) or "AMD GPU",
                "capability": architecture if read else None,
                "uuid": f"{serial}-{row.get('gpu', 0)}" if serial else None,
                "problem": None if read else "amd-smi tells no architecture; install ROCm 6.3 or later",
            }
        )
    return found


def kfd_devices() -> list[dict[str, Any]]:
    """The GPUs among the kernel's compute nodes; a processor is a node without SIMD units."""
    found = []
    for file in sorted(KFD.glob("*/properties"), key=_node_number) if KFD.is_dir() else []:
        try:
            lines = file.read_text(errors="replace").splitlines()
            facts = {k: int(v) for k, v in (line.split() for line in lines if len(line.split()) == 2)}
        except (OSError, ValueError):
            continue
        version = facts.get("gfx_target_version", 0)
        if version:
            capability = f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
            found.append({"vendor": "amd", "name": f"AMD GPU {capability}", "capability": capability})
        elif facts.get("simd_count", 0) > 0:
            problem = "the kernel tells no architecture; install a newer amdgpu driver"
            found.append({"vendor": "amd", "name": "AMD GPU", "capability": None, "problem": problem})
    return found


def _ask_tool() -> list[dict[str, Any]]:
    return amd_smi_devices(ask_amd_smi("static", "--asic"))


def ask_amd_smi(*words: str) -> Any:
    """What the tool answers to `words`, as JSON; None where it is missing, fails, hangs or prints none."""
    tool = shutil.which("amd-smi")
    if tool is None:
        return None
    # A group of its own: the tool is a script, and what it started must not outlive a timeout.
    try:
        child = subprocess.Popen(
            [tool, *words, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
    try:
        out, _ = child.communicate(timeout=PATIENCE_SECONDS)
        return json.loads(out) if child.returncode == 0 else None
    except (ValueError, RecursionError, subprocess.TimeoutExpired):
        return None
    finally:
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _said(value: Any) -> str | None:
    text = str(value if value is not None else "").strip()
    return None if text.lower() in _UNSAID else text


def _node_number(file: Path) -> int:
    return int(file.parent.name) if file.parent.name.isdigit() else 0
