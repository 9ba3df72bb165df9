"""Which documents share a passage: they go into one split, whatever they are called.

A passage is recognised by winnowing (Schleimer, Wilkerson and Aiken, 2003): hash every run of `RUN` bytes,
keep each window's smallest hash. Two texts that share RUN + WINDOW - 1 bytes always share a hash.
"""

from __future__ import annotations

import numpy as np

RUN = 96
WINDOW = 64
# Documents may share less than this, whitespace not counted; what they share from it on is always seen.
SHARED_BYTES = RUN + WINDOW - 1
# A passage in more documents than this, and more than a 64th of them, is a template, not a copy: a
# system prompt, a licence at the head of a file. Nothing learns a text from it. Where it is this much of two
# documents, though, they are versions of one text, however many there are.
_TEMPLATE = 16
_TEMPLATE_SHARE = 64
_SAME_TEXT = 2 / 3
# What finding versions may cost: texts that a passage is looked up in, and comparisons for each document.
_MOST_TEXTS = 8
_MOST_COMPARED = 32
_BASE = 0x9E3779B97F4A7C15


def _mixed(values: np.ndarray) -> np.ndarray:
    """splitmix64's finaliser: spreads uint64 values over their whole range."""
    x = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


_BYTES = _mixed((np.arange(256, dtype=np.uint64) + np.uint64(1)) * np.uint64(_BASE))


def fingerprints(text: str) -> np.ndarray:
    """Hashes [n] uint64 of `text`, whitespace removed, sorted, each once; none under RUN bytes."""
    data = np.frombuffer("".join(text.split()).encode("utf-8", "replace"), dtype=np.uint8)
    if data.size < RUN:
        return np.empty(0, dtype=np.uint64)
    # Rolling polynomial hash modulo 2^64 from prefix sums; the base is odd, so it has an inverse.
    powers = np.multiply.accumulate(np.full(data.size, _BASE, dtype=np.uint64))
    inverse = np.uint64(pow(_BASE, -1, 1 << 64))
    backwards = np.multiply.accumulate(np.full(data.size - RUN + 1, inverse, dtype=np.uint64))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(_BYTES[data] * powers, dtype=np.uint64)])
    hashes = _mixed((sums[RUN:] - sums[:-RUN]) * backwards)
    width = 1
    while width < WINDOW and hashes.size > width:
        hashes = np.minimum(hashes[:-width], hashes[width:])
        width *= 2
    return np.unique(hashes)


class Union:
    """Disjoint sets of the numbers below `size`; a set is named by its smallest member."""

    def __init__(self, size: int) -> None:
        self._up = list(range(size))

    def root(self, number: int) -> int:
        """The smallest member of the set of `number`."""
        while self._up[number] != number:
            self._up[number] = self._up[self._up[number]]
            number = self._up[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Makes one set of two."""
        low, high = sorted((self.root(one), self.root(other)))
        self._up[high] = low


def related(texts: list[str], wholes: list[str | None]) -> tuple[Union, int]:
    """Sets of documents that share a passage, directly or through others, or a whole.

    Also returns how many passages were taken for templates.
    """
    found = Union(len(texts))
    first: dict[str, int] = {}
    for number, whole in enumerate(wholes):
        if whole is not None:
            found.join(first.setdefault(whole, number), number)
    marks = [fingerprints(text) for text in texts]
    if not sum(m.size for m in marks):
        return found, 0
    hashes = np.concatenate(marks)
    owners = np.repeat(np.arange(len(marks)), [m.size for m in marks])
    order = np.lexsort((owners, hashes))
    hashes, owners = hashes[order], owners[order]
    starts = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]]))
    counts = np.diff(np.concatenate([starts, [hashes.size]]))
    most = max(_TEMPLATE, len(texts) // _TEMPLATE_SHARE)
    for start, count in zip(starts[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True):
        if count <= most:
            for at in range(start + 1, start + count):
                found.join(int(owners[start]), int(owners[at]))
    often = counts > most
    _join_versions(found, marks, hashes[starts[often]], counts[often])
    # Passages of versions of one text are no templates.
    templates = (
        (start, count) for start, count in zip(starts[often].tolist(), counts[often].tolist(), strict=True)
    )
    return found, sum(
        any(found.root(int(o)) != found.root(int(owners[start])) for o in owners[start : start + count])
        for start, count in templates
    )


def _join_versions(union: Union, marks: list[np.ndarray], frequent: np.ndarray, counts: np.ndarray) -> None:
    """Joins documents that share _SAME_TEXT of the larger one's fingerprints, all of those `frequent`.

    `frequent` [n] uint64 is sorted, `counts` [n] are the documents that hold each. Two sets that share so
    much share one of their first few hashes in any order of all hashes (prefix filtering: Chaudhuri, Ganti
    and Kaushik, 2006): only those are looked up, the rarest first, in the first texts that hold them.
    """
    if not frequent.size:
        return
    texts: dict[int, list[int]] = {}
    for number, own in enumerate(marks):
        least = int(np.ceil(_SAME_TEXT * own.size))
        at = np.searchsorted(frequent, own).clip(max=frequent.size - 1)
        held = at[frequent[at] == own]
        if not held.size or held.size < least:
            continue
        first = held[np.lexsort((held, counts[held]))][: held.size - least + 1].tolist()
        compared: dict[int, bool] = {}
        for passage in first:
            others = texts.setdefault(passage, [])
            for other in others:
                if other not in compared and len(compared) < _MOST_COMPARED:
                    shared = np.intersect1d(own, marks[other], assume_unique=True).size
                    compared[other] = shared >= _SAME_TEXT * max(own.size, marks[other].size)
                    if compared[other]:
                        union.join(other, number)
            # Of versions of one text, the first stands for all.
            if len(others) < _MOST_TEXTS and not any(compared.get(other) for other in others):
                others.append(number)
