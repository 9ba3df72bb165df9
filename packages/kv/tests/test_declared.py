"""What a module imports is named in pyproject.toml: a machine that installs nothing else must have it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
TOML = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Modules whose distribution has another name, or which a declared one always brings along.
BROUGHT_BY = {
    "tokenizers": "transformers",
    "huggingface_hub": "transformers",
    "yaml": "transformers",
    "httpx": "openai",
}
# Installed into the evaluation's own environment only, and imported there alone.
EVALUATION = {
    re.split(r"[=<>\[]", line)[0].replace("-", "_")
    for line in (PROJECT / "requirements-evaluate.txt").read_text(encoding="utf-8").split()
    if line[0].isalpha()
}


def declared(*extras: str) -> set[str]:
    lines = [*TOML["dependencies"], *(d for e in extras for d in TOML["optional-dependencies"][e])]
    return {re.split(r"[=<>\[]", line)[0].replace("-", "_") for line in lines}


def imported(folder: Path) -> Iterator[tuple[Path, str]]:
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((file, alias.name.split(".")[0]) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield file, node.module.split(".")[0]


@pytest.mark.parametrize(("folder", "extras"), [("src", ("parquet",)), ("tests", ("dev", "parquet"))])
def test_every_import_is_declared(folder: str, extras: tuple[str, ...]) -> None:
    own = {"lifeboat_kv", *(p.stem for p in (PROJECT / folder).rglob("*") if p.is_dir() or p.suffix == ".py")}
    known = own | declared(*extras) | set(sys.stdlib_module_names) | EVALUATION
    missing = {
        (str(file.relative_to(PROJECT)), name)
        for file, name in imported(PROJECT / folder)
        if name not in known and BROUGHT_BY.get(name) not in known
    }
    assert missing == set()
