"""Four disjoint splits: what near misses must not get past, whatever order and names the texts come in."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from words import SIZES, save_lines, text, texts, tokenizer

from lifeboat_kv.corpora import Corpus, load_corpus
from lifeboat_kv.corpora.deal import check_disjoint, deal
from lifeboat_kv.corpora.overlap import SHARED_BYTES, fingerprints, related
from lifeboat_kv.corpora.sequence import SPLITS, Sequence, Sizes
from lifeboat_kv.errors import CorpusError

TOKENIZER = tokenizer()
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def load(path, reader=TOKENIZER, sizes=None, **named) -> Corpus:
    return load_corpus(path, reader, {**SIZES, **(sizes or {})}, **named)


def split_of(corpus: Corpus) -> dict[str, str]:
    """Split of every sequence's first 30 tokens, which name a text here."""
    return {str(s.tokens[:30]): name for name in SPLITS for s in corpus.splits[name]}


def shared_runs(corpus: Corpus, length: int = 48) -> set[tuple[str, str]]:
    """Pairs of splits that share a run of `length` tokens, found by comparing every run."""
    seen: dict[tuple[int, ...], str] = {}
    found = set()
    for name in SPLITS:
        for s in corpus.splits[name]:
            for at in range(len(s.tokens) - length + 1):
                other = seen.setdefault(s.tokens[at : at + length], name)
                if other != name:
                    found.add((other, name))
    return found


@FEW
@given(seed=st.integers(0, 2**32), cut=st.integers(0, 40))
def test_order_names_and_files_change_nothing(tmp_path_factory, seed: int, cut: int) -> None:
    folder = tmp_path_factory.mktemp("order")
    rows = texts(40)
    one = load(save_lines(folder / "a" / "x.jsonl", rows))
    shuffled = random.Random(seed).sample(rows, k=len(rows))
    save_lines(folder / "b" / "zz.jsonl", shuffled[:cut])
    save_lines(folder / "b" / "deep" / "aa.jsonl", shuffled[cut:])
    other = load(folder / "b")
    assert one.splits == other.splits
    assert one.probes_sha256 == other.probes_sha256


@FEW
@given(st.data())
def test_near_misses_never_stand_in_two_splits(tmp_path_factory, data) -> None:
    """Copies under other names, other whitespace, prefixes, windows and texts put together."""
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    rows = texts(60, seed=chance.random())
    extra: list[dict] = []
    for number in range(data.draw(st.integers(1, 12))):
        words = chance.choice(rows).split()
        other = chance.choice(rows).split()
        made = {
            "copy": words,
            "prefix": words[: chance.randint(66, 89)],
            "window": text(chance, 20).split() + words[chance.randint(0, 40) :],
            "joined": words + other,
            "middle": text(chance, 30).split() + words[20:72] + text(chance, 10).split(),
        }[data.draw(st.sampled_from(["copy", "prefix", "window", "joined", "middle"]))]
        blank = data.draw(st.sampled_from([" ", "\n", "  ", "\t ", "\r\n"]))
        extra.append({"id": f"other-{number}", "text": blank.join(made) + blank})
    folder = tmp_path_factory.mktemp("near")
    save_lines(folder / "one.jsonl", rows)
    save_lines(folder / "two.jsonl", extra)
    assert shared_runs(load(folder)) == set()


def test_a_document_cut_into_pieces_stays_in_one_split(tmp_path) -> None:
    """Ten documents of about ten sequences each; the first words of every piece say whose it is."""
    rows = texts(40, words=900)
    owner = {" ".join(row.split()[at : at + 20]): n for n, row in enumerate(rows) for at in range(0, 900, 96)}
    corpus = load(save_lines(tmp_path / "c.jsonl", rows))
    splits_of: dict[int, set[str]] = {}
    for name in SPLITS:
        for s in corpus.splits[name]:
            splits_of.setdefault(owner[TOKENIZER.decode(s.tokens[:20])], set()).add(name)
    assert all(len(found) == 1 for found in splits_of.values())
    assert [len(corpus.splits[n]) for n in SPLITS] == [12, 4, 8, 4]
    # Several documents a split: no split is one document's opinion while there are others.
    assert len([d for d, found in splits_of.items() if found == {"gate"}]) >= 2


def test_records_of_one_document_stay_together(tmp_path) -> None:
    """What a record says of its document counts, though the texts share nothing."""
    rows = [{"text": t, "document": f"d{i % 12}"} for i, t in enumerate(texts(60))]
    owner = {tuple(TOKENIZER(r["text"])["input_ids"]): r["document"] for r in rows}
    corpus = load(save_lines(tmp_path / "c.jsonl", rows))
    splits_of: dict[str, set[str]] = {}
    for name in SPLITS:
        for s in corpus.splits[name]:
            splits_of.setdefault(owner[s.tokens], set()).add(name)
    assert all(len(found) == 1 for found in splits_of.values())
    # A column called document may as well hold texts.
    held = load(save_lines(tmp_path / "t.jsonl", [{"document": t} for t in texts(40)]), column="document")
    assert [len(held.splits[n]) for n in SPLITS] == [12, 4, 8, 4]


