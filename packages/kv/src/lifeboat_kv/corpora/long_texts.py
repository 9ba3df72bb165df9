"""Whole texts beyond the fitted length, from what no split was given."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .overlap import fingerprints
from .reading import documents_of
from .regular import inside
from .sequence import Sequence
from .tokenise import sequences_of

LONG_FILE = "long.jsonl"
# A text this many times the sequence length is long.
LONG_FROM = 4
_MOST_KEPT = 256
_WHOLE = 1 << 30
# Of a sequence that stands whole in a text, all passages do; that it begins elsewhere costs a few.
_HELD = 0.9


def long_file_texts(folder: Path, tokenizer: Any, splits: Mapping[str, list[Sequence]]) -> list[Sequence]:
    """The texts of a corpus folder's long.jsonl, each as one sequence; [] without such a file or a manifest.

    A text that holds a sequence of `splits`, anywhere in it and whatever its whitespace, is left out;
    single passages it may share. Errors: CorpusError.
    """
    if not (os.path.lexists(folder / LONG_FILE) and (folder / "manifest.json").is_file()):
        return []
    file = inside(folder, LONG_FILE)
    documents = list(islice(documents_of(file, LONG_FILE, None, _WHOLE, None), _MOST_KEPT))
    whole = [s for found in sequences_of(documents, tokenizer, _WHOLE) for s in found]
    marks = [fingerprints(_text(s, tokenizer)) for rows in splits.values() for s in rows]
    marks = [m for m in marks if m.size]
    if not marks:
        return whole
    every = np.concatenate(marks)
    sizes = np.array([m.size for m in marks])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def holds(sequence: Sequence) -> bool:
        shared = np.isin(every, fingerprints(_text(sequence, tokenizer)))
        return bool((np.add.reduceat(shared.astype(np.int64), starts) >= _HELD * sizes).any())

    return [s for s in whole if not holds(s)]


def _text(sequence: Sequence, tokenizer: Any) -> str:
    """What the sequence says, without the token that begins every prompt."""
    start = int(sequence.tokens[:1] == (tokenizer.bos_token_id,))
    return str(tokenizer.decode(sequence.tokens[start:]))


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
