"""Fits a small but real mapper for tests, without scoring it; prints its sha256. Usage: SOURCE TARGET OUT."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import torch
from lifeboat_kv.calibration.fitting import fit_run
from lifeboat_kv.calibration.opening import Options, open_run
from lifeboat_kv.events import Events
from lifeboat_kv.fit.layers import mapper_from
from lifeboat_kv.mapper.artifact import write_mapper
from lifeboat_kv.methods import METHODS

SIZES = {"fit": 24, "select": 8, "gate": 8, "report": 8, "seq_len": 256}


def main(source: Path, target: Path, out: Path) -> None:
    torch.set_num_threads(1)
    method = METHODS["ridge"]
    options = Options(source, target, "bundled", out, k=2, method=method.name, device="cpu", sizes=SIZES)
    # Nobody listens to the events; standard output is the digest's.
    run = open_run(options, Events(io.StringIO()), [method])
    fitted = fit_run(run, [method], None).by_method[method.name]
    mapper = mapper_from(fitted, method, run.source_facts, run.target_facts, run.gammas, run.head)
    print(write_mapper(out, mapper, {"development": True}))


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:4]))
