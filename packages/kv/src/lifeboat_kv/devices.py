"""Which accelerators this host has, and whether a calibration may use them.

NVIDIA's library (NVML) is asked directly; for AMD its tool amd-smi, else the kernel's own list.
"""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from .errors import HardwareError, UsageError

ALLOWED, REFUSED, NONE = "allowed", "refused", "none"
_NVIDIA_LEAST = (8, 0)
_AMD_CDNA = ("gfx908", "gfx90a", "gfx942", "gfx950")
_KFD = Path("/sys/class/kfd/kfd/topology/nodes")
NO_DEVICE = {"vendor": "none", "name": "no accelerator", "capability": None}


def verdict_on(device: dict[str, Any]) -> str:
    """allowed, refused or none for one device's facts {vendor, name, capability}.

    NVIDIA from compute capability 8.0 on, AMD's CDNA chips; a GPU that cannot be read is refused.
    """
    vendor, capability = device.get("vendor"), device.get("capability")
    if vendor == "none":
        return NONE
    if vendor == "nvidia":
        try:
            major, minor = (int(part) for part in str(capability).split(".")[:2])
        except ValueError:
            return REFUSED
        return ALLOWED if (major, minor) >= _NVIDIA_LEAST else REFUSED
    return ALLOWED if vendor == "amd" and capability in _AMD_CDNA else REFUSED


def host_devices() -> list[dict[str, Any]]:
    """Facts of every GPU of this host; one entry with vendor "none" where there is none."""
    return _nvidia() + _amd() or [dict(NO_DEVICE)]


def host_verdict(devices: list[dict[str, Any]]) -> str:
    """The best verdict among `devices`: one allowed GPU is enough."""
    verdicts = {verdict_on(d) for d in devices}
    return next(v for v in (ALLOWED, REFUSED, NONE) if v in verdicts)


def choose_device(wanted: str, devices: list[dict[str, Any]] | None = None) -> str:
    """The torch device for `--device auto|cuda|rocm|cpu`.

    `auto` never chooses the CPU; `cpu` is for development and needs a host without any GPU.
    Errors: HardwareError NO_ACCELERATOR, HW_REFUSED, TORCH_WITHOUT_GPU; UsageError UNKNOWN_DEVICE,
    CPU_BESIDE_GPU.
    """
    devices = host_devices() if devices is None else devices
    verdict = host_verdict(devices)
    names = ", ".join(f"{d['name']} ({d['capability'] or 'capability unreadable'})" for d in devices)
    if wanted == "cpu":
        if verdict == ALLOWED:
            raise UsageError(
                "CPU_BESIDE_GPU", f"--device cpu is for hosts without a GPU; this one has {names}"
            )
        if verdict == REFUSED:
            raise HardwareError("HW_REFUSED", f"this host's GPU is refused ({names}), and it is no CPU host")
        return "cpu"
    if wanted not in ("auto", "cuda", "rocm"):
        raise UsageError("UNKNOWN_DEVICE", f"--device {wanted} is not one of auto, cuda, rocm, cpu")
    if verdict == NONE:
        raise HardwareError(
            "NO_ACCELERATOR",
            "no GPU was found; --device cpu calibrates in development mode, marked so everywhere",
        )
    vendor = {"cuda": "nvidia", "rocm": "amd"}.get(wanted)
    fitting = [d for d in devices if verdict_on(d) == ALLOWED and vendor in (None, d["vendor"])]
    if not fitting:
        raise HardwareError("HW_REFUSED", f"no GPU here that --device {wanted} may use: {names}")
    return _torch_device(fitting[0])


def _torch_device(device: dict[str, Any]) -> str:
    import torch

    is_rocm = torch.version.hip is not None
    if not torch.cuda.is_available() or is_rocm != (device["vendor"] == "amd"):
        build = "rocm6.4" if device["vendor"] == "amd" else "cu128"
        raise HardwareError(
            "TORCH_WITHOUT_GPU",
            f"{device['name']} is there, but the installed torch {torch.__version__} cannot use it: "
            f"pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/{build}",
        )
    return "cuda"


def _nvidia() -> list[dict[str, Any]]:
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return []
    if nvml.nvmlInit_v2() != 0:
        return []
    try:
        count = ctypes.c_uint()
        nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
        return [_nvidia_device(nvml, index) for index in range(count.value)]
    finally:
        nvml.nvmlShutdown()


def _nvidia_device(nvml: Any, index: int) -> dict[str, Any]:
    handle = ctypes.c_void_p()
    nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle))

    def text(call: str) -> str | None:
        buffer = ctypes.create_string_buffer(96)
        good = getattr(nvml, call)(handle, buffer, ctypes.c_uint(96)) == 0
        return buffer.value.decode() if good else None

    major, minor = ctypes.c_int(), ctypes.c_int()
    read = nvml.nvmlDeviceGetCudaComputeCapability(handle, ctypes.byref(major), ctypes.byref(minor)) == 0
    memory = (ctypes.c_ulonglong * 3)()
    sized = nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0
    return {
        "vendor": "nvidia",
        "name": text("nvmlDeviceGetName") or "unknown NVIDIA GPU",
        "capability": f"{major.value}.{minor.value}" if read else None,
        "uuid": text("nvmlDeviceGetUUID"),
        "memory_bytes": int(memory[0]) if sized else None,
    }


def _amd() -> list[dict[str, Any]]:
    tool = shutil.which("amd-smi")
    if tool:
        try:
            done = subprocess.run(
                [tool, "static", "--asic", "--json"], capture_output=True, text=True, timeout=20, check=True
            )
            return amd_smi_devices(json.loads(done.stdout))
        except (OSError, ValueError, subprocess.SubprocessError):
            pass
    return _kfd()


def amd_smi_devices(answer: Any) -> list[dict[str, Any]]:
    """Devices from the JSON of `amd-smi static --asic --json`: a list, or a list under `gpu_data`."""
    rows = answer.get("gpu_data", []) if isinstance(answer, dict) else answer
    found = []
    for row in rows:
        asic = row.get("asic", {})
        found.append(
            {
                "vendor": "amd",
                "name": str(asic.get("market_name") or "unknown AMD GPU"),
                "capability": asic.get("target_graphics_version"),
            }
        )
    return found


def _kfd() -> list[dict[str, Any]]:
    found = []
    for file in sorted(_KFD.glob("*/properties")) if _KFD.is_dir() else []:
        try:
            facts = dict(line.split(None, 1) for line in file.read_text().splitlines() if " " in line)
            version = int(facts.get("gfx_target_version", "0"))
        except (OSError, ValueError):
            continue
        if version:
            capability = f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
            found.append({"vendor": "amd", "name": f"AMD GPU {capability}", "capability": capability})
    return found
