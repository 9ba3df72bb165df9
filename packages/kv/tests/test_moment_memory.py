"""Memory of capture and fit does not grow with the corpus."""

from __future__ import annotations

from pathlib import Path

from measure_memory import TIMES, peak_bytes, rows_bytes

# The tokens of seven more corpora, as Python holds them, and what an allocator may keep.
_BOUND = 40 << 20


def test_eight_times_the_corpus_takes_no_more_memory(tmp_path: Path) -> None:
    once, more = (peak_bytes(times, tmp_path) for times in TIMES)
    assert more - once < _BOUND
    assert rows_bytes(TIMES[1]) - rows_bytes(TIMES[0]) > 10 * _BOUND
