"""Reading .txt, .jsonl and .parquet files as documents, a bounded piece at a time."""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..errors import CorpusError
from .document import LONGEST_DOCUMENT, Document, document_of
from .parquet import parquet_documents
from .regular import open_regular

SUFFIXES = (".txt", ".jsonl", ".jsonl.gz", ".json.gz", ".parquet")
LONGEST_LINE = 16 << 20
# A compressed file may hold this much and no more, so that a bomb ends.
MOST_BYTES = 64 << 30
_PIECE = 1 << 20


def documents_of(
    file: Path, name: str, column: str | None, section: int, whole: str | None
) -> Iterator[Document]:
    """Documents of one file, called `name` towards people, in the order of the file.

    A text's documents are its sections of about `section` characters, cut at blank lines; with `whole`
    they all belong together. Errors: CorpusError CORPUS_UNREADABLE, COLUMN_MISSING.
    """
    try:
        if name.endswith(".parquet"):
            yield from parquet_documents(file, name, column)
        elif name.endswith(".txt"):
            with open_regular(file, name) as raw:
                yield from _sections(raw, name, section, whole)
        elif name.endswith(".gz"):
            with open_regular(file, name) as packed, gzip.open(packed) as raw:
                yield from _lines(raw, name, column)  # type: ignore[arg-type]
        else:
            with open_regular(file, name) as raw:
                yield from _lines(raw, name, column)
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(
            "CORPUS_UNREADABLE", f"{name} cannot be read ({_said(error)}): copy it again, or name another"
        ) from error


def _lines(raw: IO[bytes], name: str, column: str | None) -> Iterator[Document]:
    number = size = 0
    while line := raw.readline(LONGEST_LINE + 1):
        number += 1
        size += len(line)
        where = f"{name}, line {number}"
        if len(line) > LONGEST_LINE:
            raise CorpusError(
                "CORPUS_UNREADABLE",
                f"{where} is longer than {LONGEST_LINE >> 20} MiB: give one record a line",
            )
        if size > MOST_BYTES:
            raise CorpusError("CORPUS_UNREADABLE", f"{name} is over {MOST_BYTES >> 30} GiB: name a part")
        if not line.strip():
            continue
        try:
            # A byte order mark belongs to the file, not to its first record.
            record = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            raise CorpusError(
                "CORPUS_UNREADABLE", f"{where} is no UTF-8 (byte {error.start}): convert the file to UTF-8"
            ) from error
        except (ValueError, RecursionError) as error:
            raise CorpusError(
                "CORPUS_UNREADABLE", f"{where} is no JSON ({_said(error)}): one record a line is needed"
            ) from error
        document = document_of(record, column, where)
        if document is not None:
            yield document


def _sections(raw: IO[bytes], name: str, section: int, whole: str | None) -> Iterator[Document]:
    section = min(section, LONGEST_DOCUMENT)
    waiting: list[str] = []
    held = 0
    for paragraph in _paragraphs(raw, name, section):
        waiting.append(paragraph)
        held += len(paragraph)
        if held >= section:
            yield Document("", "text", "".join(waiting).strip("\n"), whole=whole)
            waiting, held = [], 0
    rest = "".join(waiting).strip("\n")
    if rest.strip():
        yield Document("", "text", rest, whole=whole)


def _paragraphs(raw: IO[bytes], name: str, longest: int) -> Iterator[str]:
    """Runs of lines up to a blank one, blank line included; none longer than about `longest` characters.

    Read by pieces, so that a file without a single line end is no different from any other.
    """
    decode = _utf8(name)
    rest = ""
    while True:
        piece = raw.read(_PIECE)
        rest += decode(piece)
        # An index moves through what is held: cutting it off each time would copy all of it each time.
        at = 0
        while (end := rest.find("\n\n", at, at + longest + 1)) >= 0 or len(rest) - at > longest:
            if end < 0:
                # No blank line near enough: the last line end, or blank, or simply the length.
                near, far = at + longest // 2, at + longest
                end = max(rest.rfind("\n", at, far), rest.rfind(" ", near, far), near)
            found, at = rest[at : end + 1], end + 1
            if found.strip():
                yield found
        rest = rest[at:]
        if not piece:
            break
    if rest.strip():
        yield rest


def _utf8(name: str) -> Any:
    """A decoder that takes pieces (an empty one ends), line ends as \\n, and says where it could not read."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    at = 0
    first = True

    def decode(piece: bytes) -> str:
        nonlocal at, first
        begun = at - len(decoder.getstate()[0])
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            raise CorpusError(
                "CORPUS_UNREADABLE",
                f"{name} is no UTF-8 text (byte {begun + error.start}): convert it to UTF-8",
            ) from error
        at += len(piece)
        if "\0" in text:
            raise CorpusError("CORPUS_UNREADABLE", f"{name} holds zero bytes, so it is no text: name another")
        if first:
            text, first = text.removeprefix("\ufeff"), False
        return text.replace("\r\n", "\n")

    return decode


def _said(error: BaseException) -> str:
    """What a library said, on one short line."""
    return " ".join(str(error).split())[:160] or type(error).__name__
