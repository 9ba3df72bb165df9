"""How many of the bundled tasks stand whole in the bundled corpus, by exact comparison of turns."""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import CorpusError
from .bundled import read_tasks

PARTS = ("fit", "probes")


def seen_tasks(tasks_file: Path) -> dict[str, dict[str, int]]:
    """By kind: `n` tasks, and how many are a turn of `fit` and of `probes`, question and answer alike.

    The corpus is fit.jsonl and probes.jsonl beside `tasks_file`. Errors: CorpusError TASKS_UNREADABLE.
    """
    texts = {part: _texts(tasks_file.with_name(f"{part}.jsonl")) for part in PARTS}
    found = {}
    for kind, rows in read_tasks(tasks_file).items():
        turns = [f"<|user|> {row['question']}<|assistant|> {row['answer']}<|eos|>" for row in rows]
        found[kind] = {"n": len(rows), **{p: sum(turn in texts[p] for turn in turns) for p in PARTS}}
    return found


def seen_lines(found: dict[str, dict[str, int]]) -> list[str]:
    """What a page says of it, as paragraphs of Markdown with an empty line after each."""
    told = [
        f"{kind} ({row['fit']} of {row['n']} in fit.jsonl, {row['probes']} in probes.jsonl)"
        for kind, row in found.items()
        if any(row[part] for part in PARTS)
    ]
    if not told:
        return ["No task stands in the bundled corpus as a turn with its answer (exact comparison).", ""]
    clean = [kind for kind, row in found.items() if not any(row[part] for part in PARTS)]
    return [
        "Tasks that stand whole in the bundled corpus, question and answer as one turn (exact comparison of "
        f"tasks.jsonl with the texts that mappers are fitted and gated on): {', '.join(told)}. For these a "
        "mapper fitted on that corpus has seen the very question, so their rows say little about questions "
        f"it has not seen; no task of {', '.join(clean) or 'any other kind'} stands there.",
        "",
    ]


def _texts(file: Path) -> str:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return "\n".join(json.loads(line)["text"] for line in lines)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError("TASKS_UNREADABLE", f"{file} cannot be read: {error}") from error
