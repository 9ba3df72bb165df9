"""What main memory this process may still take; asked without torch, whose import takes seconds."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
# Pages that macOS gives out without writing anything back first.
_AVAILABLE = ("free", "inactive", "speculative", "purgeable")


def free_host_bytes() -> int | None:
    """Free memory of the host, within the control group and the process's own limit; None where unknown."""
    found = [free for free in (_host_bytes(), _group_bytes(), _process_bytes()) if free is not None]
    return min(found, default=None)


def total_host_bytes() -> int | None:
    """Memory of the host, or what the control group may take of it; None where unknown."""
    found = [total for total in (_installed(), _group_limit()) if total is not None]
    return min(found, default=None)


def _installed() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def _host_bytes() -> int | None:
    if sys.platform == "darwin":
        return _mac_bytes()
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(x.split()[1]) * 1024 for x in lines if x.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _mac_bytes() -> int | None:
    try:
        told = subprocess.run(["vm_stat"], capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    size = re.search(r"page size of (\d+) bytes", told)
    pages = [re.search(rf"^Pages {name}:\s+(\d+)\.", told, re.M) for name in _AVAILABLE]
    if size is None or pages[0] is None:
        return None
    return int(size[1]) * sum(int(found[1]) for found in pages if found)


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
