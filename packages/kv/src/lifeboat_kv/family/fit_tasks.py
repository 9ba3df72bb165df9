"""More verifiable tasks of the bundled kinds, none of them a bundled one: run as a module.

For fitting what is then reported on the bundled tasks. Questions are reserved ones, which training has
not seen; passages come from the corpus's fit texts, which share no document with its probes.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tokenizers import Tokenizer

from . import tokenizer
from .corpus import Text, held_out_tasks


@dataclass(frozen=True)
class Passages:
    """Running text of the corpus's fit split, in place of the documents it was made from."""

    texts: list[list[int]]
    encoder: Tokenizer

    @classmethod
    def of(cls, corpus: Path, encoder: Tokenizer) -> Passages:
        """The prose of `corpus`/fit.jsonl."""
        records = [json.loads(line) for line in (corpus / "fit.jsonl").read_text().splitlines()]
        return cls([encoder.encode(r["text"]).ids for r in records if r["domain"] == "prose"], encoder)

    def passage(self, rng: random.Random, size: int) -> str:
        """About `size` tokens of one text."""
        ids = rng.choice([text for text in self.texts if len(text) > size])
        start = rng.randrange(len(ids) - size)
        return " ".join(str(self.encoder.decode(ids[start : start + size])).split())


def fit_tasks(corpus: Path, encoder: Tokenizer, per_level: int, seed: int) -> list[dict]:
    """Up to `per_level` tasks of each kind and level, in the form of tasks.jsonl."""
    bundled = {
        json.loads(line)["prompt"][0]["content"] for line in (corpus / "tasks.jsonl").read_text().splitlines()
    }
    passages = cast(Text, Passages.of(corpus, encoder))
    drawn = held_out_tasks(random.Random(f"fit-tasks:{seed}"), passages, per_level)
    kept = [task for task in drawn if task["prompt"][0]["content"] not in bundled]
    return [{**task, "id": f"fit-{task['id']}"} for task in kept]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--corpus", type=Path, default=Path("corpora/bundled"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--per-level", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    encoder = tokenizer.load(arguments.models / "pilot")
    tasks = fit_tasks(arguments.corpus, encoder, arguments.per_level, arguments.seed)
    arguments.out.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    print(f"{len(tasks)} tasks")


if __name__ == "__main__":
    main()
