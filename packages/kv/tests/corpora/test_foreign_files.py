"""Corpus folders that somebody else laid down: pipes, links, wrong types, files of any size."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import tracemalloc
from pathlib import Path

import pytest
from words import SIZES, save_lines, texts, tokenizer

from lifeboat_kv.corpora import load_corpus
from lifeboat_kv.corpora.sequence import SPLITS
from lifeboat_kv.errors import CorpusError

TOKENIZER = tokenizer()
PARTS = ("manifest.json", "fit.jsonl", "probes.jsonl", "long.jsonl")


@pytest.fixture(autouse=True)
def no_waiting():
    """A test that waits for a pipe's writer ends here."""

    def ended(*_: object) -> None:
        raise AssertionError("waited for something that never comes")

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def folder(at: Path, manifest: object = None) -> Path:
    """A corpus folder as it should be."""
    save_lines(at / "fit.jsonl", texts(30, seed=1))
    save_lines(at / "probes.jsonl", texts(24, seed=2))
    save_lines(at / "long.jsonl", texts(2, words=500, seed=3))
    (at / "manifest.json").write_text(json.dumps({"name": "mine"} if manifest is None else manifest))
    return at


def refused(path: Path) -> CorpusError:
    with pytest.raises(CorpusError) as raised:
        load_corpus(path, TOKENIZER, SIZES)
    error = raised.value
    assert (error.code, error.exit_code) == ("CORPUS_UNREADABLE", 5), error.code
    assert "\n" not in error.message and len(error.message) < 400 and error.message.isprintable()
    return error


@pytest.mark.parametrize("part", PARTS)
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, part: str) -> None:
    corpus = folder(tmp_path / "c")
    (corpus / part).unlink()
    os.mkfifo(corpus / part)
    assert f"{part} is no regular file" in refused(corpus).message


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("target", ["file", "device", "nothing", "itself"])
def test_a_link_out_of_the_folder_is_refused(tmp_path, part: str, target: str) -> None:
    corpus = folder(tmp_path / "c")
    outside = tmp_path / "outside"
    os.replace(corpus / part, outside)
    where = {"file": outside, "device": "/dev/zero", "nothing": tmp_path / "none", "itself": corpus / part}
    (corpus / part).symlink_to(where[target])
    refused(corpus)


@pytest.mark.parametrize("part", PARTS)
def test_a_link_within_the_folder_is_a_file(tmp_path, part: str) -> None:
    corpus = folder(tmp_path / "c")
    plain = load_corpus(corpus, TOKENIZER, SIZES)
    os.replace(corpus / part, corpus / "kept")
    (corpus / part).symlink_to("kept")
    linked = load_corpus(corpus, TOKENIZER, SIZES)
    assert linked.splits == plain.splits and linked.long == plain.long and len(plain.long) == 2


def test_a_pipe_or_device_by_itself_is_no_corpus(tmp_path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    assert "neither a file nor a folder" in refused(tmp_path / "a.jsonl").message
    refused(Path("/dev/zero"))


@pytest.mark.parametrize("key", [*SPLITS, "seq_len"])
@pytest.mark.parametrize(
    "value", ['"NaN"', "NaN", "{}", "[1]", "1e400", "-3", "0", "true", "2.5", "1e3", '"9"']
)
def test_defaults_of_wrong_types_are_refused(tmp_path, key: str, value: str) -> None:
    corpus = folder(tmp_path / "c")
    (corpus / "manifest.json").write_text(f'{{"defaults": {{"{key}": {value}}}}}')
    assert f"default {key}" in refused(corpus).message


def test_defaults_that_are_absurd_are_refused(tmp_path) -> None:
    refused(folder(tmp_path / "a", {"defaults": {"seq_len": 63}}))
    refused(folder(tmp_path / "b", {"defaults": {"gate": 10**30}}))
    refused(folder(tmp_path / "d", {"name": {"a": 1}}))
    (tmp_path / "b" / "manifest.json").write_text('{"defaults": {"gate": ' + "9" * 5000 + "}}")
    refused(tmp_path / "b")
    (tmp_path / "b" / "manifest.json").write_text('{"pad": "' + "x" * (2 << 20) + '"}')
    assert "larger than 1 MiB" in refused(tmp_path / "b").message


def test_defaults_that_are_numbers_count(tmp_path) -> None:
    corpus = load_corpus(
        folder(tmp_path / "c", {"name": "a\0b\ud800", "defaults": dict(SIZES, fit=11)}), TOKENIZER
    )
    assert [len(corpus.splits[n]) for n in SPLITS] == [11, 4, 8, 4]
    assert corpus.name == "a\ufffdb\ufffd"


def test_the_digest_of_a_corpus_folder_is_taken_in_pieces(tmp_path) -> None:
    """Memory stays under the file's 48 MiB; the digest is that of the bytes put together."""
    corpus = folder(tmp_path / "c")
    with open(corpus / "fit.jsonl", "ab") as out:
        for _ in range(48):
            out.write(b" " * ((1 << 20) - 1) + b"\n")
    whole = hashlib.sha256((corpus / "fit.jsonl").read_bytes() + (corpus / "probes.jsonl").read_bytes())
    tracemalloc.start()
    found = load_corpus(corpus, TOKENIZER, SIZES)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.sha256 == whole.hexdigest()
    assert peak < 32 << 20


def test_only_as_many_long_texts_as_are_kept_are_read(tmp_path, monkeypatch) -> None:
    from lifeboat_kv.corpora import long_texts

    read = 0
    inner = long_texts.documents_of

    def counting(*given):
        nonlocal read
        for document in inner(*given):
            read += 1
            yield document

    monkeypatch.setattr(long_texts, "documents_of", counting)
    monkeypatch.setattr(long_texts, "_MOST_KEPT", 3)
    corpus = folder(tmp_path / "c")
    save_lines(corpus / "long.jsonl", texts(40, words=500, seed=3))
    assert len(load_corpus(corpus, TOKENIZER, SIZES).long) == read == 3
