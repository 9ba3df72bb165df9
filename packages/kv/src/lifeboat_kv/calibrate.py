"""One calibration: inspect, capture, fit, select, score, measure the cost, write the artifact."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

from . import __version__
from .accumulate import Columns, Side, SplitMoments, accumulate, columns_of
from .artifact import remove_leftovers, write_mapper
from .corpus import Corpus, load_corpus
from .cost import LENGTHS, cost_table, least_tokens
from .devices import choose_device
from .ends import constant_head, norm_weights, template_head
from .errors import EXIT_FAILED, EXIT_UNREADABLE, HelmError, ResourceError
from .events import Events
from .facts import inspect_model
from .fit import Fit, fit_facts, fit_layers, mapper_from
from .grouped_attention import use_grouped_attention
from .mapper import ConstantHead
from .methods import DEFAULT_METHOD, METHODS, Method, method_named
from .models import dtype_for, end_tokens, load_model, load_tokenizer
from .pair_check import check_pair
from .rope import Rope
from .score.arms import MAPPER, PILOT, Rivals, arm_names
from .score.run import Score, score_split
from .tail import TAIL_DIVISOR, TAIL_MAXIMUM

LEAST_POSITIONS = 200
IDENTITY_LEAST = {torch.float32: 0.999, torch.bfloat16: 0.99}
SELF_MAP_LEAST = 0.98
_ROWS_WANTED = 64_000
# Time of a report sequence (one arm) against a gate sequence (all of them); for the percent alone.
_REPORT_SHARE = 0.45


@dataclass(frozen=True)
class Options:
    """What a run was asked for. `sizes` overrides the corpus's own (keys of corpus.Sizes)."""

    source_model: Path
    target_model: Path
    corpus: str
    out: Path
    corpus_column: str | None = None
    corpus_store: Path | None = None
    k: int = 4
    method: str = DEFAULT_METHOD
    device: str = "auto"
    seed: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    cost_lengths: tuple[int, ...] = LENGTHS
    batch_tokens: int = 8192


@dataclass
class _Run:
    """What the stages hand on."""

    options: Options
    events: Events
    method: Method
    device: str
    source_facts: dict[str, Any]
    target_facts: dict[str, Any]
    source: Side
    target: Side
    ends: frozenset[int]
    corpus: Corpus
    head: ConstantHead | None
    gammas: list[torch.Tensor] | None

    @property
    def columns(self) -> Columns:
        return columns_of(self.source_facts, self.target_facts)


def calibrate(options: Options, events: Events) -> str:
    """Fits, scores and writes; sends every event up to the result. Returns the mapper's sha256.

    Errors: HelmError with its exit code. IDENTITY_MISSED and SELF_MAP_MISSED (1) and PROBES_TOO_SHORT
    (5) come after all counts were sent; nothing is written then.
    """
    run = _inspect(options, events)
    fit, select = _capture(run)
    rivals, fitted = _fit(run, fit, select)
    gate, report = _score(run, rivals)
    events.stage("cost")
    cost = cost_table(
        rivals.mapper,
        run.source,
        run.target,
        int(run.target_facts["vocab_size"]),
        lengths=options.cost_lengths,
        seed=options.seed,
        progress=lambda done, total: events.progress(done, total, "lengths"),
    )
    events.stage("write")
    scores = _scores(gate, fitted)
    manifest = _manifest(run, fitted, gate, report, scores, cost)
    counts = {arm: gate.tally.events(arm) for arm in gate.tally.arms}
    counts["report"] = report.tally.events(MAPPER)
    sha256 = write_mapper(options.out, rivals.mapper, {**manifest, "counts": counts})
    path = options.out / sha256 / "mapper.safetensors"
    events.progress(1, 1, "files")
    artifact = {"sha256": sha256, "path": str(path.resolve()), "bytes": path.stat().st_size}
    events.send("result", artifact=artifact, scores=scores, cost=cost, manifest=manifest)
    return sha256


