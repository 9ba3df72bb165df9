"""The manifest.json of a corpus folder: its name, and the sizes that its splits have by default."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ..errors import CorpusError
from .printable import printable
from .regular import inside, open_regular
from .sequence import SHORTEST_PREFIX, SPLITS

MANIFEST = "manifest.json"
_LARGEST = 1 << 20
_LONGEST_NAME = 120
_MOST = 1 << 20


@dataclass(frozen=True)
class Manifest:
    """What we use of it. `defaults` holds keys of `Sizes` alone, whole numbers."""

    name: str
    defaults: dict[str, int]


def read_manifest(folder: Path) -> Manifest:
    """The manifest of `folder`. Errors: CorpusError CORPUS_UNREADABLE."""
    where = f"{folder.name}/{MANIFEST}"
    try:
        with open_regular(inside(folder, MANIFEST), where) as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise CorpusError("CORPUS_UNREADABLE", f"{where} is larger than 1 MiB: is it a manifest?")
        found = json.loads(content.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        said = " ".join(str(error).split())[:160]
        raise CorpusError(
            "CORPUS_UNREADABLE", f"{where} cannot be read ({said}): mend or remove it"
        ) from error
    defaults = found.get("defaults", {}) if isinstance(found, dict) else None
    if not isinstance(defaults, dict):
        raise CorpusError("CORPUS_UNREADABLE", f"{where} holds no JSON object with defaults: mend it")
    name = found.get("name") or folder.name
    if not isinstance(name, str):
        raise CorpusError("CORPUS_UNREADABLE", f"{where} gives a name that is no text: mend it")
    sizes = {}
    for key in (*SPLITS, "seq_len"):
        value = defaults.get(key)
        if value is None:
            continue
        least = SHORTEST_PREFIX if key == "seq_len" else 1
        # True is a whole number to Python, and to nobody else.
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
            raise CorpusError(
                "CORPUS_UNREADABLE",
                f"{where} gives a default {key} that is no whole number from {least} to {_MOST}: mend it",
            )
        sizes[key] = value
    return Manifest(printable(name, _LONGEST_NAME), sizes)
