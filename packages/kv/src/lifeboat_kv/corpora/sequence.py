"""What a corpus becomes: token sequences in four splits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

SPLITS = ("fit", "select", "gate", "report")
SHORTEST_PREFIX = 64


@dataclass(frozen=True)
class Sequence:
    """One text as tokens. `cuts` are the hand-over points its corpus proposes, as prefix lengths."""

    id: str
    domain: str
    tokens: tuple[int, ...]
    cuts: tuple[int, ...] = ()

    @cached_property
    def digest(self) -> str:
        """sha256 of the token ids; what makes two sequences the same for the splits."""
        return hashlib.sha256(",".join(map(str, self.tokens)).encode()).hexdigest()


@dataclass(frozen=True)
class Sizes:
    """How many sequences each split gets, and their longest length in tokens."""

    fit: int = 500
    select: int = 64
    gate: int = 256
    report: int = 64
    seq_len: int = 1024

    def replaced(self, given: Mapping[str, Any]) -> Sizes:
        """These sizes with those of `given` that are set."""
        own = {name: getattr(self, name) for name in (*SPLITS, "seq_len")}
        return Sizes(**{name: int(given.get(name) or value) for name, value in own.items()})

    @property
    def total(self) -> int:
        """Sequences of all splits."""
        return sum(getattr(self, name) for name in SPLITS)


@dataclass(frozen=True)
class Note:
    """Something about a corpus that a person should know; it changes nothing. `code` is stable."""

    code: str
    message: str


@dataclass(frozen=True)
class Corpus:
    """The four splits of a corpus for one tokenizer, and where its texts come from.

    `sha256` is of the files' bytes; `origin` names the files (and, of a hub, the commit). `long` holds
    whole texts of at least four times the sequence length, none of them in a split.
    """

    name: str
    sha256: str
    sizes: Sizes
    splits: dict[str, list[Sequence]] = field(repr=False)
    origin: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    long: list[Sequence] = field(default_factory=list, repr=False)

    @property
    def probes_sha256(self) -> str:
        """Digest of what the scores are measured on: gate and report, whatever the other splits hold.

        It follows from texts, tokenizer and sequence length, so two runs share it exactly where they
        were asked the same questions.
        """
        digest = hashlib.sha256()
        for name in ("gate", "report"):
            rows = sorted(f"{s.digest}:{','.join(map(str, s.cuts))}" for s in self.splits[name])
            digest.update(f"{name} {len(rows)} {' '.join(rows)}\n".encode())
        return digest.hexdigest()

    def facts(self) -> dict[str, Any]:
        """JSON-ready: name, digests, sizes, what is really there, files and notes."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "probes_sha256": self.probes_sha256,
            "seq_len": self.sizes.seq_len,
            **{name: len(rows) for name, rows in self.splits.items()},
            **self.origin,
            "notes": [{"code": n.code, "message": n.message} for n in self.notes],
        }
