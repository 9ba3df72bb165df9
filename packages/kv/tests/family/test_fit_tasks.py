"""Tasks to fit on: of the bundled kinds, reserved, none of them bundled, and the same for the same seed."""

import json
from pathlib import Path

from lifeboat_kv.family import tokenizer
from lifeboat_kv.family.fit_tasks import fit_tasks
from lifeboat_kv.family.tasks import GENERATORS, reserved

ROOT = Path(__file__).parents[4]
CORPUS = ROOT / "corpora" / "bundled"
ENCODER = tokenizer.load(ROOT / "models" / "pilot")


def test_none_is_a_bundled_task_and_none_was_trained_on() -> None:
    tasks = fit_tasks(CORPUS, ENCODER, 3, seed=0)
    questions = [task["prompt"][0]["content"] for task in tasks]
    bundled = {
        json.loads(line)["prompt"][0]["content"] for line in (CORPUS / "tasks.jsonl").read_text().splitlines()
    }
    assert {task["kind"] for task in tasks} == set(GENERATORS)
    assert not bundled & set(questions)
    assert all(reserved(question) for question in questions)
    assert len({task["id"] for task in tasks}) == len(tasks)
    assert all(task["answer"] for task in tasks)


def test_the_seed_decides() -> None:
    first, again, other = (fit_tasks(CORPUS, ENCODER, 2, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
