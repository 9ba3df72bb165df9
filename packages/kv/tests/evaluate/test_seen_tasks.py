"""The count of tasks that stand in the corpus a mapper is fitted on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifeboat_kv.errors import CorpusError
from lifeboat_kv.evaluate.page import page
from lifeboat_kv.evaluate.seen_tasks import seen_lines, seen_tasks
from lifeboat_kv.host.machine import Machine

BUNDLED = Path(__file__).parents[4] / "corpora" / "bundled" / "tasks.jsonl"


def corpus(folder: Path, **texts: str) -> Path:
    for part in ("fit", "probes"):
        (folder / f"{part}.jsonl").write_text(json.dumps({"text": texts.get(part, "")}) + "\n")
    rows = [("add", "1 + 2", "3"), ("add", "1 + 3", "4"), ("sort", "b a", "a b")]
    lines = [
        json.dumps({"id": q, "kind": kind, "prompt": [{"role": "user", "content": q}], "answer": a})
        for kind, q, a in rows
    ]
    (folder / "tasks.jsonl").write_text("\n".join(lines))
    return folder / "tasks.jsonl"


def test_whole_turns_count_and_parts_of_longer_ones_do_not(tmp_path: Path) -> None:
    fit = "<|bos|><|user|> 1 + 2<|assistant|> 3<|eos|><|user|> 11 + 3<|assistant|> 14<|eos|>"
    probes = "<|user|> 1 + 3<|assistant|> 5<|eos|><|user|> 1 + 2<|assistant|> 3<|eos|>"
    found = seen_tasks(corpus(tmp_path, fit=fit, probes=probes))
    assert found == {"add": {"n": 2, "fit": 1, "probes": 1}, "sort": {"n": 1, "fit": 0, "probes": 0}}
    text = " ".join(seen_lines(found))
    assert "add (1 of 2 in fit.jsonl, 1 in probes.jsonl)" in text and "no task of sort stands" in text
    assert "No task" in seen_lines(seen_tasks(corpus(tmp_path)))[0]
    (tmp_path / "fit.jsonl").unlink()
    with pytest.raises(CorpusError):
        seen_tasks(tmp_path / "tasks.jsonl")


def test_the_page_says_what_the_bundled_corpus_holds() -> None:
    found = seen_tasks(BUNDLED)
    held = {kind: (row["fit"], row["probes"], row["n"]) for kind, row in found.items() if row["fit"]}
    assert held == {"add": (25, 29, 53)}
    result = {
        "pair": {"source": "a", "target": "b"},
        "versions": {},
        "mean": None,
        "tasks": [],
        "limit": None,
        "warnings": [],
        "device": "cpu",
        "development": True,
        "mapper_sha256": "0" * 64,
    }
    machine = Machine("none", 1, 1, 1e9)
    assert "add (25 of 53 in fit.jsonl, 29 in probes.jsonl)" in page(result, {}, machine, 1, "x", found)
    assert "fit.jsonl" not in page(result, {}, machine, 1, "x")