def _inspect(options: Options, events: Events) -> _Run:
    method = method_named(options.method)
    device = choose_device(options.device)
    remove_leftovers(options.out)
    source_facts = inspect_model(options.source_model)
    target_facts = inspect_model(options.target_model)
    check_pair(source_facts, target_facts)
    _check_memory(source_facts, target_facts, device)
    tokenizer = load_tokenizer(options.target_model)
    corpus = load_corpus(
        options.corpus,
        tokenizer,
        options.sizes,
        column=options.corpus_column,
        store=options.corpus_store,
    )
    events.send(
        "started",
        pair={"source": source_facts, "target": target_facts},
        method=method.name,
        k=options.k,
        device=device,
        corpus=corpus.facts(),
        seeds={"rows": options.seed},
        versions=versions(),
    )
    for note in corpus.notes:
        events.log("warning", note.message)
    events.stage("inspect")
    models = []
    for done, path in enumerate((options.source_model, options.target_model), 1):
        models.append(load_model(path, device))
        use_grouped_attention(models[-1])
        events.progress(done, 2, "models")
    source, target = (Side(model, Rope.from_model(model)) for model in models)
    head = (
        constant_head(target.model, target.rope, template_head(tokenizer)) if method.constant_head else None
    )
    return _Run(
        options,
        events,
        method,
        device,
        source_facts,
        target_facts,
        source,
        target,
        end_tokens(target.model, tokenizer),
        corpus,
        head,
        norm_weights(target.model),
    )