def test_every_split_gets_its_share_of_each_domain(tmp_path) -> None:
    """A rare domain is a quarter of everything here; no split is without it, none is full of it."""
    rows = [{"text": t, "domain": "rare" if i % 4 == 0 else "common"} for i, t in enumerate(texts(80))]
    corpus = load(
        save_lines(tmp_path / "c.jsonl", rows), sizes={"fit": 40, "select": 8, "gate": 20, "report": 12}
    )
    for name in SPLITS:
        rare = sum(s.domain == "rare" for s in corpus.splits[name]) / len(corpus.splits[name])
        assert abs(rare - 0.25) <= 1.01 / len(corpus.splits[name]), name


def test_few_long_documents_still_fill_the_splits(tmp_path) -> None:
    corpus = load(save_lines(tmp_path / "c.jsonl", texts(5, words=2000)))
    assert [len(corpus.splits[n]) for n in SPLITS] == [12, 4, 8, 4]
    assert shared_runs(corpus) == set()


def test_few_documents_behind_many_sequences_are_told(tmp_path) -> None:
    """Eight documents of some thirty pieces; as many pieces that are documents need no note."""
    sizes = {"fit": 40, "select": 10, "gate": 60, "report": 10}
    few = load(save_lines(tmp_path / "few.jsonl", texts(8, words=2800)), sizes=sizes)
    (note,) = [n for n in few.notes if n.code == "FEW_DOCUMENTS" and "gate" in n.message]
    assert "the 60 sequences of the gate split come from 4 unrelated documents" in note.message
    many = load(save_lines(tmp_path / "many.jsonl", texts(140)), sizes=sizes)
    assert "FEW_DOCUMENTS" not in [n.code for n in many.notes]


def test_three_documents_cannot_make_four_splits(tmp_path) -> None:
    with pytest.raises(CorpusError) as raised:
        load(save_lines(tmp_path / "c.jsonl", texts(3, words=4000)))
    assert raised.value.code == "CORPUS_TOO_SHORT" and "3 unrelated documents" in raised.value.message


def test_the_same_text_twice_counts_once_and_is_told(tmp_path) -> None:
    rows = texts(40)
    plain = load(save_lines(tmp_path / "a.jsonl", rows))
    again = [{"id": f"z{i}", "text": "\n".join(row.split())} for i, row in enumerate(rows[:7])]
    doubled = load(save_lines(tmp_path / "b.jsonl", [*again, *rows]))
    assert split_of(plain) == split_of(doubled)
    assert [n.code for n in doubled.notes] == ["REPEATED", *(n.code for n in plain.notes)]


def test_two_texts_of_one_name_keep_apart(tmp_path) -> None:
    """Counts are kept by id: two sequences of one id would be added up as one."""
    corpus = load(save_lines(tmp_path / "c.jsonl", [{"id": "same", "text": t} for t in texts(40)]))
    ids = [s.id for name in SPLITS for s in corpus.splits[name]]
    assert len(set(ids)) == len(ids) and all(i.startswith("same") for i in ids)


def test_a_template_that_everybody_begins_with_joins_nothing(tmp_path) -> None:
    system = text(random.Random(9), 60)
    corpus = load(save_lines(tmp_path / "c.jsonl", [f"{system} {row}" for row in texts(40)]))
    assert [len(corpus.splits[n]) for n in SPLITS] == [12, 4, 8, 4]
    assert "TEMPLATES" in [n.code for n in corpus.notes]


