"""Who uses an NVIDIA GPU now and how much of it is left, as the driver's own library (NVML) tells it."""

from __future__ import annotations

import ctypes
from typing import Any

from . import nvml
from .processes import describe_process

_NAME_BYTES = 256
_INSUFFICIENT_SIZE = 7
# What NVML writes where it may not say how much a process holds.
_NOT_SAID = (1 << 64) - 1
_TRIES = 5


class _Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class _MemoryV2(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint),
        *((name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used")),
    ]


class _Utilisation(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class _ProcessV1(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong)]


class _Process(ctypes.Structure):
    _fields_ = [*_ProcessV1._fields_, ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]


# By name, newest first; a driver that is older lacks the newer ones.
_COMPUTE = (("_v3", _Process), ("_v2", _Process), ("", _ProcessV1))


def nvidia_use(wanted: str | int) -> dict[str, Any]:
    """{name, uuid, memory, utilisation, processes, problems} of the GPU with that UUID or number.

    What the driver does not say is None, with its reason among the problems.
    """
    found: dict[str, Any] = {
        "name": "NVIDIA GPU",
        "uuid": wanted if isinstance(wanted, str) else None,
        "memory": None,
        "utilisation": None,
        "processes": None,
        "problems": [],
    }
    try:
        library = ctypes.CDLL(nvml.LIBRARY)
    except OSError:
        found["problems"].append(
            f"{nvml.LIBRARY} cannot be loaded; mount the driver's libraries into the container"
        )
        return found
    code = library.nvmlInit_v2()
    if code:
        found["problems"].append(nvml.reason(code))
        return found
    try:
        _read(library, wanted, found)
    except AttributeError as error:
        found["problems"].append(f"the driver's library is too old ({error}); install a newer driver")
    finally:
        library.nvmlShutdown()
    return found


def _read(library: Any, wanted: str | int, found: dict[str, Any]) -> None:
    handle = ctypes.c_void_p()
    if isinstance(wanted, int):
        code = library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(wanted), ctypes.byref(handle))
    else:
        code = library.nvmlDeviceGetHandleByUUID(wanted.encode(), ctypes.byref(handle))
    if code:
        found["problems"].append(f"GPU {wanted}: {nvml.reason(code)}")
        return
    for field, call in (("name", "nvmlDeviceGetName"), ("uuid", "nvmlDeviceGetUUID")):
        buffer = ctypes.create_string_buffer(nvml.BUFFER)
        if getattr(library, call)(handle, buffer, ctypes.c_uint(nvml.BUFFER)) == 0:
            found[field] = buffer.value.decode("utf-8", "replace").strip() or found[field]
    for field, read in (("memory", _memory), ("utilisation", _utilisation), ("processes", _processes)):
        code, value = read(library, handle)
        found[field] = value
        if code:
            found["problems"].append(f"its {field} cannot be read: {nvml.reason(code)}")


def _memory(library: Any, handle: Any) -> tuple[int, dict[str, int] | None]:
    newer = getattr(library, "nvmlDeviceGetMemoryInfo_v2", None)
    if newer is not None:
        # The version's own number, with the structure's size, tells the library which one it is to fill.
        told = _MemoryV2(version=ctypes.sizeof(_MemoryV2) | 2 << 24)
        if newer(handle, ctypes.byref(told)) == 0:
            return 0, {"total_bytes": told.total, "free_bytes": told.free, "used_bytes": told.used}
    older = _Memory()
    code = library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(older))
    if code:
        return code, None
    return 0, {"total_bytes": older.total, "free_bytes": older.free, "used_bytes": older.used}


def _utilisation(library: Any, handle: Any) -> tuple[int, int | None]:
    told = _Utilisation()
    code = library.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(told))
    return (code, None) if code else (0, int(told.gpu))


def _processes(library: Any, handle: Any) -> tuple[int, list[dict[str, Any]] | None]:
    """Whoever computes: of its own, and through the multi-process service where there is one."""
    code, own = _list(library, handle, "nvmlDeviceGetComputeRunningProcesses")
    if code:
        return code, None
    # A GPU without the service answers with an error, which says nothing of who computes.
    _, served = _list(library, handle, "nvmlDeviceGetMPSComputeRunningProcesses")
    used = {pid: bytes_ for pid, bytes_ in [*served, *own]}
    return 0, [describe_process(pid, _name(library, pid), bytes_) for pid, bytes_ in sorted(used.items())]


def _list(library: Any, handle: Any, call: str) -> tuple[int, list[tuple[int, int | None]]]:
    known = [(getattr(library, call + suffix, None), kind) for suffix, kind in _COMPUTE]
    ask, kind = next(((ask, kind) for ask, kind in known if ask is not None), (None, _Process))
    if ask is None:
        return 3, []
    room = 64
    for _ in range(_TRIES):
        count, rows = ctypes.c_uint(room), (kind * room)()
        code = ask(handle, ctypes.byref(count), rows)
        if code == _INSUFFICIENT_SIZE:
            room = max(room, count.value) * 2
            continue
        if code:
            return code, []
        return 0, [(row.pid, None if row.used == _NOT_SAID else row.used) for row in rows[: count.value]]
    return _INSUFFICIENT_SIZE, []


def _name(library: Any, pid: int) -> str | None:
    ask = getattr(library, "nvmlSystemGetProcessName", None)
    buffer = ctypes.create_string_buffer(_NAME_BYTES)
    if ask is None or ask(ctypes.c_uint(pid), buffer, ctypes.c_uint(_NAME_BYTES)):
        return None
    return buffer.value.decode("utf-8", "replace").strip() or None
