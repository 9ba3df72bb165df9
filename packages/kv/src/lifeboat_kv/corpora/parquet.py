"""Parquet files, one column, read in batches. pyarrow is an extra, needed only where a .parquet is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import CorpusError
from .document import DEFAULT_COLUMNS, LONGEST_DOCUMENT, MOST_TURNS, Document, document_of
from .printable import printable

INSTALL = "pip install 'pyarrow>=20' in this library's environment"
_BATCH = 256
# What a batch may come to, unpacked: a dictionary's one long text may stand in every row of it.
_BATCH_BYTES = 32 << 20
_LARGEST_CHUNK = 1 << 30
# Texts pack to a twentieth at most; what packs to less than a 200th is of no use, and may be meant to burst.
_SMALL_CHUNK = 64 << 20
_MOST_PACKED = 200
# Beside its bytes: an empty value costs its place in offsets and masks.
_VALUE_COST = 16
_BESIDE = ("id", "domain")
_LONGEST_BESIDE = 256


def parquet_documents(file: Path, name: str, column: str | None) -> Iterator[Document]:
    """Documents of a parquet file's text or messages column, in order.

    Column chunks are read through a small buffer, in batches of as many rows as are sure to stay small
    when unpacked, and texts are cut before they become Python's. Errors: CorpusError PARQUET_MISSING,
    COLUMN_MISSING, CORPUS_UNREADABLE; OSError.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise CorpusError("PARQUET_MISSING", f"{name} needs pyarrow, which is missing: {INSTALL}") from error
    try:
        how: dict[str, Any] = {"buffer_size": 1 << 20, "pre_buffer": False, "memory_map": False}
        with pq.ParquetFile(file, **how) as opened:
            nested = _nested_texts(opened.schema)
        # Texts in lists stay in their dictionaries, however often a row names them.
        with pq.ParquetFile(file, read_dictionary=nested, **how) as opened:
            names = opened.schema_arrow.names
            wanted = next((c for c in ((column,) if column else DEFAULT_COLUMNS) if c in names), None)
            if wanted is None:
                raise CorpusError(
                    "COLUMN_MISSING",
                    f"{name} has no column {printable(column or '') or ' or '.join(DEFAULT_COLUMNS)}, it has "
                    f"{', '.join(printable(n, 80) for n in names[:12])}: name the right one with "
                    "--corpus-column",
                )
            columns = [wanted, *(c for c in _BESIDE if c in names and c != wanted)]
            row = 0
            for group in range(opened.num_row_groups):
                rows = _rows_at_once(opened.metadata.row_group(group), columns, name)
                batches = opened.iter_batches(
                    batch_size=rows, row_groups=[group], columns=columns, use_threads=False
                )
                for batch in batches:
                    longest = {c: LONGEST_DOCUMENT if c == wanted else _LONGEST_BESIDE for c in columns}
                    values = {c: _cut(batch.column(c), longest[c] + 1) for c in columns}
                    for at in range(batch.num_rows):
                        row += 1
                        record = {c: _value(found[at]) for c, found in values.items()}
                        document = document_of(record, wanted, f"{name}, row {row}")
                        if document is not None:
                            yield document
    except (pa.ArrowException, UnicodeDecodeError) as error:
        said = printable(" ".join(str(error).split()), 160)
        raise CorpusError(
            "CORPUS_UNREADABLE",
            f"{name} is no readable parquet file ({said}): copy it again",
        ) from error


def _nested_texts(schema: Any) -> list[str]:
    """Paths of the leaves that hold several byte strings a row."""
    leaves = [schema.column(number) for number in range(len(schema))]
    return [c.path for c in leaves if c.max_repetition_level and c.physical_type == "BYTE_ARRAY"]


def _rows_at_once(group: Any, columns: list[str], name: str) -> int:
    """Rows of a batch. No value is longer than its chunk unpacked, and no row holds more values than it.

    Errors: CorpusError CORPUS_UNREADABLE where a single row could be too large.
    """
    largest = packed = 0
    for number in range(group.num_columns):
        chunk = group.column(number)
        if chunk.path_in_schema.split(".")[0] in columns:
            largest += chunk.total_uncompressed_size + _VALUE_COST * chunk.num_values
            packed += chunk.total_compressed_size
    if largest > max(_SMALL_CHUNK, _MOST_PACKED * packed):
        raise CorpusError(
            "CORPUS_UNREADABLE",
            f"{name} unpacks to over {_MOST_PACKED} times its size: no text does, name another",
        )
    if largest > _LARGEST_CHUNK:
        raise CorpusError(
            "CORPUS_UNREADABLE",
            f"{name} has a row group of over {_LARGEST_CHUNK >> 30} GiB: write it with smaller row groups",
        )
    return max(1, min(_BATCH, _BATCH_BYTES // max(1, largest)))


def _cut(values: Any, longest: int) -> Any:
    """Texts of a column with at most `longest` characters; other columns as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return pc.utf8_slice_codeunits(values, 0, longest)
    return values


def _value(found: Any) -> Any:
    """A scalar as Python's; of a list no more than a chat may have turns."""
    inner = getattr(found, "values", None)
    if inner is None or not hasattr(inner, "slice"):
        return found.as_py()
    turns: list[Any] = []
    room = LONGEST_DOCUMENT
    for one in inner.slice(0, MOST_TURNS):
        turns.append(one.as_py())
        room -= _characters(turns[-1])
        if room < 0:
            break
    return turns


def _characters(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_characters, value.values()))
    if isinstance(value, list):
        return sum(map(_characters, value))
    return len(value) if isinstance(value, str) else 0
