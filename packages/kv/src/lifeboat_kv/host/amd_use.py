"""Who uses an AMD GPU now and how much of it is left, as the tool amd-smi tells it."""

from __future__ import annotations

import re
from typing import Any

from .amd_smi import amd_devices, ask_amd_smi
from .processes import describe_process

_UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_REMEDY = "install ROCm 6.3 or later, or run as a user that may ask it"


def amd_use(wanted: str | int) -> dict[str, Any]:
    """{name, uuid, memory, utilisation, processes, problems} of the GPU with that UUID or number.

    What the tool does not say is None, with its reason among the problems.
    """
    devices = amd_devices()
    numbers = [i for i, device in enumerate(devices) if wanted in (i, device.get("uuid"))]
    number = numbers[0] if numbers else None
    found: dict[str, Any] = {
        "name": devices[number]["name"] if number is not None else "AMD GPU",
        "uuid": devices[number].get("uuid") if number is not None else None,
        "memory": None,
        "utilisation": None,
        "processes": None,
        "problems": [],
    }
    if number is None:
        found["problems"].append(f"there is no AMD GPU {wanted} on this host; look at amd-smi list")
        return found
    told = _row(ask_amd_smi("metric", "--mem-usage", "--usage", "--gpu", str(number)))
    found["memory"], found["utilisation"] = _memory(told.get("mem_usage")), _percent(told.get("usage"))
    found["processes"] = _processes(_row(ask_amd_smi("process", "--gpu", str(number))).get("process_list"))
    for field in ("memory", "utilisation", "processes"):
        if found[field] is None:
            found["problems"].append(f"amd-smi does not tell its {field}; {_REMEDY}")
    return found


def _row(answer: Any) -> dict[str, Any]:
    """The one GPU's part: of a list, of a list under `gpu_data`, or the answer itself."""
    if isinstance(answer, dict):
        answer = answer.get("gpu_data", answer)
    if isinstance(answer, list):
        answer = next((row for row in answer if isinstance(row, dict) and "gpu" in row), None)
    return answer if isinstance(answer, dict) else {}


def _memory(usage: Any) -> dict[str, int] | None:
    usage = usage if isinstance(usage, dict) else {}
    total, used = (_bytes(usage.get(name), "MB") for name in ("total_vram", "used_vram"))
    if total is None or used is None:
        return None
    return {"total_bytes": total, "free_bytes": max(0, total - used), "used_bytes": used}


def _percent(usage: Any) -> int | None:
    told = usage.get("gfx_activity") if isinstance(usage, dict) else None
    number = _number(told.get("value") if isinstance(told, dict) else told)
    return None if number is None else round(number)


def _processes(rows: Any) -> list[dict[str, Any]] | None:
    """None where the tool gave no list: a list of none is a word of its own."""
    if not isinstance(rows, list):
        return None
    found = []
    for row in rows:
        info = row.get("process_info") if isinstance(row, dict) else None
        if isinstance(info, str) and info.lower().startswith("no running"):
            continue
        pid = _number(info.get("pid")) if isinstance(info, dict) else None
        if pid is None:
            return None
        memory = info.get("memory_usage") if isinstance(info.get("memory_usage"), dict) else {}
        used = _bytes(memory.get("vram_mem", info.get("mem_usage")), "B")
        found.append(describe_process(int(pid), str(info.get("name") or ""), used))
    return found


def _bytes(told: Any, unit: str) -> int | None:
    """A size as `{"value", "unit"}`, as "123 MB" or as a bare number in `unit`."""
    if isinstance(told, dict):
        number, unit = _number(told.get("value")), str(told.get("unit", unit)).strip().upper()
    else:
        match = re.fullmatch(r"\s*([\d.]+)\s*([KMG]?B)?\s*", str(told), re.I)
        number, unit = (_number(match[1]), (match[2] or unit).upper()) if match else (None, unit)
    return None if number is None or unit not in _UNITS else int(number * _UNITS[unit])


def _number(told: Any) -> float | None:
    try:
        number = float(str(told).replace("%", "").strip())
    except ValueError:
        return None
    return number if number >= 0 and number < float("inf") else None
