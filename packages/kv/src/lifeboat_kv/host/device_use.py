"""What is free on one device and who computes there: what a guard decides from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .amd_use import amd_use
from .devices import host_devices
from .free_memory import free_host_bytes, total_host_bytes
from .nvml_use import nvidia_use
from .processes import resident_group

_NUMBERED = re.compile(r"(cuda|rocm)(?::(\d{1,3}))?")


def device_use(wanted: str, own: Iterable[int] = ()) -> dict[str, Any]:
    """{kind, name, uuid, memory, utilisation, processes, problems} of `cpu`, `cuda:N`, `rocm:N` or a UUID.

    `own` are leaders of process groups whose main memory is told beside a CPU; a GPU's driver lists all.
    """
    if wanted == "cpu":
        return {"kind": "cpu", **_host_use(own)}
    numbered = _NUMBERED.fullmatch(wanted)
    if numbered:
        name: str | int = int(numbered[2] or 0)
        amd = numbered[1] == "rocm"
    else:
        name = wanted
        amd = any(d.get("uuid") == wanted and d["vendor"] == "amd" for d in host_devices())
    return {"kind": "amd", **amd_use(name)} if amd else {"kind": "nvidia", **nvidia_use(name)}


def _host_use(own: Iterable[int]) -> dict[str, Any]:
    total, free = total_host_bytes(), free_host_bytes()
    memory, problems = None, []
    if total is None or free is None:
        problems.append("this system does not say how much main memory is free (/proc/meminfo, vm_stat)")
    else:
        memory = {"total_bytes": total, "free_bytes": min(free, total), "used_bytes": max(0, total - free)}
    groups = [resident_group(pid) for pid in own]
    return {
        "name": "this host",
        "uuid": None,
        "memory": memory,
        "utilisation": None,
        "processes": [group for group in groups if group is not None],
        "problems": problems,
    }
