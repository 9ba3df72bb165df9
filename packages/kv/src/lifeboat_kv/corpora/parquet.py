"""Parquet files, one column, read in batches. pyarrow is an extra, needed only where a .parquet is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..errors import CorpusError
from .document import DEFAULT_COLUMNS, Document, document_of

INSTALL = "pip install 'pyarrow>=20' in this library's environment"
_BATCH = 256
_BESIDE = ("id", "domain")


def parquet_documents(file: Path, name: str, column: str | None) -> Iterator[Document]:
    """Documents of a parquet file's text or messages column, in order.

    Column chunks are read through a small buffer, so that memory follows the row group's pages, not the
    file. Errors: CorpusError PARQUET_MISSING, COLUMN_MISSING, CORPUS_UNREADABLE; OSError.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise CorpusError("PARQUET_MISSING", f"{name} needs pyarrow, which is missing: {INSTALL}") from error
    try:
        with pq.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False, memory_map=False) as opened:
            names = opened.schema_arrow.names
            wanted = next((c for c in ((column,) if column else DEFAULT_COLUMNS) if c in names), None)
            if wanted is None:
                raise CorpusError(
                    "COLUMN_MISSING",
                    f"{name} has no column {column or ' or '.join(DEFAULT_COLUMNS)}, it has "
                    f"{', '.join(names[:12])}: name the right one with --corpus-column",
                )
            columns = [wanted, *(c for c in _BESIDE if c in names and c != wanted)]
            row = 0
            for batch in opened.iter_batches(batch_size=_BATCH, columns=columns, use_threads=False):
                for record in batch.to_pylist():
                    row += 1
                    document = document_of(record, wanted, f"{name}, row {row}")
                    if document is not None:
                        yield document
    except (pa.ArrowException, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())[:160]
        raise CorpusError(
            "CORPUS_UNREADABLE",
            f"{name} is no readable parquet file ({said}): copy it again",
        ) from error
