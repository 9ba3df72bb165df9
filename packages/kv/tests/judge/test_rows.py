"""Labelled answers: what a judge is told is what the models say when they decode by themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tiny import save_pair, tiny_tokenizer

from lifeboat_kv.corpora import Sequence
from lifeboat_kv.errors import CorpusError
from lifeboat_kv.judge.rows import Answers, answer_both, row_of
from lifeboat_kv.judge.tasks import read_tasks, task_rows
from lifeboat_kv.models.grouped_attention import use_grouped_attention
from lifeboat_kv.models.load import load_model
from lifeboat_kv.models.side import Side
from lifeboat_kv.rotation.rope import Rope
from lifeboat_kv.score.points import Point

pytestmark = pytest.mark.usefixtures("one_thread")
ENDS = frozenset({1})
MOST = 12


@pytest.fixture(scope="module")
def sides(tmp_path_factory) -> tuple[Side, Side]:
    made = []
    for path in save_pair(tmp_path_factory.mktemp("pair")):
        model = load_model(path)
        use_grouped_attention(model)
        made.append(Side(model, Rope.from_model(model)))
    return made[0], made[1]


@torch.no_grad()
def decode(model, prompt: tuple[int, ...], most: int) -> tuple[list[int], list[float], list[float]]:
    """One greedy answer without a cache or a batch, and its log-probabilities and leads."""
    said: list[int] = []
    logprobs: list[float] = []
    margins: list[float] = []
    while len(said) < most and not (said and said[-1] in ENDS):
        log = model(input_ids=torch.tensor([[*prompt, *said]])).logits[0, -1].float().log_softmax(dim=-1)
        best = log.topk(2)
        said.append(int(best.indices[0]))
        logprobs.append(float(best.values[0]))
        margins.append(float(best.values[0] - best.values[1]))
    return said, logprobs, margins


def sequences(count: int) -> list[Sequence]:
    chance = torch.Generator().manual_seed(3)
    lengths = [20 + 3 * i for i in range(count)]
    return [
        Sequence(f"s{i}", "a", tuple(torch.randint(4, 90, (n,), generator=chance).tolist()))
        for i, n in enumerate(lengths)
    ]


def test_answers_and_evidence_are_those_of_decoding_alone(sides) -> None:
    texts = sequences(5)

    def points(row: int, s: Sequence) -> list[Point]:
        return [Point(row, 12), Point(row, len(s.tokens))]

    found = list(answer_both(texts, points, *sides, ENDS, most=MOST, group_tokens=64, device="cpu"))
    assert sorted((one.sequence.id, one.prefix) for one in found) == sorted(
        (s.id, prefix) for s in texts for prefix in (12, len(s.tokens))
    )
    for one in found:
        prompt = one.sequence.tokens[: one.prefix]
        said, logprobs, margins = decode(sides[0].model, prompt, MOST)
        assert one.pilot == said
        assert one.logprobs == pytest.approx(logprobs, abs=1e-4)
        assert one.margins == pytest.approx(margins, abs=1e-4)
        assert one.target == decode(sides[1].model, prompt, MOST)[0]


def test_a_row_says_how_the_answer_ended_and_whether_the_target_differs(sides) -> None:
    found = answer_both(
        sequences(3),
        lambda row, s: [Point(row, len(s.tokens))],
        *sides,
        ENDS,
        most=MOST,
        group_tokens=512,
        device="cpu",
    )
    for one in found:
        row = row_of(one, "x", ENDS, lambda token: f"<{token}>")
        assert row["finish"] == ("stop" if one.pilot[-1] in ENDS else "length")
        assert row["differs"] is (one.pilot != one.target)
        assert row["tokens"] == [f"<{token}>" for token in one.pilot]
        assert len(row["logprobs"]) == len(row["margins"]) == len(one.pilot)
        assert all(p <= 0 for p in row["logprobs"]) and all(m >= 0 for m in row["margins"])


def test_a_row_holds_nothing_that_an_event_or_a_database_refuses() -> None:
    sequence = Sequence("s" * 300, "a", (1, 2, 3))
    answers = Answers(sequence, 3, [5, 6], [5], [-float("inf"), 1e-7], [float("inf"), -1e-7])
    row = row_of(answers, f"{sequence.id}@3", ENDS, lambda token: "\0x" if token == 5 else "y" * 1_000)
    assert row["tokens"] == ["\ufffdx", "y" * 200]
    assert row["logprobs"] == [-9_999.0, 0.0] and row["margins"] == [9_999.0, 0.0]
    assert len(row["id"]) == 300 and row["id"].endswith("@3")
    json.dumps(row, allow_nan=False)


def test_a_task_is_right_only_when_its_answer_is_whole_and_exact(sides, tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    prompt = [{"role": "user", "content": "w1 w2 w3"}]
    file = tmp_path / "tasks.jsonl"
    file.write_text(json.dumps({"id": "t", "kind": "k", "prompt": prompt, "answer": "?"}) + "\n")
    [task] = read_tasks(file, tokenizer)
    said = {name: decode(side.model, task.prompt, 160)[0] for name, side in zip("pt", sides, strict=True)}
    text = {name: tokenizer.decode(ids, skip_special_tokens=True).strip() for name, ids in said.items()}
    for wanted in (text["p"], text["t"], "something else"):
        file.write_text(json.dumps({"id": "t", "kind": "k", "prompt": prompt, "answer": wanted}) + "\n")
        [row] = task_rows(
            read_tasks(file, tokenizer),
            *sides,
            ENDS,
            tokenizer,
            timed=True,
            group_tokens=512,
            device="cpu",
        )
        right = {name: float(said[name][-1] in ENDS and text[name] == wanted) for name in "pt"}
        assert row["quality"] == {"pilot": right["p"], "target": right["t"]}
        assert row["device_ms"]["pilot"] > 0 and row["device_ms"]["target"] > 0


def test_tasks_that_cannot_be_read_say_so(tmp_path: Path) -> None:
    for text in ("", "{", '{"id": 1, "prompt": []}'):
        (tmp_path / "bad.jsonl").write_text(text)
        with pytest.raises(CorpusError) as raised:
            read_tasks(tmp_path / "bad.jsonl", tiny_tokenizer())
        assert raised.value.code == "TASKS_UNREADABLE"
