"""Fits a small but real mapper for tests, without scoring it; prints its sha256. Usage: SOURCE TARGET OUT."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from lifeboat_kv.accumulate import Side, accumulate, columns_of
from lifeboat_kv.artifact import write_mapper
from lifeboat_kv.calibrate import corpus_path
from lifeboat_kv.corpus import load_corpus
from lifeboat_kv.ends import norm_weights
from lifeboat_kv.facts import inspect_model
from lifeboat_kv.fit import fit_layers, mapper_from
from lifeboat_kv.methods import METHODS
from lifeboat_kv.models import load_model, load_tokenizer
from lifeboat_kv.rope import Rope

SIZES = {"fit": 24, "select": 8, "gate": 8, "report": 8, "seq_len": 256}


def main(source: Path, target: Path, out: Path) -> None:
    torch.set_num_threads(1)
    facts = inspect_model(source), inspect_model(target)
    models = load_model(source, "cpu"), load_model(target, "cpu")
    sides = [Side(model, Rope.from_model(model)) for model in models]
    splits = load_corpus(corpus_path("bundled"), load_tokenizer(target), SIZES).splits
    columns = columns_of(*facts)
    fit, select = (
        accumulate(
            splits[name],
            *sides,
            columns,
            stride=2,
            generator=torch.Generator().manual_seed(0),
            batch_tokens=2048,
            device="cpu",
            progress=lambda done: None,
        )
        for name in ("fit", "select")
    )
    method = METHODS["ridge"]
    mapper = mapper_from(fit_layers(fit, select, columns, method, 2), method, *facts, norm_weights(models[1]), None)
    print(write_mapper(out, mapper, {"development": True}))


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:4]))
