"""Processes of this host as /proc tells them: whose children they are, and what they hold."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

_PROC = Path("/proc")
_MOST_ANCESTORS = 64


def describe_process(pid: int, name: str | None, used_bytes: int | None) -> dict[str, Any]:
    """{pid, name, used_bytes, seen, group, ancestors} of a process that computes; `seen` is false for one
    that lives outside this process's own namespace, where its number says nothing."""
    stat = _stat(pid)
    return {
        "pid": pid or None,
        "name": (name or "").rsplit("/", 1)[-1] or (stat and stat["name"]) or None,
        "used_bytes": used_bytes,
        "seen": stat is not None,
        "group": stat and stat["group"],
        "ancestors": _ancestors(pid) if stat else [],
    }


def resident_group(leader: int) -> dict[str, Any] | None:
    """A process group by its leader, with the resident bytes of all its members; None where it is gone."""
    leading = _stat(leader)
    if leading is None:
        return None
    members = [int(f.name) for f in _PROC.iterdir() if f.name.isdigit()]
    held = [_resident(pid) for pid in members if (_stat(pid) or {}).get("group") == leader]
    return describe_process(leader, leading["name"], sum(bytes_ or 0 for bytes_ in held))


def _stat(pid: int) -> dict[str, Any] | None:
    if pid <= 0:
        return None
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
        # The name, in brackets, may hold spaces and brackets itself.
        fields = text[text.rindex(")") + 2 :].split()
        return {"name": text[text.index("(") + 1 : text.rindex(")")], "parent": int(fields[1])} | {
            "group": int(fields[2])
        }
    except (OSError, ValueError, IndexError):
        return None


def _ancestors(pid: int) -> list[int]:
    found: list[int] = []
    while len(found) < _MOST_ANCESTORS:
        stat = _stat(pid)
        if stat is None or stat["parent"] <= 0:
            break
        pid = stat["parent"]
        found.append(pid)
    return found


def _resident(pid: int) -> int | None:
    try:
        return int((_PROC / str(pid) / "statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return None
