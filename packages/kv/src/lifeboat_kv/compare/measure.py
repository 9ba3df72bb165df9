"""Fits every method from the same rows and scores them on the select split, which the choice may see."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ..calibration.fitting import fit_run
from ..calibration.opening import Options, Run, open_run
from ..events import Events
from ..fit.layers import mapper_from
from ..host.machine import Machine, this_machine
from ..host.precision import dtype_for
from ..mapper.form import Mapper
from ..mapper.tail import tail_length
from ..methods import DEFAULT_METHOD, METHODS, Method
from ..moments.capture import prefill
from ..score.arms import Rivals
from ..score.run import Probing, Score, score_split

MAPPED_TOKENS = 512
_ROUNDS = 15


@dataclass(frozen=True)
class Compared:
    """What one method gave. `counts` are per-sequence counts as in the events, ordered by id."""

    method: Method
    k: int
    counts: list[dict[str, Any]]
    kl: float
    parameters: int
    map_ms: float
    r2_k: float
    r2_v: float


@dataclass(frozen=True)
class Comparison:
    """All methods of a pair on one split, and what they were measured on."""

    run: Run
    split: str
    methods: list[Compared]
    by_k: list[Compared]
    machine: Machine
    seconds: float


def compare_methods(options: Options, events: Events) -> Comparison:
    """Fits METHODS with the run's k, and the default with every other k; scores all on the select split.

    Errors: HelmError as of a calibration.
    """
    began = time.perf_counter()
    everything = list(METHODS.values())
    run = open_run(options, events, everything)
    default = METHODS[DEFAULT_METHOD]
    others = [
        replace(default, name=f"{default.name}, k = {k}", k=k)
        for k in range(1, run.shape.source_layers + 1)
        if k != options.k
    ]
    wanted = [*everything, *others]
    fits = fit_run(run, wanted, own=None)
    events.stage("select")
    mappers = {
        m.name: mapper_from(
            fits.by_method[m.name], m, run.source_facts, run.target_facts, run.gammas, run.head
        ).to(run.device, dtype_for(run.device))
        for m in wanted
    }
    score = _score(run, mappers)
    costs = _map_costs(run, list(mappers.values()))
    found = []
    for method, cost in zip(wanted, costs, strict=True):
        fit = fits.by_method[method.name]
        found.append(
            Compared(
                method,
                method.k or options.k,
                score.tally.events(method.name),
                score.tally.mean_kl(method.name),
                mappers[method.name].parameters,
                cost,
                statistics.fmean(part.r2 for part in fit.keys),
                statistics.fmean(part.r2 for part in fit.values),
            )
        )
    chosen = next(one for one in found if one.method.name == default.name)
    by_k = sorted([chosen, *found[len(everything) :]], key=lambda one: one.k)
    machine = this_machine(run.device)
    return Comparison(run, "select", found[: len(everything)], by_k, machine, time.perf_counter() - began)


def _score(run: Run, mappers: dict[str, Mapper]) -> Score:
    run.events.stage("score")
    total = len(run.corpus.splits["select"])
    rivals = Rivals(mappers[DEFAULT_METHOD], None, None, run.source.rope, run.target.rope, others=mappers)
    return score_split(
        Probing("select", longest=run.corpus.sizes.seq_len, beside=False),
        run.corpus.splits["select"],
        rivals,
        run.source,
        run.target,
        run.ends,
        tuple(mappers),
        group_tokens=2 * run.options.batch_tokens,
        device=run.device,
        progress=lambda done: run.events.progress(done, total, "sequences"),
    )


@torch.no_grad()
def _map_costs(run: Run, mappers: Sequence[Mapper]) -> list[float]:
    """Milliseconds, median, of mapping a prompt of 512 tokens without its exact tail; taken in turns, so
    that what else the machine does falls on all alike."""
    run.events.stage("cost")
    generator = torch.Generator().manual_seed(run.options.seed)
    vocabulary = int(run.source_facts["vocab_size"])
    ids = torch.randint(vocabulary, (1, MAPPED_TOKENS), generator=generator).to(run.source.model.device)
    mapped = MAPPED_TOKENS - tail_length(MAPPED_TOKENS)
    cache = [
        (k[:, :, :mapped].float(), v[:, :, :mapped].float()) for k, v in prefill(run.source.model, ids)[0]
    ]
    positions = torch.arange(mapped)
    taken: list[list[float]] = [[] for _ in mappers]
    for turn in range(_ROUNDS + 1):
        for mapper, times in zip(mappers, taken, strict=True):
            began = _now()
            mapper.transfer(cache, positions, run.source.rope, run.target.rope)
            if turn > 0:
                times.append(1000 * (_now() - began))
        run.events.progress(turn, _ROUNDS, "rounds")
    return [statistics.median(times) for times in taken]


def _now() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()
