"""The real harness on the bundled models: needs `lifeboat helm evaluate --install`, skipped without it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from lifeboat_kv.evaluate.hand_over import HandOver
from lifeboat_kv.evaluate.install import KV, VENV
from lifeboat_kv.evaluate.prefix_perplexity import chunks, split_text
from lifeboat_kv.mapper.artifact import read_mapper, write_mapper
from lifeboat_kv.mapper.form import LayerMap, Mapper
from lifeboat_kv.models.facts import inspect_model
from lifeboat_kv.models.load import load_model, load_tokenizer
from lifeboat_kv.models.side import Side
from lifeboat_kv.rotation.rope import Rope

pytestmark = pytest.mark.skipif(
    not (VENV / ".helm-installed").is_file(),
    reason="lm-evaluation-harness is not installed: run lifeboat helm evaluate --install",
)

ROOT = KV.parents[1]
PILOT, TARGET = ROOT / "models" / "pilot", ROOT / "models" / "target"
FITTED = ROOT / "prisma" / "seeds" / "cleared" / "mapper.safetensors"
LIMIT = 2


class Harness:
    """One process with the harness in it; `run` gives an exit code and the events before it."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        scratch.mkdir()
        environment = {
            **os.environ,
            "PYTHONPATH": str(KV / "src"),
            "OMP_NUM_THREADS": "1",
            "TQDM_DISABLE": "1",
            "HF_HUB_OFFLINE": "1",
            "TMPDIR": str(scratch),
            "HF_HOME": str(scratch / "home"),
        }
        self.process = subprocess.Popen(
            [VENV / "bin" / "python", Path(__file__).with_name("several_runs.py")],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, *args, interrupt_at: str | None = None) -> tuple[int, list[dict]]:
        line = ["evaluate", *map(str, args), "--device", "cpu", "--threads", "1"]
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        events = []
        for text in self.process.stdout:
            event = json.loads(text)
            if "exit" in event:
                return event["exit"], events
            events.append(event)
            if event.get("stage") == interrupt_at and interrupt_at is not None:
                self.process.send_signal(signal.SIGINT)
                interrupt_at = None
        raise AssertionError("the process ended")

    def leftovers(self) -> list[str]:
        return [path.name for path in self.scratch.glob("helm-evaluate-*")]


@pytest.fixture(scope="module")
def harness(tmp_path_factory):
    running = Harness(tmp_path_factory.mktemp("harness") / "scratch")
    yield running
    running.process.kill()
    running.process.wait()


def written(folder: Path, source: Path, target: Path, scale: float) -> Path:
    """A mapper that gives each target layer `scale` times the source layer of its number, or the last."""
    facts = inspect_model(source), inspect_model(target)
    width = facts[1]["num_key_value_heads"] * facts[1]["head_dim"]
    weight, bias = torch.eye(width) * scale, torch.zeros(width)
    last = facts[0]["num_hidden_layers"] - 1
    layers = tuple(
        LayerMap((min(i, last),), (min(i, last),), weight, bias, weight, bias)
        for i in range(facts[1]["num_hidden_layers"])
    )
    return folder / write_mapper(folder, Mapper("ridge", *facts, layers), {})


def of(source: Path, target: Path, mapper: Path, *more) -> list:
    return ["--source-model", source, "--target-model", target, "--mapper", mapper, *more]


def answer(events: list[dict]) -> dict:
    assert events[-1]["type"] == "evaluation"
    return events[-1]