def _capture(run: _Run) -> tuple[SplitMoments, SplitMoments]:
    run.events.stage("capture")
    splits = run.corpus.splits
    tokens = {name: sum(len(s.tokens) for s in splits[name]) for name in ("fit", "select")}
    total = sum(tokens.values())
    generator = torch.Generator().manual_seed(run.options.seed)
    stride = max(1, min(4, tokens["fit"] // _ROWS_WANTED))
    found = []
    before = 0
    for name in ("fit", "select"):
        offset = before
        moments = accumulate(
            splits[name],
            run.source,
            run.target,
            run.columns,
            stride=stride,
            generator=generator,
            batch_tokens=run.options.batch_tokens,
            device=run.device,
            progress=lambda done, offset=offset: run.events.progress(offset + done, total, "tokens"),
        )
        before += tokens[name]
        found.append(moments)
    return found[0], found[1]


def _fit(run: _Run, fit: SplitMoments, select: SplitMoments) -> tuple[Rivals, Fit]:
    events, k = run.events, run.options.k
    events.stage("fit")
    fitted = fit_layers(
        fit, select, run.columns, run.method, k, progress=lambda d, t: events.progress(d, t, "maps")
    )
    events.stage("select")
    for layer, facts in enumerate(fit_facts(fitted)):
        events.send("metric", name="layer_fit", layer=layer, fit=facts)
    facts = run.source_facts, run.target_facts
    mapper = mapper_from(fitted, run.method, *facts, run.gammas, run.head).to(run.device)
    twin = min(k, run.columns.target_layers)
    own = fit_layers(fit, select, run.columns, run.method, twin, from_target=True)
    self_map = mapper_from(own, run.method, facts[1], facts[1], run.gammas, run.head).to(run.device)
    plain = None
    if run.method.name != "ridge":
        ridge = METHODS["ridge"]
        plain = mapper_from(fit_layers(fit, select, run.columns, ridge, k), ridge, *facts, None, None)
        plain = plain.to(run.device)
    events.progress(1, 1, "maps")
    return Rivals(mapper, self_map, plain, run.source.rope, run.target.rope), fitted


def _score(run: _Run, rivals: Rivals) -> tuple[Score, Score]:
    run.events.stage("score")
    splits, sizes = run.corpus.splits, run.corpus.sizes
    total = len(splits["gate"]) + _REPORT_SHARE * len(splits["report"])

    def scored(split: str, names: tuple[str, ...], before: float, weight: float) -> Score:
        return score_split(
            split,
            splits[split],
            rivals,
            run.source,
            run.target,
            run.ends,
            names,
            longest=sizes.seq_len,
            group_tokens=2 * run.options.batch_tokens,
            device=run.device,
            progress=lambda done: run.events.progress(before + weight * done, total, "sequences"),
        )

    gate = scored("gate", arm_names(rivals), 0, 1)
    for arm in gate.tally.arms:
        run.events.send(
            "metric", name="retention", arm=arm, kl=gate.tally.mean_kl(arm), **gate.tally.retention(arm)
        )
    _send_counts(run, gate)
    _check_controls(run, gate)
    report = scored("report", (MAPPER,), len(splits["gate"]), _REPORT_SHARE)
    _send_counts(run, report)
    return gate, report


def _send_counts(run: _Run, score: Score) -> None:
    for arm in score.tally.arms:
        run.events.counts(arm, score.tally.events(arm))


def _check_controls(run: _Run, gate: Score) -> None:
    """A control that misses its bound means the machinery is wrong, whatever the pair is."""
    totals = gate.tally.retention(MAPPER)["totals"]
    short = [f"{name} has {count}" for name, count in totals.items() if count < LEAST_POSITIONS]
    if short:
        raise HelmError(
            "PROBES_TOO_SHORT",
            f"every bucket needs {LEAST_POSITIONS} positions, {', '.join(short)}: use more or longer probes",
            exit_code=EXIT_UNREADABLE,
        )
    bounds = {
        "identity": ("IDENTITY_MISSED", IDENTITY_LEAST[dtype_for(run.device)]),
        "self_map": ("SELF_MAP_MISSED", SELF_MAP_LEAST),
    }
    for arm, (code, least) in bounds.items():
        value = gate.tally.retention(arm)["value"]
        if value is None or value < least:
            raise HelmError(
                code,
                f"the {arm} arm retains {value:.4f}, under {least}: the machinery is at fault, not the pair",
                exit_code=EXIT_FAILED,
            )


def _scores(gate: Score, fitted: Fit) -> dict[str, Any]:
    attention = gate.attention.by_layer()
    layers = fit_facts(fitted)
    return {
        "retention": {arm: gate.tally.retention(arm) for arm in gate.tally.arms},
        "kl": gate.tally.mean_kl(MAPPER),
        "kl_p95": gate.tally.kl_p95(),
        "kl_by_arm": {arm: gate.tally.mean_kl(arm) for arm in gate.tally.arms},
        "kv_cosine": gate.cosine.result(),
        "attention_cosine": sum(attention) / len(attention) if attention else None,
        "attention_cosine_by_layer": attention,
        "r2": {
            part: {
                "chosen": sum(row[part]["r2"] for row in layers) / len(layers),
                "best_single": sum(row[part]["best_single_r2"] for row in layers) / len(layers),
            }
            for part in ("k", "v")
        },
    }


def _manifest(
    run: _Run, fitted: Fit, gate: Score, report: Score, scores: dict[str, Any], cost: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "k": run.options.k,
        "first_weight": run.method.first_weight,
        "renormalise": run.method.renormalise and run.gammas is not None,
        "tail": {
            "rule": "min(maximum, max(1, prefix // divisor))",
            "maximum": TAIL_MAXIMUM,
            "divisor": TAIL_DIVISOR,
        },
        "fit": fit_facts(fitted),
        "corpus": run.corpus.facts(),
        "seeds": {"rows": run.options.seed},
        "device": run.device,
        "development": run.device == "cpu",
        "versions": versions(),
        "bounds": {"identity": IDENTITY_LEAST[dtype_for(run.device)], "self_map": SELF_MAP_LEAST},
        "scores": scores,
        "report": report.tally.retention(MAPPER),
        "pilot": gate.tally.retention(PILOT),
        "cost": cost,
        "min_tokens": least_tokens(cost),
    }


def versions() -> dict[str, str]:
    """Software the numbers depend on."""
    return {
        "lifeboat_kv": __version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "python": platform.python_version(),
    }


def _check_memory(source: dict[str, Any], target: dict[str, Any], device: str) -> None:
    """Errors: ResourceError MEMORY_SHORT where the moments and, on a CPU, the models cannot fit."""
    needed = 10 * 8 * columns_of(source, target).total ** 2
    if device == "cpu":
        needed += 4 * sum(int(facts["parameters"] or 0) for facts in (source, target))
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        with open("/proc/meminfo", encoding="ascii") as lines:
            free = next(int(x.split()[1]) * 1024 for x in lines if x.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return
    if needed > free:
        raise ResourceError(
            "MEMORY_SHORT", f"about {needed >> 20} MiB are needed and {free >> 20} MiB are free on this host"
        )
