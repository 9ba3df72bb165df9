"""One calibration: inspect, capture, fit, select, score, measure the cost, write the artifact."""

from __future__ import annotations

from typing import Any

from ..events import Events
from ..fit.layers import Fit, fit_facts, mapper_from
from ..host.precision import dtype_for
from ..mapper.artifact import write_mapper
from ..mapper.tail import TAIL_DIVISOR, TAIL_MAXIMUM
from ..measure.cost import cost_table, least_tokens
from ..methods import METHODS, ROW_FACTS
from ..score.arms import MAPPER, PILOT, Rivals
from ..score.run import Score
from .diagnosis import DIAGNOSIS_THRESHOLDS
from .fitting import fit_run
from .judging import judge_run
from .opening import Options, Run, open_run, versions, with_baseline
from .scoring import BLIND_ABOVE, IDENTITY_LEAST, LEAST_POSITIONS, SELF_MAP_LEAST, score_run


def calibrate(options: Options, events: Events) -> str:
    """Fits, scores and writes; sends every event up to the result. Returns the mapper's sha256.

    Errors: HelmError with its exit code. IDENTITY_MISSED and SELF_MAP_MISSED (1), PROBES_TOO_SHORT and
    PROBES_BLIND (5) come after all counts were sent; nothing is written then.
    """
    run = open_run(options, events)
    rivals, fitted = _fit(run)
    measured = score_run(run, rivals)
    gate, report = measured.gate, measured.report
    judge_run(run)
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
    manifest["long"] = measured.long_facts()
    counts = {arm: gate.tally.events(arm) for arm in gate.tally.arms}
    counts["report"] = report.tally.events(MAPPER)
    counts["long"] = [row for score in measured.long for row in score.tally.events(MAPPER)]
    sha256 = write_mapper(options.out, rivals.mapper, {**manifest, "counts": counts})
    path = options.out / sha256 / "mapper.safetensors"
    events.progress(1, 1, "files")
    artifact = {"sha256": sha256, "path": str(path.resolve()), "bytes": path.stat().st_size}
    events.send("result", artifact=artifact, scores=scores, cost=cost, manifest=manifest)
    return sha256


def _fit(run: Run) -> tuple[Rivals, Fit]:
    events, method = run.events, run.method
    fits = fit_run(run, with_baseline(method), own=method)
    events.stage("select")
    fitted = fits.by_method[method.name]
    for layer, facts in enumerate(fit_facts(fitted)):
        events.send("metric", name="layer_fit", layer=layer, fit=facts)
    facts = run.source_facts, run.target_facts
    # Scored as it is written, and written as it is served: maps and head in what the models run in.
    served = run.device, dtype_for(run.device)
    mapper = mapper_from(fitted, method, *facts, run.gammas, run.head).to(*served)
    self_map = mapper_from(fits.own, method, facts[1], facts[1], run.gammas, run.head).to(*served)
    plain = None
    if method.name != "ridge":
        plain = mapper_from(fits.by_method["ridge"], METHODS["ridge"], *facts, None, None).to(*served)
    events.progress(1, 1, "maps")
    return Rivals(mapper, self_map, plain, run.source.rope, run.target.rope), fitted


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
    run: Run, fitted: Fit, gate: Score, report: Score, scores: dict[str, Any], cost: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "k": run.options.k,
        "rows": {"weighting": run.method.rows, **ROW_FACTS[run.method.rows]},
        "ending": run.method.ending if run.gammas is not None else None,
        "head_local": run.method.head_local,
        "passes": len(run.passes),
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
        "bounds": {
            "identity": IDENTITY_LEAST[dtype_for(run.device)],
            "self_map": SELF_MAP_LEAST,
            "blind_above": BLIND_ABOVE,
            "least_positions": LEAST_POSITIONS,
        },
        "diagnosis": DIAGNOSIS_THRESHOLDS,
        "scores": scores,
        "report": report.tally.retention(MAPPER),
        "pilot": gate.tally.retention(PILOT),
        "cost": cost,
        "min_tokens": least_tokens(cost),
    }