def test_an_identity_mapper_retains_exactly_everything(harness, tmp_path):
    mapper = written(tmp_path, TARGET, TARGET, 1.0)
    code, events = harness.run(*of(TARGET, TARGET, mapper, "--limit", LIMIT))
    result = answer(events)
    assert code == 0
    whole, *kinds = result["tasks"]
    assert whole["n"] == 8 * LIMIT and len(kinds) == 8
    assert whole["accuracy_retention"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert result["mean"] == {"value": 1.0, "low": 1.0, "high": 1.0, "tasks": 1}
    assert whole["target"] >= 0.9 and all(k["transferred"] == k["target"] for k in kinds)
    assert result["warnings"] == [] and result["limit"] == LIMIT
    assert result["mapper_sha256"] == mapper.name
    percents = [e["percent"] for e in events if e["type"] == "progress"]
    assert percents == sorted(percents) and percents[-1] == 100.0
    assert {e["stage"] for e in events if e["type"] == "progress"} >= {"pilot", "target", "transferred"}


def test_a_mapper_that_carries_nothing_retains_little_and_falls_below_the_pilot(harness, tmp_path):
    mapper = written(tmp_path, PILOT, TARGET, 0.0)
    code, events = harness.run(*of(PILOT, TARGET, mapper, "--limit", LIMIT))
    whole = answer(events)["tasks"][0]
    assert code == 0
    assert whole["accuracy_retention"]["high"] < 0.5
    assert whole["target"] >= 0.9
    warned = {w["task"] for w in answer(events)["warnings"]}
    assert {w["code"] for w in answer(events)["warnings"]} == {"ACCURACY_BELOW_PILOT"}
    assert "helm_bundled" in warned


def put(file: Path, *documents: dict) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(d) + "\n" for d in documents))


