"""The bundled corpus: its digests, its format, and that nothing in it was trained on."""

import hashlib
import json
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from lifeboat_kv.family.sources import HELD_OUT_BELOW
from lifeboat_kv.family.tasks import reserved

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "corpora" / "bundled"
MANIFEST = json.loads((FOLDER / "manifest.json").read_text())
TOKENIZER = AutoTokenizer.from_pretrained(ROOT / "models" / "pilot")


def records(name: str) -> list[dict]:
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]


def test_files_are_the_ones_of_the_manifest() -> None:
    for name, facts in MANIFEST["files"].items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == facts["sha256"]
        assert len(records(name)) == facts["records"]
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= 4 << 20


@pytest.mark.parametrize("name", ["fit.jsonl", "probes.jsonl"])
def test_records_are_held_out_and_fit_the_length(name: str) -> None:
    rows = records(name)
    assert {row["domain"] for row in rows} == {"chat", "prose", "code", "recall"}
    for row in rows:
        if "document" in row:
            assert int(row["document"][:2], 16) < HELD_OUT_BELOW
        else:
            assert reserved(row["text"].split("<|user|> ")[1].split("<|assistant|>")[0])
            assert all(0 < cut < len(row["text"]) for cut in row["cuts"])
    lengths = [
        len(ids) for ids in TOKENIZER([r["text"] for r in rows], add_special_tokens=False)["input_ids"]
    ]
    assert max(lengths) <= MANIFEST["defaults"]["seq_len"] and min(lengths) >= 128


def test_no_text_is_there_twice() -> None:
    texts = [row["text"] for name in ("fit.jsonl", "probes.jsonl", "long.jsonl") for row in records(name)]
    assert len(set(texts)) == len(texts)


def test_fit_and_probes_share_no_document() -> None:
    fit, probes = ({row.get("document") for row in records(f"{n}.jsonl")} - {None} for n in ("fit", "probes"))
    assert fit and probes and not fit & probes


def test_tasks_are_reserved_questions() -> None:
    tasks = records("tasks.jsonl")
    assert len(tasks) >= 400 and len({task["id"] for task in tasks}) == len(tasks)
    assert all(reserved(task["prompt"][0]["content"]) for task in tasks)
