"""The bundled family's own verifiable tasks in the harness's format: group `helm_bundled`, a task a kind.

A task counts when the greedy answer, up to its end token, is exactly the wanted one (white space at its ends
aside), which is how models/EVALUATION.md counts too. The prompt goes through the model's chat template.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import CorpusError

GROUP = "helm_bundled"
# The longest wanted answer is 65 tokens and an end token.
_ANSWER_TOKENS = 96


def configs(tasks_file: Path, folder: Path, cache: Path) -> Iterator[dict[str, Any]]:
    """Writes one jsonl a kind into `folder` and gives the task files, as dictionaries, and the group's.

    Errors: CorpusError TASKS_UNREADABLE.
    """
    names = []
    for kind, rows in read_tasks(tasks_file).items():
        documents = folder / f"{kind}.jsonl"
        documents.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        names.append(f"{GROUP}_{kind}")
        yield {
            "task": names[-1],
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(documents)}, "cache_dir": str(cache)},
            "test_split": "test",
            "output_type": "generate_until",
            "num_fewshot": 0,
            "doc_to_text": "question",
            "doc_to_target": "answer",
            "generation_kwargs": {"until": [], "do_sample": False, "max_gen_toks": _ANSWER_TOKENS},
            "filter_list": [
                {
                    "name": "answer",
                    "filter": [{"function": "remove_whitespace"}, {"function": "take_first"}],
                }
            ],
            "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
            "metadata": {"version": 1.0},
        }
    yield {
        "group": GROUP,
        "task": names,
        "aggregate_metric_list": [{"metric": "exact_match", "weight_by_size": True}],
        "metadata": {"version": 1.0},
    }


def read_tasks(tasks_file: Path) -> dict[str, list[dict[str, str]]]:
    """By kind the tasks' ids, questions and answers. Errors: CorpusError TASKS_UNREADABLE."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    try:
        for line in tasks_file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            (message,) = row["prompt"]
            found[row["kind"]].append(
                {"id": row["id"], "question": message["content"], "answer": row["answer"].strip()}
            )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError("TASKS_UNREADABLE", f"{tasks_file} cannot be read: {error}") from error
    if not found:
        raise CorpusError("TASKS_UNREADABLE", f"{tasks_file} holds no task")
    return dict(found)
