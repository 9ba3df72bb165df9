"""Which documents of a corpus of any size are used: those whose digests come first, as many as fit."""

from __future__ import annotations

import heapq

from .document import Document

# Bytes of text kept while reading. The defaults use about 5 MiB; the rest is room for what is left out.
ROOM = 32 << 20
_OVERHEAD = 400
_CUT_COST = 40
_TURN_COST = 160


class Selection:
    """Keeps the documents with the smallest digests within `room` bytes, each content once.

    A digest's order is as good as chance, and it does not depend on the order of files or lines: the
    result is the longest run of the corpus's sorted digests that fits. Memory does not grow with the corpus.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self.seen = self.repeated = self.shortened = 0
        self._kept: dict[bytes, tuple[int, Document]] = {}
        self._largest: list[tuple[int, bytes]] = []
        self._used = 0
        self._limit: bytes | None = None

    def offer(self, document: Document, digest: bytes) -> None:
        """Takes note of a document; `digest` is that of its content."""
        self.seen += 1
        self.shortened += document.shortened
        if self._limit is not None and digest >= self._limit:
            return
        known = self._kept.get(digest)
        if known is not None:
            self.repeated += 1
            # Of two that differ in whitespace or name alone, always the same one stays.
            if _rank(document) >= _rank(known[1]):
                return
            self._used -= known[0]
        else:
            heapq.heappush(self._largest, (-int.from_bytes(digest, "big"), digest))
        size = len(document.text) + _OVERHEAD + _CUT_COST * len(document.cuts)
        size += sum(len(role) + len(content) + _TURN_COST for role, content in document.turns)
        if not (document.plain.isascii() and all(role.isascii() for role, _ in document.turns)):
            size *= 2
        self._kept[digest] = size, document
        self._used += size
        while self._used > self.room and len(self._kept) > 1:
            self._limit = heapq.heappop(self._largest)[1]
            self._used -= self._kept.pop(self._limit)[0]

    def ordered(self) -> list[tuple[bytes, Document]]:
        """What is kept, by digest."""
        return [(digest, self._kept[digest][1]) for digest in sorted(self._kept)]


def _rank(document: Document) -> tuple[str, ...]:
    return (document.id, document.domain, document.text, repr(document.turns), repr(document.cuts))
