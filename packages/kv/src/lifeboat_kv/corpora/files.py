"""Which local files a corpus is made of, and their digest."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import CorpusError
from ..models.digest_cache import cached_digest
from .printable import printable
from .reading import SUFFIXES
from .regular import open_regular

MOST_BYTES = 64 << 30
_MOST_FILES = 10_000
_DEEPEST = 3
_PIECE = 1 << 20


@dataclass(frozen=True)
class Shard:
    """A file: what it is called towards people and in manifests, and where it lies."""

    name: str
    path: Path
    sha256: str
    bytes: int
    _state: tuple[int, int, int] = field(repr=False)

    def check_unchanged(self) -> None:
        """Errors: CorpusError CORPUS_UNREADABLE where it is not the file that was digested."""
        if _state(self.path) != self._state:
            raise CorpusError("CORPUS_UNREADABLE", f"{self.name} changed while it was read: start again")


def shard(path: Path, name: str) -> Shard:
    """Takes a file's digest. Errors: CorpusError CORPUS_UNREADABLE."""
    try:
        open_regular(path, name).close()
        state = _state(path)
        if state[0] > MOST_BYTES:
            raise CorpusError(
                "CORPUS_UNREADABLE", f"{name} is over {MOST_BYTES >> 30} GiB: name a part of it"
            )
        return Shard(printable(name), path, cached_digest(path), state[0], state)
    except OSError as error:
        raise CorpusError("CORPUS_UNREADABLE", f"{name} cannot be read ({error.strerror})") from error


def shards_of(path: Path) -> list[Shard]:
    """The file, or every file of a folder whose suffix we read; by content, not by name, in order.

    Links are not followed out of the folder. Errors: CorpusError CORPUS_UNREADABLE.
    """
    if path.is_file():
        if not path.name.endswith(SUFFIXES):
            raise CorpusError(
                "CORPUS_UNREADABLE",
                f"{path.name} is none of {', '.join(SUFFIXES)}: convert it to one",
            )
        found = [(path, path.name)]
    elif not path.is_dir():
        raise CorpusError("CORPUS_UNREADABLE", f"{path.name} is neither a file nor a folder: name another")
    else:
        found = [(file, file.relative_to(path).as_posix()) for file in _below(path)]
    if not found:
        raise CorpusError(
            "CORPUS_UNREADABLE",
            f"the folder {path.name} holds no manifest.json and no {', '.join(SUFFIXES)} file: name another",
        )
    total = sum(file.stat().st_size for file, _ in found)
    if total > MOST_BYTES or len(found) > _MOST_FILES:
        raise CorpusError(
            "CORPUS_UNREADABLE",
            f"{path.name} holds {len(found)} files of {total >> 30} GiB, at most {_MOST_FILES} of "
            f"{MOST_BYTES >> 30} GiB are read: name a part of it",
        )
    return sorted((shard(file, name) for file, name in found), key=lambda s: (s.sha256, s.name))


def digest_of(shards: list[Shard]) -> str:
    """One file's own sha256; of several, the sha256 over their sorted digests, whatever they are called."""
    if len(shards) == 1:
        return shards[0].sha256
    return hashlib.sha256("\n".join(sorted(s.sha256 for s in shards)).encode()).hexdigest()


def joint_digest(shards: list[Shard]) -> str:
    """sha256 of all files' bytes, one after the other. Errors: CorpusError CORPUS_UNREADABLE."""
    digest = hashlib.sha256()
    for one in shards:
        try:
            with open_regular(one.path, one.name) as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
        except OSError as error:
            raise CorpusError("CORPUS_UNREADABLE", f"{one.name} cannot be read ({error.strerror})") from error
    return digest.hexdigest()


def facts_of(shards: list[Shard], most: int = 200) -> list[dict[str, Any]]:
    """JSON-ready names, digests and sizes, of the first `most`."""
    return [{"name": s.name, "sha256": s.sha256, "bytes": s.bytes} for s in shards[:most]]


def _below(folder: Path) -> list[Path]:
    found = []
    root = folder.resolve()
    for top, folders, names in os.walk(folder):
        depth = len(Path(top).relative_to(folder).parts)
        folders[:] = sorted(f for f in folders if not f.startswith(".")) if depth < _DEEPEST else []
        for name in sorted(names):
            file = Path(top) / name
            if name.startswith(".") or not name.endswith(SUFFIXES):
                continue
            if file.is_file() and file.resolve().is_relative_to(root):
                found.append(file)
    return found


def _state(path: Path) -> tuple[int, int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ino
