"""What a few bytes cannot blow up: memory, time, and names that a database would choke on."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tracemalloc
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from words import SIZES, save_lines, texts, tokenizer

from lifeboat_kv.corpora import load_corpus, reading
from lifeboat_kv.corpora.document import LONGEST_DOCUMENT, document_of
from lifeboat_kv.corpora.parquet import parquet_documents
from lifeboat_kv.corpora.selection import Selection
from lifeboat_kv.corpora.sequence import SPLITS
from lifeboat_kv.errors import CorpusError

TOKENIZER = tokenizer()
# Prints the growth of its own peak while a parquet file is read, in MiB; Arrow's memory is no Python's.
PEAK = """
import resource, sys
from pathlib import Path
import pyarrow.parquet
import pyarrow.compute
from lifeboat_kv.corpora.parquet import parquet_documents
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
before = peak()
count = sum(1 for _ in parquet_documents(Path(sys.argv[1]), "a.parquet", None))
print(count, peak() - before)
"""


def peak_of(file: Path) -> tuple[int, int]:
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(file)], capture_output=True, text=True, env={"PYTHONPATH": source}
    )
    assert done.returncode == 0, done.stderr[-500:]
    count, grown = done.stdout.split()
    return int(count), int(grown)


@pytest.mark.parametrize("kept", [False, True])
def test_one_long_text_in_every_row_is_not_unpacked_at_once(tmp_path, kept: bool) -> None:
    """256 rows of one text of 2 MiB in a file of under 1 KiB."""
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 256, pa.int32()), pa.array(["a" * (2 << 20)]))
    file = tmp_path / "a.parquet"
    named = pa.table({"text": rows})
    pq.write_table(named, file, compression="zstd", store_schema=kept)
    assert file.stat().st_size < 2000
    count, grown = peak_of(file)
    assert count == 256 and grown < 160
    document = next(parquet_documents(file, "a.parquet", None))
    assert len(document.text) == LONGEST_DOCUMENT and document.shortened


def test_one_long_turn_in_every_chat_is_not_unpacked_at_once(tmp_path) -> None:
    turns = [{"role": "user", "content": "b" * (1 << 20)}] * 200
    file = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"messages": [[{"role": "user", "content": "hello"}, *turns]] * 2}),
        file,
        compression="zstd",
        dictionary_pagesize_limit=1 << 30,
    )
    count, grown = peak_of(file)
    assert count == 2 and grown < 160


def test_what_unpacks_to_hundreds_of_times_its_size_is_refused(tmp_path) -> None:
    for number, columns in enumerate(
        (
            {"text": ["a" * (100 << 20)]},
            {"messages": pa.array([[None] * 9_000_000], pa.list_(pa.struct([("role", pa.string())])))},
        )
    ):
        file = tmp_path / f"{number}.parquet"
        pq.write_table(pa.table(columns), file, compression="zstd")
        with pytest.raises(CorpusError) as raised:
            list(parquet_documents(file, "a.parquet", None))
        assert raised.value.code == "CORPUS_UNREADABLE" and "times its size" in raised.value.message


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "r" * 3_000_000, "content": "hi"}],
        [{"role": "user", "content": "hi"}] + [{"role": "r" * 2000, "content": ""}] * 1000,
        [{"role": "user", "content": "hi"}] + [{"role": "u", "content": ""}] * 10_000,
        [{"role": "user", "content": "h"}] * 10_000,
    ],
    ids=["role", "roles", "empty", "short"],
)
def test_roles_and_empty_turns_count(messages: list[dict]) -> None:
    line = json.dumps({"messages": messages})
    selection = Selection(room=1 << 20)
    tracemalloc.start()
    for number in range(16):
        record = json.loads(line)
        record["messages"].insert(0, {"role": "user", "content": f"hello {number}"})
        document = document_of(record, None, "x")
        assert document is not None
        selection.offer(document, document.digest())
        del record, document
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < 2 << 20


def test_proposed_cuts_are_few() -> None:
    document = document_of({"text": "abc", "cuts": [1] * 1_000_000}, None, "x")
    assert document is not None and len(document.cuts) <= 4096


@pytest.mark.parametrize("letter", ["word ", "w", "wörd 😀 ", "a\n", "a\n\n", "\n"])
def test_a_text_is_not_copied_for_every_paragraph(letter: str) -> None:
    """Characters handed to the search and cut off stay near the text's own, whatever its blank lines."""
    copied = 0

    class Counting(str):
        def __getitem__(self, key):  # type: ignore[no-untyped-def]
            nonlocal copied
            found = str.__getitem__(self, key)
            copied += len(found)
            return Counting(found)

        def __add__(self, other):  # type: ignore[no-untyped-def]
            return Counting(str.__add__(self, other))

        def find(self, sub, start=0, end=None):  # type: ignore[no-untyped-def]
            nonlocal copied
            found = str.find(self, sub, start, len(self) if end is None else end)
            copied += (min(len(self), len(self) if end is None else end) if found < 0 else found) - start
            return found

    text = letter * ((2 << 20) // len(letter.encode()))
    inner = reading._utf8

    def decoding(name: str):  # type: ignore[no-untyped-def]
        decode = inner(name)
        return lambda piece: Counting(decode(piece))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_utf8", decoding)
        whole = "".join(reading._paragraphs(BytesIO(text.encode()), "a.txt", 256))
    assert whole.split() == text.split()
    assert copied < 8 * len(text)


@settings(max_examples=80, deadline=None)
@given(st.text(st.sampled_from("ab \n"), max_size=400), st.integers(4, 60))
def test_paragraphs_are_the_text(text: str, longest: int) -> None:
    """Whatever pieces they are read in, none is much longer than asked for, and no word is lost."""
    cuts = []
    for piece in (7, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reading, "_PIECE", piece)
            cuts.append(list(reading._paragraphs(BytesIO(text.encode()), "a.txt", longest)))
    assert all("".join("".join(c).split()) == "".join(text.split()) for c in cuts)
    assert all(len(p) <= longest + 1 for c in cuts for p in c)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.text(max_size=60))
