"""Loads a pair and collects its labelled answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..corpora import load_corpus
from ..events import Events
from ..host.devices import choose_device
from ..models.facts import inspect_model
from ..models.grouped_attention import use_grouped_attention
from ..models.load import end_tokens, load_model, load_tokenizer
from ..models.pair_check import check_pair
from ..models.side import Side
from ..rotation.rope import Rope
from .probes import probe_rows
from .tasks import read_tasks, task_rows

GROUP_TOKENS = 8192


def collect(
    source_model: Path,
    target_model: Path,
    device: str,
    events: Events,
    *,
    tasks: Path | None,
    corpus: str,
    column: str | None,
    store: Path | None,
    limit: int | None,
    timed: bool,
) -> list[dict[str, Any]]:
    """Rows of the tasks, or of the corpus's gate and report probes. Errors: HelmError of loading."""
    chosen = choose_device(device)
    check_pair(inspect_model(source_model), inspect_model(target_model))
    tokenizer = load_tokenizer(target_model)
    given = read_tasks(tasks, tokenizer)[:limit] if tasks is not None else None
    source, target = (_side(path, chosen) for path in (source_model, target_model))
    ends = end_tokens(target.model, tokenizer)
    total = 0

    def progress(done: int) -> None:
        events.log("info", f"{done} of {total} prompts answered by both models")

    if given is not None:
        total = len(given)
        return task_rows(
            given,
            source,
            target,
            ends,
            tokenizer,
            timed=timed,
            group_tokens=GROUP_TOKENS,
            device=chosen,
            progress=progress,
        )
    loaded = load_corpus(corpus, tokenizer, {}, column=column, store=store)
    sequences = [*loaded.splits["gate"], *loaded.splits["report"]][:limit]
    total = len(sequences)
    return probe_rows(
        sequences,
        loaded.sizes.seq_len,
        source,
        target,
        ends,
        lambda token: str(tokenizer.decode([token])),
        group_tokens=GROUP_TOKENS,
        device=chosen,
        progress=progress,
    )


def _side(path: Path, device: str) -> Side:
    model = load_model(path, device)
    use_grouped_attention(model)
    return Side(model, Rope.from_model(model))
