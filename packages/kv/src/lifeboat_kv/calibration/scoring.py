"""The score stage of a run: gate, controls, report, and the rows beyond the fitted length."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from ..errors import EXIT_FAILED, EXIT_UNREADABLE, HelmError
from ..host.memory import free_bytes
from ..host.precision import dtype_for
from ..mapper.form import K_NORM
from ..methods import Method
from ..score.arms import MAPPER, OTHER, Rivals, arm_names
from ..score.long import MULTIPLES, LongRow, long_rows, score_long
from ..score.run import Probing, Score, score_split
from .opening import Run

# The same numbers as in packages/pairing, which gives the verdict; a run that misses them ends here.
LEAST_POSITIONS = 200
BLIND_ABOVE = 0.7
IDENTITY_LEAST = {torch.float32: 0.999, torch.bfloat16: 0.99}
SELF_MAP_LEAST = 0.98
MACHINERY_AT_FAULT = "the machinery is at fault, not the pair"
PRENORM_AT_FAULT = (
    "a pre-norm fit's self-map is fitted and not exact, so neither machinery nor pair is shown to be at "
    "fault; use another --method"
)
# Time of a report sequence (one arm) and of a long one (by its multiple) against a gate sequence (all
# arms); for the percent alone.
_REPORT_SHARE = 0.45
_LONG_SHARE = {4: 2.5, 32: 60.0}


@dataclass
class Scores:
    """What the stage measured; `long` holds the rows that were not left out."""

    gate: Score
    report: Score
    rows: list[LongRow]
    long: list[Score] = field(default_factory=list)

    def long_facts(self) -> list[dict[str, Any]]:
        """JSON-ready, for the manifest: each row's sequences or why it was left out, and its retentions."""
        scores = {score.tally.multiple: score.tally for score in self.long}
        return [
            {
                **row.facts(),
                "retention": {arm: scores[row.multiple].retention(arm) for arm in scores[row.multiple].arms}
                if row.multiple in scores
                else None,
            }
            for row in self.rows
        ]


def score_run(run: Run, rivals: Rivals) -> Scores:
    """Scores gate, report and long rows, and sends their counts.

    Errors: HelmError IDENTITY_MISSED, SELF_MAP_MISSED (1), PROBES_TOO_SHORT, PROBES_BLIND (5), in this
    order, after the gate's counts were sent.
    """
    run.events.stage("score")
    splits, seq_len = run.corpus.splits, run.corpus.sizes.seq_len
    rows = long_rows(
        run.corpus.long,
        seq_len,
        MULTIPLES if run.options.long else MULTIPLES[:1],
        (run.source, run.target),
        free_bytes(run.device),
    )
    sizes = [len(splits["gate"]), _REPORT_SHARE * len(splits["report"])]
    sizes += [_LONG_SHARE[r.multiple] * len(r.sequences) for r in rows]
    done = 0.0

    def options(weight: float) -> dict[str, Any]:
        before = done
        return {
            "group_tokens": 2 * run.options.batch_tokens,
            "device": run.device,
            "progress": lambda n: run.events.progress(before + weight * n, sum(sizes), "sequences"),
        }

    sides = run.source, run.target, run.ends
    probing = Probing("gate", longest=seq_len)
    gate = score_split(probing, splits["gate"], rivals, *sides, arm_names(rivals), **options(1))
    for arm in gate.tally.arms:
        run.events.send(
            "metric", name="retention", arm=arm, kl=gate.tally.mean_kl(arm), **gate.tally.retention(arm)
        )
    _send_counts(run, gate)
    check_controls(gate, dtype_for(run.device), run.method)
    done += sizes[0]
    probing = Probing("report", longest=seq_len)
    report = score_split(probing, splits["report"], rivals, *sides, (MAPPER,), **options(_REPORT_SHARE))
    _send_counts(run, report)
    scores = Scores(gate, report, rows)
    for index, row in enumerate(rows):
        done = sum(sizes[: index + 2])
        if row.left_out:
            run.events.log("info", f"rows at {row.multiple} times the fitted length left out: {row.left_out}")
            continue
        scores.long.append(score_long(row, seq_len, rivals, *sides, **options(_LONG_SHARE[row.multiple])))
        _send_counts(run, scores.long[-1])
    return scores


def check_controls(gate: Score, dtype: torch.dtype, method: Method) -> None:
    """A control that misses its bound means the machinery is wrong, whatever the pair is.

    The self-map of a fit before the k_norm is the exception: it is fitted and not exact.

    Errors: as `score_run`, by the same rules and in the same order as packages/pairing.
    """
    bounds = {
        "identity": ("IDENTITY_MISSED", IDENTITY_LEAST[dtype]),
        "self_map": ("SELF_MAP_MISSED", SELF_MAP_LEAST),
    }
    for arm, (code, least) in bounds.items():
        value = _mean_of_present(gate, arm)
        if value is None or value < least:
            why = PRENORM_AT_FAULT if (arm, method.ending) == ("self_map", K_NORM) else MACHINERY_AT_FAULT
            got = "was not measured" if value is None else f"retains {value:.4f}"
            raise HelmError(
                code,
                f"the {arm} arm {got}, under {least}: {why}",
                exit_code=EXIT_FAILED,
            )
    totals = gate.tally.retention(MAPPER)["totals"]
    short = [f"{name} has {count}" for name, count in totals.items() if count < LEAST_POSITIONS]
    if short:
        raise HelmError(
            "PROBES_TOO_SHORT",
            f"every bucket needs {LEAST_POSITIONS} positions, {', '.join(short)}: use more or longer probes",
            exit_code=EXIT_UNREADABLE,
        )
    found = {arm: _mean_of_present(gate, arm) for arm in ("zero_cache", OTHER)}
    blind = max((value for value in found.values() if value is not None), default=0.0)
    if unscored := [arm for arm, value in found.items() if value is None]:
        message = f"{unscored[0]} was not scored, so the probes may be blind: use a corpus of more sequences"
    elif blind > BLIND_ABOVE:
        message = (
            f"without the prompt's own cache {blind:.3f} of the answers still follow, above {BLIND_ABOVE}: "
            "use a corpus whose answers depend on the prompt"
        )
    else:
        return
    raise HelmError("PROBES_BLIND", message, exit_code=EXIT_UNREADABLE)


def _mean_of_present(gate: Score, arm: str) -> float | None:
    """The arm's retention over the buckets that have positions; None without any."""
    shares = [s for s in gate.tally.retention(arm)["buckets"].values() if s is not None]
    return sum(shares) / len(shares) if shares else None


def _send_counts(run: Run, score: Score) -> None:
    for arm in score.tally.arms:
        run.events.counts(arm, score.tally.events(arm))
