"""One text or chat of a corpus, before any tokenizer has seen it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import CorpusError
from .printable import printable

# What is read of one document, in characters: 64 sequences of 1,024 tokens of English.
LONGEST_DOCUMENT = 1 << 18
DEFAULT_COLUMNS = ("text", "messages")
_LONGEST_NAME = 80
_LONGEST_DOMAIN = 40
# A `document` column may as well hold the text; a name is short.
_LONGEST_WHOLE = 160
# Turns kept of a chat: empty ones have no characters, and still take room.
MOST_TURNS = 2048
# Hand-over points that one record may propose.
_MOST_CUTS = 4096


@dataclass(frozen=True)
class Document:
    """A text, or the turns of a chat as (role, content). `cuts` are character positions in the text.

    `whole` names what the document is a section of (in a record: `document`): sections of one whole
    never part between splits.
    """

    id: str
    domain: str
    text: str = ""
    turns: tuple[tuple[str, str], ...] = ()
    cuts: tuple[int, ...] = ()
    whole: str | None = None
    shortened: bool = False

    @property
    def plain(self) -> str:
        """The text, or a chat's contents one after the other: what two documents are compared by."""
        return self.text or "\n".join(content for _, content in self.turns)

    def digest(self, bos: str | None = None) -> bytes:
        """sha256 of the content: whitespace counts as one blank, a leading `bos` token not at all."""
        plain = self.text.removeprefix(bos) if bos else self.text
        parts = [f"{role} {content}" for role, content in self.turns] or [plain]
        return hashlib.sha256("\n".join(" ".join(p.split()) for p in parts).encode()).digest()


def document_of(record: Any, column: str | None, where: str) -> Document | None:
    """The document of a JSON object or a parquet row; None where its text is null or blank.

    `where` says which record it is, for people. Errors: CorpusError CORPUS_UNREADABLE, COLUMN_MISSING.
    """
    if not isinstance(record, Mapping):
        raise CorpusError("CORPUS_UNREADABLE", f"{where}: no JSON object with a text, one record a line")
    columns = (column,) if column else DEFAULT_COLUMNS
    name = next((c for c in columns if c in record), None)
    if name is None:
        found = ", ".join(printable(str(c), _LONGEST_NAME) for c in list(record)[:8]) or "nothing"
        raise CorpusError(
            "COLUMN_MISSING",
            f"{where}: no {' or '.join(columns)}, it has {found}: name the right one with --corpus-column",
        )
    value = record[name]
    whole = record.get("document")
    if name == "document" or not isinstance(whole, str) or not 0 < len(whole) <= _LONGEST_WHOLE:
        whole = None
    given = record.get("id")
    known = printable(_spelled(given), _LONGEST_NAME)
    domain = record.get("domain")
    if not isinstance(domain, str) or not 0 < len(domain) <= _LONGEST_DOMAIN:
        domain = None
    domain = printable(domain or "").strip()
    if value is None or isinstance(value, str):
        if value is None or not value.strip():
            return None
        text = value[:LONGEST_DOCUMENT]
        _check_text(text, where)
        cuts = record.get("cuts")
        proposed = cuts if isinstance(cuts, list) else []
        kept = tuple(c for c in proposed if isinstance(c, int) and 0 < c <= len(text))[:_MOST_CUTS]
        return Document(known, domain or "text", text, (), kept, whole, len(value) > len(text))
    turns = _turns(value)
    if turns is None:
        raise CorpusError(
            "CORPUS_UNREADABLE",
            f"{where}: {name} holds neither a text nor a list of messages with role and content: "
            "name another with --corpus-column",
        )
    _check_text("".join(role + content for role, content in turns), where)
    chat = Document(known, domain or "chat", turns=turns, whole=whole)
    return chat if any(content.strip() for _, content in turns) else None


def _turns(value: Any) -> tuple[tuple[str, str], ...] | None:
    """Turns of a chat's messages, in order, as many as LONGEST_DOCUMENT holds; None where it is no chat."""
    if not isinstance(value, list):
        return None
    turns: list[tuple[str, str]] = []
    room = LONGEST_DOCUMENT
    for message in value:
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            return None
        content = message.get("content")
        if isinstance(content, list):
            parts = [p.get("text") for p in content if isinstance(p, Mapping)]
            content = "".join(p for p in parts if isinstance(p, str))
        if content is not None and not isinstance(content, str):
            return None
        room -= len(message["role"]) + len(content or "")
        if room < 0 or len(turns) == MOST_TURNS:
            break
        turns.append((message["role"], content or ""))
    return tuple(turns)


def _spelled(given: Any) -> str:
    """A record's id as text; what is neither text nor a number of ordinary length is none."""
    if isinstance(given, int):
        return str(given) if given.bit_length() <= 128 else ""
    return given if isinstance(given, str) else ""


def _check_text(text: str, where: str) -> None:
    """Errors: CorpusError CORPUS_UNREADABLE where half of a surrogate pair stands in it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CorpusError(
            "CORPUS_UNREADABLE", f"{where} holds half of a surrogate pair, which is no text: drop it"
        ) from error
