"""sha256 of large files, remembered by path, size, inode and modification time."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

from ..host.regular_file import open_regular

_WORTH_REMEMBERING = 256 << 20


def file_digest(path: str | os.PathLike[str]) -> str:
    """sha256 of a regular file's bytes, hex. Errors: OSError."""
    digest = hashlib.sha256()
    with open_regular(path) as handle:
        while chunk := handle.read(1 << 22):
            digest.update(chunk)
    return digest.hexdigest()


def cached_digest(file: Path) -> str:
    """sha256 (hex) of `file`; files of 256 MiB and more are remembered in the user's cache folder.

    The key holds size, inode and nanosecond times, so that an edited file is read again.
    """
    stat = file.stat()
    if stat.st_size < _WORTH_REMEMBERING:
        return file_digest(file)
    key = f"{file.resolve()}|{stat.st_size}|{stat.st_ino}|{stat.st_mtime_ns}|{stat.st_ctime_ns}"
    store = _store()
    known = _read(store)
    if key not in known:
        digest = file_digest(file)
        with contextlib.suppress(OSError):
            store.parent.mkdir(parents=True, exist_ok=True)
            part = store.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps({**_read(store), key: digest}), encoding="utf-8")
            os.replace(part, store)
        return digest
    return known[key]


def _store() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(root) / "lifeboat-kv" / "digests.json"


def _read(store: Path) -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(store.read_text(encoding="utf-8"))
        if isinstance(known, dict):
            return known
    return {}