@pytest.mark.parametrize(("bases", "seed"), [(12, 1), (12, 2), (32, 3)])
def test_versions_of_one_text_never_part(tmp_path, bases: int, seed: int) -> None:
    """20 versions of each text, with own first lines: its passages are in more than 16 documents."""
    chance = random.Random(seed)
    bodies = [text(chance, 250) for _ in range(bases)]
    rows = [f"{text(chance, 5 + v)} {body}" for body in bodies for v in range(20)]
    owner = {tuple(TOKENIZER(row)["input_ids"]): n // 20 for n, row in enumerate(rows)}
    union, templates = related(rows, [None] * len(rows))
    assert len({union.root(n) for n in range(len(rows))}) == bases and templates == 0
    chance.shuffle(rows)
    wanted = {"fit": 40, "select": 20, "gate": 60, "report": 20, "seq_len": 300}
    corpus = load(save_lines(tmp_path / "c.jsonl", rows), sizes=wanted)
    of = {name: {owner[s.tokens] for s in corpus.splits[name]} for name in SPLITS}
    assert sum(map(len, of.values())) == len(set().union(*of.values()))


def test_fit_files_do_not_hold_what_the_probes_ask(tmp_path) -> None:
    """A corpus folder whose fit.jsonl repeats a part of a probe: that text is not fitted."""
    probes, fitting = texts(20, seed=1), texts(30, seed=2)
    stolen = [
        f"{text(random.Random(100 + i), 15)} {' '.join(p.split()[10:80])}" for i, p in enumerate(probes[:5])
    ]
    save_lines(tmp_path / "c" / "probes.jsonl", probes)
    save_lines(tmp_path / "c" / "fit.jsonl", [*stolen, *fitting])
    (tmp_path / "c" / "manifest.json").write_text('{"name": "c"}')
    corpus = load(tmp_path / "c", sizes={"report": 12})
    assert shared_runs(corpus) == set()
    assert any(n.code == "LEFT_OUT" and n.message.startswith("5 ") for n in corpus.notes)


@pytest.mark.parametrize("adds_bos", [False, True])
def test_every_sequence_begins_as_a_prompt_does(tmp_path, adds_bos: bool) -> None:
    reader = tokenizer(adds_bos)
    spelled = [f"<|bos|> {t}" for t in texts(40, words=200)]
    for rows in (texts(40, words=200), spelled):
        corpus = load(save_lines(tmp_path / f"{len(rows[0])}.jsonl", rows), reader)
        starts = [s.tokens[:2].count(0) for name in SPLITS for s in corpus.splits[name]]
        assert set(starts) == {1 if adds_bos or rows is spelled else 0}
        assert all(len(s.tokens) <= 96 for name in SPLITS for s in corpus.splits[name])


def test_a_spelled_bos_does_not_make_another_text(tmp_path) -> None:
    rows = texts(40)
    corpus = load(save_lines(tmp_path / "c.jsonl", [*rows, *(f"<|bos|> {t}" for t in rows)]), tokenizer(True))
    assert any(n.message.startswith("40 documents") for n in corpus.notes)


def test_the_probes_digest_follows_the_probes_alone(tmp_path) -> None:
    file = save_lines(tmp_path / "c.jsonl", texts(60))
    first = load(file)
    assert load(file, sizes={"fit": 20}).probes_sha256 == first.probes_sha256
    assert load(file, sizes={"gate": 9}).probes_sha256 != first.probes_sha256
    assert load(file, sizes={"seq_len": 80}).probes_sha256 != first.probes_sha256
    assert re.fullmatch("[0-9a-f]{64}", first.probes_sha256)


@settings(max_examples=60, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=0, max_size=300),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=0, max_size=300),
    st.integers(0, 2**32),
)
def test_a_shared_passage_is_always_seen(before: str, after: str, seed: int) -> None:
    """The winnowing guarantee, at exactly its length, wherever the passage stands in both texts."""
    passage = "".join(random.Random(seed).choices("abcdefghij", k=SHARED_BYTES))
    union, _ = related([before + passage + after, after[::-1] + passage, "nothing of it " * 40], [None] * 3)
    assert union.root(0) == union.root(1) == 0 and union.root(2) == 2


def test_hashes_of_runs_are_those_of_the_slow_way() -> None:
    """The rolling hash against one computed run by run in Python's own integers."""
    from lifeboat_kv.corpora import overlap

    data = random.Random(3).randbytes(300).hex()
    mask = (1 << 64) - 1
    letters = [int(v) for v in overlap._BYTES]
    slow = []
    for at in range(len(data) - overlap.RUN + 1):
        value = 0
        for offset, letter in enumerate(data[at : at + overlap.RUN].encode()):
            value += letters[letter] * pow(overlap._BASE, offset, 1 << 64)
        slow.append(value & mask)
    mixed = overlap._mixed(np.array(slow, dtype=np.uint64))
    least = {int(mixed[at : at + overlap.WINDOW].min()) for at in range(len(mixed) - overlap.WINDOW + 1)}
    assert least == {int(h) for h in fingerprints(data)}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=30, max_size=60), st.integers(0, 2**32))
def test_groups_never_part(sizes: list[int], seed: int) -> None:
    chance = random.Random(seed)
    pool = [[Sequence(f"{g}-{i}", "t", (g, i, *range(70))) for i in range(n)] for g, n in enumerate(sizes)]
    wanted = Sizes(fit=10, select=5, gate=8, report=5, seq_len=96)
    dealt = deal(pool, ("gate", "report", "select", "fit"), wanted)
    check_disjoint(dealt)
    owners = [{s.id.split("-")[0] for s in rows} for rows in dealt.values()]
    assert sum(map(len, owners)) == len(set().union(*owners))
    mixed = [chance.sample(group, len(group)) for group in chance.sample(pool, len(pool))]
    assert deal(mixed, ("gate", "report", "select", "fit"), wanted) == dealt


def test_an_overlap_is_an_error_not_a_shrug() -> None:
    one = Sequence("a", "t", tuple(range(70)))
    with pytest.raises(CorpusError) as raised:
        check_disjoint({"fit": [one], "gate": [Sequence("b", "t", one.tokens)]})
    assert raised.value.code == "SPLITS_OVERLAP"
