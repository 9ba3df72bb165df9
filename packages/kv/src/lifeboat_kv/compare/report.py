"""The table of docs/results/methods.md."""

from __future__ import annotations

from datetime import UTC, datetime

from ..calibration.opening import versions
from ..methods import DEFAULT_METHOD
from ..score.tally import BUCKETS
from .intervals import RESAMPLES, Interval, counts_table, difference, retention, shares
from .measure import MAPPED_TOKENS, Compared, Comparison

COMMAND = "npm run results:methods"
BASELINE = "ridge"


def methods_page(found: Comparison) -> str:
    """Markdown: one row a method, with paired intervals against the plain ridge and the default."""
    options, corpus = found.run.options, found.run.corpus
    best = max(found.methods, key=lambda one: retention(counts_table(one.counts)).value)
    splits = corpus.splits
    source, target = options.source_model.name, options.target_model.name
    lines = [
        "# Methods, compared by one scorer",
        "",
        f"Made by `{COMMAND}` on {datetime.now(UTC).date()}; nothing here is written by hand.",
        "",
        f"Pair {source} to {target}, corpus {corpus.name} ({corpus.sha256[:12]}), k = {options.k}, seed "
        f"{options.seed}. All methods were fitted from the same rows of {len(splits['fit'])} sequences and "
        f"scored on the **select** split ({len(splits['select'])} sequences), by whose held-out R2 source "
        "layers, heads and lambda were chosen as well. Gate and report were not looked at: these numbers "
        "choose the default, they are no verdict.",
        "",
        f"Machine: {found.machine}. The whole command took {found.seconds:.0f} s. "
        f"{', '.join(f'{name} {version}' for name, version in versions().items())}.",
        "",
        f"Retention is the mean of the three buckets after the hand-over. Brackets are 95 % intervals by "
        f"bootstrap over sequences ({RESAMPLES} resamples); differences are paired. Map is mapping "
        f"{MAPPED_TOKENS} tokens less the exact tail, median in milliseconds, all methods in turns. Every "
        "method has the exact tail; all but ridge have the constant head. R2 is held out, with each method's "
        "own row weights.",
        "",
        *_table(found.methods, found.methods),
        "",
        _chosen(best, found.methods),
        "",
        "What each is:",
        "",
        *[f"- `{one.method.name}`: {one.method.summary}" for one in found.methods],
        "",
        "## The default by k",
        "",
        *_table(found.by_k, found.methods),
        "",
    ]
    return "\n".join(lines)


def _chosen(best: Compared, methods: list[Compared]) -> str:
    """The highest value and the default: the same, unless the highest may not be it."""
    said = f"Highest on this split: **{best.method.name}**. Default: **{DEFAULT_METHOD}**."
    if best.method.name == DEFAULT_METHOD:
        return said
    default = next(one for one in methods if one.method.name == DEFAULT_METHOD)
    gap = difference(counts_table(best.counts), counts_table(default.counts))
    said += f" The difference is {_bounds(gap, sign=True)}."
    return said + " A pre-norm fit is never the default (docs/decisions/0051-methods.md)."


def _table(rows: list[Compared], methods: list[Compared]) -> list[str]:
    named = {one.method.name: counts_table(one.counts) for one in methods}
    head = ["method", "retention", *(_bucket(*bucket[1:]) for bucket in BUCKETS), "KL", "R2 K", "R2 V"]
    head += ["parameters", "map ms", f"less {BASELINE}", f"less {DEFAULT_METHOD}"]
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " --- |" * (len(head) - 1)]
    for one in rows:
        table = counts_table(one.counts)
        cells = [one.method.name, _bounds(retention(table), sign=False)]
        cells += [f"{share:.3f}" for share in shares(table).tolist()]
        cells += [f"{one.kl:.4f}", f"{one.r2_k:.3f}", f"{one.r2_v:.3f}", f"{one.parameters:,}"]
        cells += [f"{one.map_ms:.2f}"]
        for other in (BASELINE, DEFAULT_METHOD):
            same = one.method.name == other
            cells.append("" if same else _bounds(difference(table, named[other]), sign=True))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _bucket(start: int, end: int) -> str:
    return str(end) if end - start == 1 else f"{start + 1}-{end}"


def _bounds(found: Interval, *, sign: bool) -> str:
    mark = "+" if sign else ""
    return f"{found.value:{mark}.4f} [{found.low:{mark}.4f}, {found.high:{mark}.4f}]"
