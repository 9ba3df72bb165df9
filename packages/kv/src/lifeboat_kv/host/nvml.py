"""NVIDIA's GPUs as the driver's own library (NVML) tells them.

A GPU that is there and cannot be read is listed all the same, without a capability and with the reason, so
that the gate refuses it instead of taking the host for one without a GPU.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

LIBRARY = "libnvidia-ml.so.1"
# The kernel module lists its GPUs here, whatever state the library is in.
DRIVER = Path("/proc/driver/nvidia/gpus")
BUFFER = 96
_NO_DRIVER = (9, 12)
# https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html, nvmlReturn_t
_REASONS = {
    3: "NVML does not support this question here",
    4: "no permission to use the driver; run as a user that may, or pass the device into the container",
    9: "the driver is not loaded; load it, or reboot",
    12: "the driver's library was not found; install the driver, or mount it into the container",
    15: "the GPU has fallen off the bus; reset it, or reboot",
    17: "the operating system blocks the GPU",
    18: "driver and library are of different versions; reboot, or reload the driver",
}


def nvidia_devices() -> list[dict[str, Any]]:
    """Facts of every NVIDIA GPU: {vendor, name, capability, uuid, memory_bytes, problem}; empty for none."""
    try:
        nvml = ctypes.CDLL(LIBRARY)
    except OSError:
        return _unread(f"{LIBRARY} cannot be loaded; mount the driver's libraries into the container")
    try:
        return _ask(nvml)
    except AttributeError as error:
        return _unread(f"the driver's library is too old ({error}); install a newer driver") or [
            _device("NVIDIA GPU", problem=f"the driver's library is too old ({error})")
        ]


def _ask(nvml: Any) -> list[dict[str, Any]]:
    code = nvml.nvmlInit_v2()
    if code:
        # A library without a driver or a GPU is common in container images for both kinds of host.
        silent = [] if code in _NO_DRIVER else [_device("NVIDIA GPU", problem=reason(code))]
        return _unread(reason(code)) or silent
    try:
        count = ctypes.c_uint()
        code = nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
        if code:
            return _unread(reason(code)) or [_device("NVIDIA GPU", problem=reason(code))]
        return [_read(nvml, index) for index in range(count.value)]
    finally:
        nvml.nvmlShutdown()


def _read(nvml: Any, index: int) -> dict[str, Any]:
    handle = ctypes.c_void_p()
    code = nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle))
    if code:
        return _device(f"NVIDIA GPU {index}", problem=reason(code))

    def text(call: str) -> str | None:
        buffer = ctypes.create_string_buffer(BUFFER)
        good = getattr(nvml, call)(handle, buffer, ctypes.c_uint(BUFFER)) == 0
        return buffer.value.decode("utf-8", "replace").strip() or None if good else None

    major, minor = ctypes.c_int(), ctypes.c_int()
    code = nvml.nvmlDeviceGetCudaComputeCapability(handle, ctypes.byref(major), ctypes.byref(minor))
    read = code == 0 and major.value > 0
    memory = (ctypes.c_ulonglong * 3)()
    sized = nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0
    return _device(
        text("nvmlDeviceGetName") or f"NVIDIA GPU {index}",
        capability=f"{major.value}.{minor.value}" if read else None,
        uuid=text("nvmlDeviceGetUUID"),
        memory_bytes=int(memory[0]) if sized else None,
        problem=None if read else reason(code) if code else "it gave 0.0 as its capability",
    )


def _device(name: str, **facts: Any) -> dict[str, Any]:
    return {"vendor": "nvidia", "name": name, "capability": None, **facts}


def _unread(problem: str) -> list[dict[str, Any]]:
    """GPUs that the kernel module knows and the library does not tell of."""
    found = []
    for folder in sorted(DRIVER.iterdir()) if DRIVER.is_dir() else []:
        name = "NVIDIA GPU"
        try:
            for line in (folder / "information").read_text(errors="replace").splitlines():
                if line.startswith("Model:"):
                    name = line.split(":", 1)[1].strip() or name
        except OSError:
            pass
        found.append(_device(name, problem=problem))
    return found


def reason(code: int) -> str:
    """What NVML's return code means, with what to do about it."""
    return f"NVML error {code}: {_REASONS.get(code, 'look at nvidia-smi')}"
