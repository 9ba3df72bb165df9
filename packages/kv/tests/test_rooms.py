"""Imports point one way: a room may use those named before it, and no other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import lifeboat_kv

SOURCE = Path(lifeboat_kv.__file__).parent
# From the ground up. The last ones are programs, which nothing else may use.
ORDER = (
    "errors",
    "events",
    "host",
    "rotation",
    "models",
    "corpora",
    "mapper",
    "methods",
    "moments",
    "fit",
    "score",
    "measure",
    "judge",
    "calibration",
    "compare",
    "evaluate",
    "engine",
    "family",
    "bench",
)
PROGRAMS = {"compare", "evaluate", "engine", "family", "bench"}
ROOT_FILES = {"__init__", "__main__", "errors", "events", "methods", "measure_commands"}


def rooms_used(file: Path) -> set[str]:
    """Rooms that a module imports from, wherever in the file it does."""
    package = file.relative_to(SOURCE).parts[:-1]
    used = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - (node.level - 1)]
            path = (*base, *(node.module or "").split("."))
            named = [p for p in path if p]
            used |= {named[0]} if named else {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lifeboat_kv."):
            used.add(node.module.split(".")[1])
    return used - {"__version__"}


def test_every_module_stands_in_a_room() -> None:
    assert {f.stem for f in SOURCE.glob("*.py")} == ROOT_FILES
    assert {d.name for d in SOURCE.iterdir() if (d / "__init__.py").is_file()} <= set(ORDER)


@pytest.mark.parametrize("room", ORDER)
def test_a_room_uses_only_those_before_it(room: str) -> None:
    files = list((SOURCE / room).rglob("*.py")) or [SOURCE / f"{room}.py"]
    allowed = (set(ORDER[: ORDER.index(room) + 1]) - PROGRAMS) | {room}
    wrong = {str(f.relative_to(SOURCE)): sorted(rooms_used(f) - allowed) for f in files}
    assert {name: rooms for name, rooms in wrong.items() if rooms} == {}
