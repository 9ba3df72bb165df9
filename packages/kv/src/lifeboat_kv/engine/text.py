"""Answer text, token by token: whole characters only, and never past a stop string."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

REPLACEMENT = "�"


class TextStream:
    """Turns token ids into text pieces whose concatenation is the answer's text.

    Characters whose bytes are split over tokens are held back until they are whole; with stop
    strings, so is any ending that could be the start of one.
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        stop: Sequence[str] = (),
        include_stop: bool = False,
        skip_special_tokens: bool = True,
    ) -> None:
        self._tokenizer = tokenizer
        self._stop = tuple(s for s in stop if s)
        self._include_stop = include_stop
        self._skip_special = skip_special_tokens
        self._ids: list[int] = []
        self._shown_from = 0
        self._read_from = 0
        self._held = ""

    def push(self, token_id: int) -> tuple[str, str | None]:
        """The text this token releases, and the stop string it completed, if any."""
        self._ids.append(token_id)
        return self._release(self._fresh_text())

    def finish(self) -> str:
        """Everything still held back."""
        rest = self._held + self._fresh_text(final=True)
        self._held = ""
        return rest

    def _fresh_text(self, *, final: bool = False) -> str:
        """New text after what was read before; decoding from a little earlier keeps spaces right."""
        before = self._decode(self._ids[self._shown_from : self._read_from])
        now = self._decode(self._ids[self._shown_from :])
        if len(now) <= len(before) or (now.endswith(REPLACEMENT) and not final):
            return ""
        self._shown_from, self._read_from = self._read_from, len(self._ids)
        return now[len(before) :]

    def _decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=self._skip_special) if ids else ""

    def _release(self, fresh: str) -> tuple[str, str | None]:
        if not self._stop:
            return fresh, None
        text = self._held + fresh
        hits = [(at, stop) for stop in self._stop if (at := text.find(stop)) >= 0]
        if hits:
            at, stop = min(hits, key=lambda hit: (hit[0], -len(hit[1])))
            self._held = ""
            return text[: at + len(stop)] if self._include_stop else text[:at], stop
        keep = max(_overlap(text, stop) for stop in self._stop)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep], None


def _overlap(text: str, stop: str) -> int:
    """Length of the longest ending of `text` that begins `stop`."""
    for size in range(min(len(text), len(stop) - 1), 0, -1):
        if stop.startswith(text[-size:]):
            return size
    return 0


class TokenNames:
    """What a single token looks like in log-probabilities: its text and its bytes."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._byte_of = _byte_level_alphabet()
        self.name = lru_cache(maxsize=65_536)(self._name)

    def _name(self, token_id: int) -> tuple[str, tuple[int, ...]]:
        text = self._tokenizer.decode([token_id], skip_special_tokens=False)
        piece = self._tokenizer.convert_ids_to_tokens(token_id) or ""
        if REPLACEMENT in text and all(c in self._byte_of for c in piece):
            return text, tuple(self._byte_of[c] for c in piece)
        return text, tuple(text.encode())


@lru_cache(maxsize=1)
def _byte_level_alphabet() -> dict[str, int]:
    """Character -> byte of byte-level BPE: printable bytes stand for themselves, the rest follow 255."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {chr(b): b for b in plain}
    others = [b for b in range(256) if b not in set(plain)]
    table.update({chr(256 + offset): b for offset, b in enumerate(others)})
    return table
