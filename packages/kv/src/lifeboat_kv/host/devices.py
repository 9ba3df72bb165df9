"""Which accelerators this host has, and whether a calibration may use them."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from ..errors import HardwareError, UsageError
from .amd_smi import amd_devices
from .nvml import nvidia_devices

ALLOWED, REFUSED, NONE = "allowed", "refused", "none"
NO_DEVICE = {"vendor": "none", "name": "no accelerator", "capability": None}
_NVIDIA_LEAST = 8
# No compute capability comes near this; 90 is a chip number (sm_90), not a version.
_NVIDIA_MOST = 40
_AMD_CDNA = ("gfx908", "gfx90a", "gfx942", "gfx950")
_HIDING = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def verdict_on(device: dict[str, Any]) -> str:
    """allowed, refused or none for one device's facts {vendor, name, capability}.

    NVIDIA from compute capability 8.0 on, AMD's CDNA chips; a GPU that cannot be read is refused.
    """
    vendor, capability = device.get("vendor"), str(device.get("capability") or "").strip()
    if vendor == "none":
        return NONE
    if vendor == "nvidia":
        version = re.fullmatch(r"(\d{1,2})(?:\.\d{1,2})?", capability, re.ASCII)
        return ALLOWED if version and _NVIDIA_LEAST <= int(version[1]) < _NVIDIA_MOST else REFUSED
    return ALLOWED if vendor == "amd" and capability.lower().split(":")[0] in _AMD_CDNA else REFUSED


def host_devices() -> list[dict[str, Any]]:
    """Facts of every GPU of this host; one entry with vendor "none" where there is none."""
    return nvidia_devices() + amd_devices() or [dict(NO_DEVICE)]


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
    names = ", ".join(_described(d) for d in devices)
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
    return _torch_device(fitting)


def torch_problem(devices: list[dict[str, Any]]) -> str | None:
    """Why the installed torch cannot use this host's allowed GPU, with the remedy; None where it can."""
    if host_verdict(devices) != ALLOWED:
        return None
    try:
        choose_device("auto", devices)
    except HardwareError as error:
        return error.message
    return None


def _torch_device(fitting: list[dict[str, Any]]) -> str:
    """The first GPU of torch's own count that the gate allows: its order need not be the driver's."""
    import torch

    vendor = "amd" if torch.version.hip is not None else "nvidia"
    names = ", ".join(d["name"] for d in fitting)
    if torch.cuda.is_available() and any(d["vendor"] == vendor for d in fitting):
        for index in range(torch.cuda.device_count()):
            if verdict_on({"vendor": vendor, "capability": _capability_by_torch(vendor, index)}) == ALLOWED:
                return f"cuda:{index}" if index else "cuda"
    built = torch.version.hip if fitting[0]["vendor"] == "amd" else torch.version.cuda
    hidden = [name for name in _HIDING if name in os.environ]
    if built and hidden:
        raise HardwareError(
            "TORCH_WITHOUT_GPU",
            f"{names} is there, but {hidden[0]}={os.environ[hidden[0]]!r} hides it from torch: "
            f"unset {hidden[0]}, or have it name an allowed GPU",
        )
    raise HardwareError(
        "TORCH_WITHOUT_GPU",
        f"{names} is there, but the installed torch {torch.__version__} cannot use it: "
        f"{_remedy(fitting[0]['vendor'], torch.__version__.split('+')[0])}",
    )


def _capability_by_torch(vendor: str, index: int) -> str:
    import torch

    if vendor == "amd":
        return str(getattr(torch.cuda.get_device_properties(index), "gcnArchName", ""))
    return ".".join(map(str, torch.cuda.get_device_capability(index)))


def _remedy(vendor: str, version: str) -> str:
    # PyPI's own build for Linux carries CUDA; ROCm's has an index for each of its versions.
    index = "https://download.pytorch.org/whl/rocm7.2" if vendor == "amd" else "https://pypi.org/simple"
    return f"{sys.executable} -m pip install --force-reinstall torch=={version} --index-url {index}"


def _described(device: dict[str, Any]) -> str:
    problem = device.get("problem")
    unread = f"capability unreadable: {problem}" if problem else "capability unreadable"
    return f"{device['name']} ({device['capability'] or unread})"