PAGES = [
    "The lion slept . The bear ran to the lake and the dog sat by the door .",
    " = River = \n The river is long , and the town beside it is old . Many trees grow there .",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two invented documents of each benchmark, in its own form."""
    folder = tmp_path_factory.mktemp("data")
    choices = {"text": ["a stone", "a dog", "a tree"], "label": ["A", "B", "C"]}
    arc = {"question": "Which one can run?", "choices": choices, "answerKey": "B"}
    put(
        folder / "arc_challenge" / "test.jsonl",
        arc,
        {**arc, "question": "Which one grows?", "answerKey": "C"},
    )
    swag = {
        "activity_label": "Cooking",
        "ctx_a": "A man cuts bread.",
        "ctx_b": "he",
        "endings": ["eats it.", "flies away.", "reads a lake.", "is a door."],
        "label": "0",
    }
    put(folder / "hellaswag" / "validation.jsonl", swag, {**swag, "label": "1"})
    grande = {
        "sentence": "The dog did not fit in the box because the _ was too small.",
        "option1": "dog",
        "option2": "box",
        "answer": "2",
    }
    put(folder / "winogrande" / "validation.jsonl", grande, {**grande, "answer": "1"})
    mmlu = {"question": "Where is the heart?", "choices": ["chest", "foot", "hand", "ear"], "answer": 0}
    put(folder / "mmlu" / "anatomy" / "test.jsonl", mmlu, {**mmlu, "answer": 3})
    sums = [
        {"question": f"{n} and {n} is?", "answer": f"{n} + {n} = {2 * n}\n#### {2 * n}"} for n in range(7)
    ]
    put(folder / "gsm8k" / "train.jsonl", *sums[:5])
    put(folder / "gsm8k" / "test.jsonl", *sums[5:])
    put(folder / "wikitext" / "test.jsonl", *({"page": page} for page in PAGES), {"page": "one"})
    return folder


NAMES = ["arc_challenge", "hellaswag", "winogrande", "mmlu_anatomy", "gsm8k", "wikitext"]


def test_all_six_benchmarks_run_from_local_documents(harness, data):
    code, events = harness.run(*of(PILOT, TARGET, FITTED, "--data", data, "--tasks", ",".join(NAMES)))
    assert code == 0
    rows = {row["task"]: row for row in answer(events)["tasks"]}
    assert list(rows) == NAMES
    metrics = ["acc_norm", "acc_norm", "acc", "acc", "exact_match", "word_perplexity"]
    assert [rows[name]["metric"] for name in NAMES] == metrics
    assert all(rows[name]["n"] == 2 for name in NAMES)
    for name in NAMES[:5]:
        assert rows[name]["left_out"].startswith("the target itself solves fewer than 10")
        assert {rows[name][model] for model in ("pilot", "target", "transferred")} <= {0.0, 0.5, 1.0}
    assert rows["wikitext"]["accuracy_retention"] is None
    assert all(0.5 < rows[name]["mapped_share"] < 1 for name in NAMES)
    assert answer(events)["mean"] is None


def own_choice(hand_over: HandOver, encode, context: str, options: list[str]) -> int:
    """The option with the highest log-likelihood a character, computed without the harness."""
    pairs = []
    for option in options:
        whole = encode(f"{context} {option}")
        first = encode(context)
        pairs.append((tuple(first), tuple(whole[len(first) :])))
    values = [value for value, _ in hand_over.loglikelihoods(pairs)]
    return int(np.argmax([v / len(o) for v, o in zip(values, options, strict=True)]))


def test_its_figures_are_those_of_a_plain_computation(harness, data):
    code, events = harness.run(
        *of(PILOT, TARGET, FITTED, "--data", data, "--tasks", "arc_challenge,wikitext")
    )
    assert code == 0
    rows = {row["task"]: row for row in answer(events)["tasks"]}
    sides = [Side(model, Rope.from_model(model)) for model in map(load_model, (PILOT, TARGET))]
    mapper = read_mapper(FITTED).to("cpu", torch.float32)
    tokenizer = load_tokenizer(TARGET)
    hand_overs = {
        "pilot": HandOver(sides[0]),
        "target": HandOver(sides[1]),
        "transferred": HandOver(sides[1], sides[0], mapper),
    }

    def encode(text: str) -> list[int]:
        return tokenizer(text)["input_ids"]

    documents = [
        json.loads(line) for line in (data / "arc_challenge" / "test.jsonl").read_text().splitlines()
    ]
    texts = [
        "The lion slept. The bear ran to the lake and the dog sat by the door .",
        "= River = \n The river is long, and the town beside it is old. Many trees grow there .",
    ]
    for name, hand_over in hand_overs.items():
        right = 0
        for doc in documents:
            chosen = own_choice(
                hand_over, encode, f"Question: {doc['question']}\nAnswer:", doc["choices"]["text"]
            )
            right += doc["choices"]["label"][chosen] == doc["answerKey"]
        assert rows["arc_challenge"][name] == right / 2
        total, words = 0.0, 0
        for text in texts:
            prefix, rest = split_text(text.replace(" \n", "\n").replace("\n ", "\n"))
            tokens = [tokenizer.bos_token_id, *encode(prefix)]
            scored = encode(prefix + rest)[len(tokens) - 1 :]
            total += sum(v for v, _ in hand_over.loglikelihoods(chunks(tokens, scored, 2048)))
            words += len(rest.split())
        assert rows["wikitext"][name] == pytest.approx(np.exp(-total / words), rel=1e-3)


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (["--tasks", "arc_challenge"], 5, "HUB_OFF"),
        (["--tasks", "boolq"], 2, "UNKNOWN_TASK"),
        (["--tasks", "mmlu", "--data", "{data}"], 5, "lacks 56 of 57 subjects"),
        (["--data", "/no/such/folder"], 2, "DATA_MISSING"),
        (["--limit", "0"], 2, "OPTION_RANGE"),
    ],
)
def test_bad_input_is_told_in_one_line(harness, data, more, code, says):
    given = [part.replace("{data}", str(data)) for part in more]
    found, events = harness.run(*of(PILOT, TARGET, FITTED, *given))
    failed = events[-1]
    assert (found, failed["type"], failed["exit_code"]) == (code, "failed", code)
    assert says in f"{failed['code']} {failed['message']}"
    assert "\n" not in failed["message"]


def test_a_mapper_of_another_pair_is_refused(harness):
    code, events = harness.run(*of(TARGET, PILOT, FITTED))
    assert (code, events[-1]["code"]) == (5, "PAIR")


def test_documents_that_lie_about_their_form_are_unreadable(harness, tmp_path):
    put(
        tmp_path / "winogrande" / "validation.jsonl", {"sentence": 1, "option1": 2, "option2": 3, "answer": 4}
    )
    code, events = harness.run(*of(PILOT, TARGET, FITTED, "--tasks", "winogrande", "--data", tmp_path))
    assert (code, events[-1]["code"]) == (5, "BENCHMARK_UNREADABLE")


def test_an_interrupted_run_leaves_nothing(harness):
    code, events = harness.run(*of(PILOT, TARGET, FITTED), interrupt_at="pilot")
    assert code == 130
    assert events[-1]["code"] == "INTERRUPTED"
    assert not [e for e in events if e["type"] == "evaluation"]
    assert harness.leftovers() == []
