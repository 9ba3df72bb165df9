"""What each corpus was the last time: a rerun whose texts changed under the same name says so."""

from __future__ import annotations

import contextlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .sequence import Note

_MOST_KEPT = 1000


def default_store() -> Path:
    """Where downloads and the register lie unless a folder is named: the user's cache folder."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(root) / "lifeboat-kv" / "corpora"


def register(store: Path, key: str, name: str, sha256: str) -> tuple[str | None, Note | None]:
    """Writes down that corpus `key` is `sha256` now. Returns the former digest and a note, where it changed.

    A store that cannot be written costs the note, not the run.
    """
    file = store / "register.json"
    known = _read(file)
    before = known.get(key)
    former = before.get("sha256") if isinstance(before, dict) else None
    if former != sha256:
        entry = {"sha256": sha256, "since": datetime.now(UTC).isoformat(timespec="seconds")}
        with contextlib.suppress(OSError):
            store.mkdir(parents=True, exist_ok=True)
            part = file.with_suffix(f".{os.getpid()}")
            kept = {name: e for name, e in _read(file).items() if name != key}
            newest = dict([*list(kept.items())[1 - _MOST_KEPT :], (key, entry)])
            part.write_text(json.dumps(newest, indent=1), encoding="utf-8")
            os.replace(part, file)
    if not isinstance(former, str) or former == sha256:
        return None, None
    since = str(before.get("since"))[:10] if isinstance(before, dict) else "an earlier run"
    message = (
        f"the corpus {name} is not what it was: sha256 {former[:12]} since {since}, {sha256[:12]} now; "
        "scores of the two are not of the same texts"
    )
    return former, Note("CORPUS_CHANGED", message)


def _read(file: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(known, dict):
            return known
    return {}
