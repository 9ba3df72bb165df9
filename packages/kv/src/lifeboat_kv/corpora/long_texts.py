"""Whole texts beyond the fitted length, from what no split was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .reading import documents_of
from .sequence import Sequence
from .tokenise import sequences_of

LONG_FILE = "long.jsonl"
# A text this many times the sequence length is long.
LONG_FROM = 4
_MOST_KEPT = 256
_WHOLE = 1 << 30


def long_file_texts(folder: Path, tokenizer: Any, splits: Mapping[str, list[Sequence]]) -> list[Sequence]:
    """The texts of a corpus folder's long.jsonl, each as one sequence; [] without such a file or a manifest.

    A text that holds a sequence of one of `splits` is left out. Errors: CorpusError.
    """
    file = folder / LONG_FILE
    if not (file.is_file() and (folder / "manifest.json").is_file()):
        return []
    used = {tuple(s.tokens) for rows in splits.values() for s in rows}
    lengths = sorted({len(tokens) for tokens in used})
    documents = list(documents_of(file, LONG_FILE, None, _WHOLE, None))[:_MOST_KEPT]
    whole = [s for found in sequences_of(documents, tokenizer, _WHOLE) for s in found]
    return [s for s in whole if not any(s.tokens[:n] in used for n in lengths)]


def spare_texts(documents: Iterable[list[Sequence]], start: int | None, seq_len: int) -> list[Sequence]:
    """Documents that no split uses, each given by its pieces, put together again; shortest first.

    `start` is the token that pieces after the first repeat, or None. Only long ones are kept.
    """
    found = []
    for pieces in documents:
        if sum(len(p.tokens) for p in pieces) < LONG_FROM * seq_len:
            continue
        again = int(start is not None and pieces[0].tokens[0] == start)
        tokens = list(pieces[0].tokens)
        cuts = list(pieces[0].cuts)
        for piece in pieces[1:]:
            cuts += [len(tokens) - again + cut for cut in piece.cuts]
            tokens += piece.tokens[again:]
        found.append(Sequence(pieces[0].id, pieces[0].domain, tuple(tokens), tuple(cuts)))
    return sorted(found, key=lambda s: (len(s.tokens), s.digest))[:_MOST_KEPT]
