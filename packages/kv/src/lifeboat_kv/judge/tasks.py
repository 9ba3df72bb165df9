"""Verifiable tasks as labelled answers: whether each model is right, and what its answer costs the device."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..corpora import Sequence
from ..errors import CorpusError
from ..models.side import Side
from ..score.points import Point
from .device_time import answer_ms
from .rows import Answers, answer_both, row_of

MOST_TOKENS = 160


@dataclass(frozen=True)
class Task:
    """A prompt as the chat template writes it, in tokens, and the answer wanted."""

    id: str
    kind: str
    prompt: tuple[int, ...]
    answer: str


def read_tasks(file: Path, tokenizer: Any) -> list[Task]:
    """Tasks of a .jsonl of {"id", "kind", "prompt": messages, "answer"}.

    Errors: CorpusError TASKS_UNREADABLE.
    """
    tasks = []
    try:
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if not line.strip():
                    continue
                row = json.loads(line)
                ids = tokenizer.apply_chat_template(
                    row["prompt"], add_generation_prompt=True, tokenize=True, return_dict=False
                )
                prompt = tuple(int(token) for token in ids)
                tasks.append(Task(str(row.get("id", number)), str(row["kind"]), prompt, str(row["answer"])))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError("TASKS_UNREADABLE", f"{file} cannot be read as tasks: {error}") from error
    if not tasks:
        raise CorpusError("TASKS_UNREADABLE", f"{file} holds no task")
    return tasks


def task_rows(
    tasks: list[Task],
    source: Side,
    target: Side,
    ends: frozenset[int],
    tokenizer: Any,
    *,
    timed: bool,
    group_tokens: int,
    device: torch.device | str,
    progress: Callable[[int], None] = lambda done: None,
) -> list[dict[str, Any]]:
    """One row for each task, in their order. `timed` measures both models' device time, task by task.

    An answer is right when its text is exactly the wanted one and has ended.
    """
    sequences = [Sequence(t.id, t.kind, t.prompt) for t in tasks]
    found = answer_both(
        sequences,
        lambda row, sequence: [Point(row, len(sequence.tokens))],
        source,
        target,
        ends,
        most=MOST_TOKENS,
        group_tokens=group_tokens,
        device=device,
        progress=progress,
    )
    by_id = {one.sequence.id: one for one in found}
    return [_row(task, by_id[task.id], source, target, ends, tokenizer, timed) for task in tasks]


def _row(
    task: Task,
    answers: Answers,
    source: Side,
    target: Side,
    ends: frozenset[int],
    tokenizer: Any,
    timed: bool,
) -> dict[str, Any]:
    row = row_of(answers, task.id, ends, lambda token: str(tokenizer.decode([token])))
    right = {
        name: float(
            said[-1] in ends and tokenizer.decode(said, skip_special_tokens=True).strip() == task.answer
        )
        for name, said in (("pilot", answers.pilot), ("target", answers.target))
    }
    row["quality"] = right
    if timed:
        row["device_ms"] = {
            "pilot": answer_ms(source.model, task.prompt, len(answers.pilot)),
            "target": answer_ms(target.model, task.prompt, len(answers.target)),
        }
    return row
