"""What main memory this process may still take; asked without torch, whose import takes seconds."""

from __future__ import annotations

import resource
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def free_host_bytes() -> int | None:
    """Free memory of the host, within the control group and the process's own limit; None where unknown."""
    found = [free for free in (_host_bytes(), _group_bytes(), _process_bytes()) if free is not None]
    return min(found, default=None)


def total_host_bytes() -> int | None:
    """Memory of the host, or what the control group may take of it; None where unknown."""
    found = [total for total in (_meminfo("MemTotal:"), _group_limit()) if total is not None]
    return min(found, default=None)


def _host_bytes() -> int | None:
    return _meminfo("MemAvailable:")


def _meminfo(name: str) -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(x.split()[1]) * 1024 for x in lines if x.startswith(name))
    except (OSError, ValueError, StopIteration):
        return None


def _group_limit() -> int | None:
    try:
        return int((_CGROUP / "memory.max").read_text())
    except (OSError, ValueError):
        return None


def _process_bytes() -> int | None:
    """What the process's own limit on its address space still allows (ulimit -v); None without one."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return limit
    return max(0, limit - pages * resource.getpagesize())


def _group_bytes() -> int | None:
    """What the control group still allows; cached files that nobody uses can be given back at once."""
    try:
        limit, used = (int((_CGROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        stat = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
        return max(0, limit - used + int(stat.get("inactive_file", 0)))
    except (OSError, ValueError):
        return None
