"""Corpora: texts in, four disjoint splits of token sequences out (fit, select, gate, report)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import CorpusError

SPLITS = ("fit", "select", "gate", "report")
SHORTEST_PREFIX = 64
_MAX_FILE = 4 << 30


@dataclass(frozen=True)
class Sequence:
    """One text as tokens. `cuts` are the hand-over points its corpus proposes, as prefix lengths."""

    id: str
    domain: str
    tokens: tuple[int, ...]
    cuts: tuple[int, ...] = ()

    @property
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


@dataclass(frozen=True)
class Corpus:
    """The four splits of a corpus for one tokenizer. `sha256` is of the files' bytes."""

    name: str
    sha256: str
    sizes: Sizes
    splits: dict[str, list[Sequence]] = field(repr=False)

    def facts(self) -> dict[str, Any]:
        """JSON-ready: name, digest, sizes and what is really there."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "seq_len": self.sizes.seq_len,
            **{name: len(rows) for name, rows in self.splits.items()},
        }


def load_corpus(
    where: str | os.PathLike[str], tokenizer: Any, wanted: Mapping[str, Any] | None = None
) -> Corpus:
    """Reads a corpus folder (manifest.json, fit.jsonl, probes.jsonl) or one .txt or .jsonl file.

    `wanted` overrides sizes (keys of `Sizes`). Which split a sequence is in follows from its content
    alone. Errors: CorpusError CORPUS_UNREADABLE, CORPUS_TOO_SHORT, SPLITS_OVERLAP.
    """
    path = Path(where)
    wanted = dict(wanted or {})
    if path.is_dir():
        manifest = _manifest(path)
        sizes = Sizes().replaced(manifest.get("defaults", {})).replaced(wanted)
        files = [path / "fit.jsonl", path / "probes.jsonl"]
        fitting = _sequences(_records(files[0]), tokenizer, sizes.seq_len)
        probes = _sequences(_records(files[1]), tokenizer, sizes.seq_len)
        known = {s.digest for s in probes}
        fitting = [s for s in fitting if s.digest not in known]
        pools = (("select", "fit"), fitting), (("gate", "report"), probes)
        name = str(manifest.get("name") or path.name)
    elif path.is_file():
        sizes = Sizes().replaced(wanted)
        files = [path]
        pools = ((("gate", "report", "select", "fit"), _sequences(_records(path), tokenizer, sizes.seq_len)),)
        name = path.name
    else:
        raise CorpusError("CORPUS_UNREADABLE", f"there is no corpus at {path}")
    splits: dict[str, list[Sequence]] = {}
    for names, pool in pools:
        splits |= _deal(pool, names, sizes)
    _check_disjoint(splits)
    return Corpus(name, _digest(files), sizes, {name: splits[name] for name in SPLITS})


def _deal(pool: list[Sequence], names: tuple[str, ...], sizes: Sizes) -> dict[str, list[Sequence]]:
    """Deals sequences out in the order of their digests, each split its quota."""
    unique = {sequence.digest: sequence for sequence in pool}
    ordered = [unique[digest] for digest in sorted(unique)]
    ordered = [s for s in ordered if len(s.tokens) >= SHORTEST_PREFIX]
    dealt: dict[str, list[Sequence]] = {}
    at = 0
    for name in names:
        count = getattr(sizes, name)
        dealt[name] = ordered[at : at + count]
        at += count
        least = max(1, count // 2) if name in ("fit", "report") else count
        if len(dealt[name]) < least:
            raise CorpusError(
                "CORPUS_TOO_SHORT",
                f"the corpus has {len(ordered)} different sequences of {SHORTEST_PREFIX} tokens and more; "
                f"the {name} split alone needs {least} after the others: give a longer text",
            )
    return dealt


def _check_disjoint(splits: Mapping[str, list[Sequence]]) -> None:
    seen: dict[str, str] = {}
    for name, rows in splits.items():
        for sequence in rows:
            other = seen.setdefault(sequence.digest, name)
            if other != name:
                raise CorpusError("SPLITS_OVERLAP", f"sequence {sequence.id} is in {other} and in {name}")


def _sequences(records: Iterable[Mapping[str, Any]], tokenizer: Any, seq_len: int) -> list[Sequence]:
    """Tokens of every record, records longer than `seq_len` cut into several sequences."""
    found: list[Sequence] = []
    for number, record in enumerate(records):
        text = record["text"]
        starts = bool(tokenizer.bos_token) and text.startswith(tokenizer.bos_token)
        encoded = tokenizer(text, add_special_tokens=not starts, return_offsets_mapping=True, verbose=False)
        ids, ends = encoded["input_ids"], [end for _, end in encoded["offset_mapping"]]
        cuts = [sum(1 for end in ends if end <= cut) for cut in record.get("cuts") or ()]
        for at in range(0, len(ids), seq_len):
            part = tuple(ids[at : at + seq_len])
            inside = tuple(c - at for c in cuts if SHORTEST_PREFIX <= c - at <= len(part))
            name = str(record.get("id", number))
            found.append(
                Sequence(f"{name}#{at}" if at else name, str(record.get("domain", "text")), part, inside)
            )
    return found


def _records(file: Path) -> Iterator[dict[str, Any]]:
    """Records {"id", "domain", "text", "cuts"} of a .jsonl file, or blank-line separated parts of a text."""
    try:
        if file.stat().st_size > _MAX_FILE:
            raise CorpusError("CORPUS_UNREADABLE", f"{file} is larger than {_MAX_FILE >> 30} GiB")
        if file.suffix != ".jsonl":
            text = file.read_text(encoding="utf-8")
            if not text.strip():
                raise CorpusError("CORPUS_TOO_SHORT", f"{file} is empty")
            yield {"id": file.stem, "text": text}
            return
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                record = json.loads(line)
                if not isinstance(record, dict) or not isinstance(record.get("text"), str):
                    raise CorpusError("CORPUS_UNREADABLE", f"{file}, line {number}: no record with a text")
                yield record
    except (OSError, ValueError) as error:
        raise CorpusError("CORPUS_UNREADABLE", f"{file} cannot be read: {error}") from error


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorpusError(
            "CORPUS_UNREADABLE", f"{folder} holds no readable manifest.json: {error}"
        ) from error
    if not isinstance(manifest, dict):
        raise CorpusError("CORPUS_UNREADABLE", f"{folder}/manifest.json holds no JSON object")
    return manifest


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()
