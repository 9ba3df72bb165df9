"""Every kind of file, and everything that can be wrong with one: a line, the next step, exit code 5."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from words import SIZES, save_lines, text, texts, tokenizer

from lifeboat_kv.corpora import Corpus, load_corpus, parquet
from lifeboat_kv.corpora.files import digest_of, shards_of
from lifeboat_kv.corpora.reading import LONGEST_LINE, documents_of
from lifeboat_kv.corpora.register import register
from lifeboat_kv.corpora.selection import Selection
from lifeboat_kv.corpora.sequence import SPLITS
from lifeboat_kv.errors import CorpusError, UsageError

TOKENIZER = tokenizer()


def load(path, reader=TOKENIZER, sizes=None, **named) -> Corpus:
    return load_corpus(path, reader, {**SIZES, **(sizes or {})}, **named)


def codes(corpus: Corpus) -> list[str]:
    return [note.code for note in corpus.notes]


def table(columns: dict, file: Path, **written) -> Path:
    pq.write_table(pa.table(columns), file, **written)
    return file


def test_the_same_texts_in_every_format_give_the_same_splits(tmp_path) -> None:
    rows = texts(40)
    plain = save_lines(tmp_path / "a.jsonl", rows)
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    columns = table({"text": rows, "other": list(range(40))}, tmp_path / "c.parquet", row_group_size=7)
    named = table({"story": rows}, tmp_path / "d.parquet")
    folder = tmp_path / "e"
    save_lines(folder / "one.jsonl", rows[:13])
    table({"text": rows[13:]}, folder / "two.parquet")
    (folder / "README.md").write_text("not a text of the corpus")
    splits = [
        load(plain).splits,
        load(packed).splits,
        load(columns).splits,
        load(named, column="story").splits,
        load(folder).splits,
    ]
    assert all(found == splits[0] for found in splits)


def test_a_text_file_is_read_in_sections(tmp_path) -> None:
    file = tmp_path / "book.txt"
    file.write_bytes("\ufeff".encode() + "\r\n\r\n".join(texts(120, words=40)).encode())
    corpus = load(file)
    assert [len(corpus.splits[n]) for n in SPLITS] == [12, 4, 8, 4]
    assert all(2 not in s.tokens and 3 not in s.tokens for name in SPLITS for s in corpus.splits[name])
    known = {w for row in texts(120, words=40) for w in row.split()}
    read = [d.text for d in documents_of(file, "book.txt", None, 400, None)]
    assert set(" ".join(read).split()) == known
    assert " ".join(read).split() == " ".join(texts(120, words=40)).split()


def test_a_text_file_without_any_line_end_is_read_too(tmp_path) -> None:
    file = tmp_path / "line.txt"
    file.write_text(" ".join(texts(60)))
    corpus = load(file)
    assert [len(corpus.splits[n]) for n in SPLITS] == [12, 4, 8, 4]


def test_many_text_files_are_documents(tmp_path) -> None:
    """From 32 files on, no two splits hold sections of one file."""
    owners: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(texts(40, words=500)):
        words = row.split()
        (tmp_path / f"{number}.txt").write_text(
            "\n\n".join(" ".join(words[i : i + 50]) for i in range(0, 500, 50))
        )
        owners |= dict.fromkeys(zip(words, words[1:], words[2:], strict=False), number)
    corpus = load(tmp_path)
    where: dict[int, set[str]] = {}
    for name in SPLITS:
        for s in corpus.splits[name]:
            words = TOKENIZER.decode(s.tokens).split()
            hits = [owners[t] for t in zip(words, words[1:], words[2:], strict=False) if t in owners]
            where.setdefault(max(set(hits), key=hits.count), set()).add(name)
    assert all(len(found) == 1 for found in where.values())


def chat(chance: random.Random, turns: int = 2) -> list[dict]:
    roles = ("user", "assistant")
    return [{"role": roles[i % 2], "content": text(chance, 30)} for i in range(2 * turns)]


def test_chats_go_through_the_models_template(tmp_path) -> None:
    chance = random.Random(1)
    chats = [{"messages": chat(chance), "id": i} for i in range(40)]
    file = save_lines(tmp_path / "c.jsonl", chats)
    corpus = load(file, sizes={"seq_len": 160})
    rows = [s for name in SPLITS for s in corpus.splits[name]]
    assert all(s.domain == "chat" and s.tokens[:2] == (0, 2) and s.tokens.count(0) == 1 for s in rows)
    # A hand-over point stands right after the tokens that open an answer.
    assert all(s.tokens[cut - 1] == 3 for s in rows for cut in s.cuts)
    assert any(s.cuts for s in rows)
    assert "NO_CHAT" not in codes(corpus)
    same = table({"messages": [c["messages"] for c in chats], "id": list(range(40))}, tmp_path / "c.parquet")
    assert load(same, sizes={"seq_len": 160}).splits == corpus.splits


def test_chats_that_the_template_refuses_are_left_out_and_told(tmp_path) -> None:
    chance = random.Random(1)
    good = [{"messages": chat(chance)} for _ in range(40)]
    bad = [{"messages": [{"role": "tool", "content": text(chance)}]} for _ in range(3)]
    corpus = load(save_lines(tmp_path / "c.jsonl", bad + good), sizes={"seq_len": 160})
    assert any(n.code == "UNFIT_CHATS" and n.message.startswith("3 ") for n in corpus.notes)


def test_content_in_parts_is_text(tmp_path) -> None:
    row = {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}]}
    (found,) = documents_of(save_lines(tmp_path / "c.jsonl", [row]), "c.jsonl", None, 400, None)
    assert found.turns == (("user", "a"),)


def test_what_a_corpus_lacks_is_said(tmp_path) -> None:
    assert "NO_CHAT" in codes(load(save_lines(tmp_path / "a.jsonl", texts(40))))
    assert "NO_LONG" not in codes(load(tmp_path / "a.jsonl"))
    assert "NO_LONG" in codes(load(tmp_path / "a.jsonl", sizes={"seq_len": 512}))
    assert "NO_CHAT" not in codes(load(tmp_path / "a.jsonl", reader=tokenizer(template=False)))


def test_long_documents_are_used_in_part_and_told(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("lifeboat_kv.corpora.document.LONGEST_DOCUMENT", 5000)
    corpus = load(save_lines(tmp_path / "a.jsonl", texts(30, words=2000)))
    assert "SHORTENED" in codes(corpus)


def parquet_bytes(tmp_path: Path) -> bytes:
    return table({"text": texts(40)}, tmp_path / "good.parquet").read_bytes()


def bad_files(tmp_path: Path) -> dict[str, tuple[str, bytes | None, str, str]]:
    """Case -> (file, bytes, code, a part of the message)."""
    good = parquet_bytes(tmp_path)
    garbage = random.Random(0).randbytes(3000)
    line = json.dumps({"text": text(random.Random(2))}).encode()
    other = table({"body": texts(3), "url": ["a", "b", "c"]}, tmp_path / "o.parquet").read_bytes()
    numbers = table({"text": [1, 2, 3]}, tmp_path / "n.parquet").read_bytes()
    return {
        "nothing there": ("none.jsonl", None, "CORPUS_UNREADABLE", "there is no corpus at"),
        "no known kind": ("a.csv", b"text\n1\n", "CORPUS_UNREADABLE", "convert it"),
        "empty text": ("a.txt", b"", "CORPUS_TOO_SHORT", "holds no text"),
        "blank text": ("a.txt", b" \n\n \n", "CORPUS_TOO_SHORT", "holds no text"),
        "empty jsonl": ("a.jsonl", b"", "CORPUS_TOO_SHORT", "holds no text"),
        "blank records": ("a.jsonl", b'{"text": " "}\n{"text": null}\n', "CORPUS_TOO_SHORT", "holds no text"),
        "too short": ("a.jsonl", line, "CORPUS_TOO_SHORT", "give a longer corpus"),
        "garbage text": ("a.txt", garbage, "CORPUS_UNREADABLE", "UTF-8"),
        "zero bytes": ("a.txt", b"abc\0def" * 50, "CORPUS_UNREADABLE", "zero bytes"),
        "latin1 text": ("a.txt", b"caf\xe9 " * 400, "CORPUS_UNREADABLE", "byte 3"),
        "half a character": ("a.txt", "abc é".encode()[:-1], "CORPUS_UNREADABLE", "byte 4"),
        "garbage jsonl": ("a.jsonl", garbage, "CORPUS_UNREADABLE", "line 1"),
        "latin1 jsonl": (
            "a.jsonl",
            line + b'\n{"text": "\xe9"}\n',
            "CORPUS_UNREADABLE",
            "line 2 is no UTF-8",
        ),
        "no JSON": ("a.jsonl", line + b"\n{text: 1}\n", "CORPUS_UNREADABLE", "line 2 is no JSON"),
        "deep JSON": ("a.jsonl", b"[" * 200_000, "CORPUS_UNREADABLE", "line 1 is no JSON"),
        "a list": ("a.jsonl", b"[1, 2]\n", "CORPUS_UNREADABLE", "line 1"),
        "no text": ("a.jsonl", b'{"body": "x", "n": 1}\n', "COLUMN_MISSING", "it has body, n"),
        "a number": ("a.jsonl", b'{"text": 7}\n', "CORPUS_UNREADABLE", "neither a text nor a list"),
        "no messages": ("a.jsonl", b'{"messages": [1]}\n', "CORPUS_UNREADABLE", "neither a text"),
        "surrogate": ("a.jsonl", b'{"text": "a\\ud800b"}\n', "CORPUS_UNREADABLE", "surrogate"),
        "broken gzip": ("a.jsonl.gz", gzip.compress(line * 500)[:-20], "CORPUS_UNREADABLE", "copy it again"),
        "no gzip": ("a.jsonl.gz", line, "CORPUS_UNREADABLE", "copy it again"),
        "no parquet": ("a.parquet", garbage, "CORPUS_UNREADABLE", "parquet"),
        "empty parquet": ("a.parquet", b"", "CORPUS_UNREADABLE", "parquet"),
        "cut parquet": ("a.parquet", good[: len(good) // 2], "CORPUS_UNREADABLE", "parquet"),
        "no column": ("a.parquet", other, "COLUMN_MISSING", "it has body, url"),
        "numbers": ("a.parquet", numbers, "CORPUS_UNREADABLE", "row 1"),
    }


def test_each_bad_file_is_one_line_with_the_next_step(tmp_path) -> None:
    for case, (name, content, code, said) in bad_files(tmp_path).items():
        folder = tmp_path / case.replace(" ", "-")
        folder.mkdir()
        if content is not None:
            (folder / name).write_bytes(content)
        with pytest.raises(CorpusError) as raised:
            load(folder / name)
        error = raised.value
        assert (error.code, error.exit_code) == (code, 5), case
        assert said in error.message and "\n" not in error.message and len(error.message) < 400, case


def test_flipped_parquet_pages_are_refused_or_read_and_never_crash(tmp_path) -> None:
    """In a process of its own: whatever the bytes, an answer comes back, and no signal ends it."""
    good = bytearray(parquet_bytes(tmp_path))
    chance = random.Random(4)
    folder = tmp_path / "flipped"
    folder.mkdir()
    for number in range(60):
        bad = bytearray(good)
        for _ in range(chance.randint(1, 6)):
            bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        (folder / f"{number}.parquet").write_bytes(bad)
    code = (
        "import sys; from pathlib import Path; from lifeboat_kv.corpora.reading import documents_of\n"
        "from lifeboat_kv.errors import CorpusError\n"
        "refused = 0\n"
        "for file in sorted(Path(sys.argv[1]).iterdir()):\n"
        "    try:\n        list(documents_of(file, file.name, None, 400, None))\n"
        "    except CorpusError: refused += 1\n"
        "print(refused)"
    )
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, env={"PYTHONPATH": source}
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert 0 < int(done.stdout) < 60


def test_a_line_without_end_is_given_up_early(tmp_path) -> None:
    """A sparse file of 4 GiB in one line: refused after its first 16 MiB."""
    file = tmp_path / "endless.jsonl"
    with open(file, "wb") as out:
        out.write(b'{"text": "')
        out.truncate(4 << 30)
    tracemalloc.start()
    with pytest.raises(CorpusError) as raised:
        list(documents_of(file, "endless.jsonl", None, 400, None))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "line 1 is longer than 16 MiB" in raised.value.message
    assert peak < 5 * LONGEST_LINE


def test_a_folder_without_manifest_or_texts(tmp_path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "picture.png").write_bytes(b"x")
    with pytest.raises(CorpusError) as raised:
        load(tmp_path)
    assert raised.value.exit_code == 5 and "no manifest.json and no .txt" in raised.value.message


@pytest.mark.parametrize("manifest", ["", "[1]", '{"defaults": 3}', "{" * 50])
def test_an_unreadable_manifest(tmp_path, manifest: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(CorpusError) as raised:
        load(tmp_path)
    assert raised.value.code == "CORPUS_UNREADABLE" and "manifest.json" in raised.value.message


def test_a_folder_does_not_reach_out_of_itself(tmp_path) -> None:
    secret = save_lines(tmp_path / "secret.jsonl", texts(40, seed=9))
    save_lines(tmp_path / "c" / "a.jsonl", texts(40))
    (tmp_path / "c" / "b.jsonl").symlink_to(secret)
    (tmp_path / "c" / ".hidden.jsonl").write_text(secret.read_text())
    assert [s.name for s in shards_of(tmp_path / "c")] == ["a.jsonl"]


def test_digests_name_content_not_files(tmp_path) -> None:
    rows = texts(40)
    for folder, names in (("a", ("1", "2")), ("b", ("9", "0"))):
        for name, part in zip(names, (rows[:20], rows[20:]), strict=True):
            save_lines(tmp_path / folder / f"{name}.jsonl", part)
    one, other = (digest_of(shards_of(tmp_path / folder)) for folder in "ab")
    assert one == other
    save_lines(tmp_path / "b" / "0.jsonl", rows[20:-1])
    assert digest_of(shards_of(tmp_path / "b")) != one


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path) -> None:
    (one,) = shards_of(save_lines(tmp_path / "a.jsonl", texts(3)))
    one.check_unchanged()
    save_lines(tmp_path / "a.jsonl", texts(4))
    with pytest.raises(CorpusError):
        one.check_unchanged()


def test_a_rerun_whose_texts_changed_says_so_once(tmp_path, store) -> None:
    file = save_lines(tmp_path / "a.jsonl", texts(40))
    first = load(file)
    assert "CORPUS_CHANGED" not in codes(first) and "changed_from" not in first.facts()
    assert "CORPUS_CHANGED" not in codes(load(file))
    save_lines(file, texts(41))
    second = load(file)
    assert "CORPUS_CHANGED" in codes(second) and second.facts()["changed_from"] == first.sha256
    assert "CORPUS_CHANGED" not in codes(load(file))
    assert [p.name for p in store.iterdir()] == ["register.json"]


def test_the_register_keeps_what_changed_last_and_no_more(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("lifeboat_kv.corpora.register._MOST_KEPT", 3)
    for name in ("a", "b", "c", "a", "d"):
        register(tmp_path, name, name, f"{name}-{len(name)}")
    assert list(json.loads((tmp_path / "register.json").read_text())) == ["b", "c", "d"]
    register(tmp_path, "b", "b", "other")
    assert list(json.loads((tmp_path / "register.json").read_text())) == ["c", "d", "b"]
    (tmp_path / "register.json").write_text("[broken")
    assert register(tmp_path, "b", "b", "other") == (None, None)


def test_facts_hold_no_path_of_this_host(tmp_path) -> None:
    facts = load(save_lines(tmp_path / "c" / "deep" / "a.jsonl", texts(40)).parent.parent).facts()
    assert str(tmp_path) not in json.dumps(facts)
    assert facts["files"][0]["name"] == "deep/a.jsonl" and facts["name"] == "c"


def test_too_short_sequences_are_wrong_usage(tmp_path) -> None:
    with pytest.raises(UsageError):
        load(save_lines(tmp_path / "a.jsonl", texts(40)), sizes={"seq_len": 63})


def test_without_pyarrow_the_command_is_said(tmp_path, monkeypatch) -> None:
    file = table({"text": texts(40)}, tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CorpusError) as raised:
        load(file)
    assert raised.value.code == "PARQUET_MISSING" and parquet.INSTALL in raised.value.message


def test_what_is_kept_does_not_depend_on_order_and_stays_within_its_room() -> None:
    """The longest run of sorted digests that fits, for any order of arrival."""
    from lifeboat_kv.corpora.document import Document

    chance = random.Random(8)
    rows = [Document(str(i), "t", "x" * chance.randint(1, 4000)) for i in range(300)]
    rows = list({d.digest(): d for d in rows}.values())
    kept = []
    for _ in range(12):
        selection = Selection(room=60_000)
        for document in chance.sample(rows, len(rows)):
            selection.offer(document, document.digest())
        kept.append([d.id for _, d in selection.ordered()])
    assert all(found == kept[0] for found in kept)
    used, expected = 0, []
    for document in sorted(rows, key=lambda d: d.digest()):
        used += len(document.text) + 400
        if used > 60_000:
            break
        expected.append(document.id)
    assert kept[0] == expected


def test_memory_does_not_grow_with_the_corpus(tmp_path) -> None:
    """Peak of one reading at 2 and at 16 MiB, with room for 1 MiB of text."""
    peaks = []
    for size in (2, 16):
        file = tmp_path / f"{size}.jsonl"
        chance = random.Random(size)
        with open(file, "w", encoding="utf-8") as out:
            while out.tell() < size << 20:
                out.write(json.dumps({"text": chance.randbytes(1500).hex()}) + "\n")
        tracemalloc.start()
        selection = Selection(room=1 << 20)
        for document in documents_of(file, file.name, None, 400, None):
            selection.offer(document, document.digest())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.25 * peaks[0] and peaks[0] < 4 << 20