def test_names_are_printable_and_short(name: str, domain: str) -> None:
    for given_id in (name, "\0" + name, name + "\ud800"):
        document = document_of({"text": "abc", "id": given_id, "domain": domain + "\x07"}, None, "x")
        assert document is not None
        assert document.id.isprintable() and len(document.id) <= 80
        assert document.domain.isprintable() and 0 < len(document.domain) <= 40


def test_a_corpus_of_unprintable_names_is_stored_like_any_other(tmp_path) -> None:
    rows = [{"text": t, "id": "a\0\ud800", "domain": "d\0\x1b[2J"} for t in texts(40)]
    rows[0]["id"] = 10**3000
    corpus = load_corpus(save_lines(tmp_path / "c\x1b\udcff.jsonl", rows), TOKENIZER, SIZES)
    every = [s for name in SPLITS for s in corpus.splits[name]]
    assert len({s.id for s in every}) == len(every) and all(s.id.isprintable() for s in every)
    assert {s.domain for s in every} == {"d\ufffd\ufffd[2J"}
    assert "\\u0000" not in json.dumps(corpus.facts()) and "\\ud" not in json.dumps(corpus.facts())
    assert corpus.name.isprintable()


@pytest.mark.parametrize(
    "record",
    [
        {"text": "a\ud800b"},
        {"messages": [{"role": "user", "content": "a\udfff"}]},
        {"messages": [{"role": "us\ud800er", "content": "a"}]},
    ],
)
@pytest.mark.parametrize("part", ["fit.jsonl", "probes.jsonl", "long.jsonl"])
def test_half_a_surrogate_pair_is_said_wherever_it_stands(tmp_path, part: str, record: dict) -> None:
    for name in ("fit.jsonl", "probes.jsonl", "long.jsonl"):
        rows: list = texts(30, seed=len(name))
        save_lines(tmp_path / name, [*rows, record] if name == part else rows)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(CorpusError) as raised:
        load_corpus(tmp_path, TOKENIZER, SIZES)
    assert raised.value.code == "CORPUS_UNREADABLE" and f"{part}, line 31" in raised.value.message


def test_names_of_columns_are_said_printably() -> None:
    with pytest.raises(CorpusError) as raised:
        document_of({"a\n\0\ud800": random.random()}, None, "x")
    assert raised.value.message.isprintable()
