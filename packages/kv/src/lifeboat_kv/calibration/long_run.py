"""Scoring a mapper that is already there beyond the length it was fitted on."""

from __future__ import annotations

from pathlib import Path

from ..corpora import load_corpus
from ..errors import CorpusError
from ..events import Events
from ..host.devices import choose_device
from ..host.memory import free_bytes
from ..host.precision import dtype_for
from ..mapper.artifact import read_mapper
from ..models.facts import inspect_model
from ..models.grouped_attention import use_grouped_attention
from ..models.load import end_tokens, load_model, load_tokenizer
from ..models.side import Side
from ..rotation.rope import Rope
from ..score.arms import Rivals
from ..score.long import long_rows, score_long

_GROUP_TOKENS = 16384


def long_files(
    source_model: Path,
    target_model: Path,
    mapper: Path,
    corpus: str,
    multiple: int,
    device: str,
    events: Events,
    *,
    column: str | None = None,
    store: Path | None = None,
) -> None:
    """Sends the counts of mapper, identity and zero cache at `multiple` times the corpus's length.

    Errors: CorpusError LONG_ROWS_LEFT_OUT with the reason; HelmError of device, models, mapper, corpus.
    """
    chosen = choose_device(device)
    facts = inspect_model(source_model), inspect_model(target_model)
    read = read_mapper(mapper, expected_pair=facts).to(chosen, dtype_for(chosen))
    tokenizer = load_tokenizer(target_model)
    found = load_corpus(corpus, tokenizer, column=column, store=store)
    sides = []
    for path in (source_model, target_model):
        model = load_model(path, chosen)
        use_grouped_attention(model)
        sides.append(Side(model, Rope.from_model(model)))
    seq_len = found.sizes.seq_len
    (row,) = long_rows(found.long, seq_len, (multiple,), (sides[0], sides[1]), free_bytes(chosen))
    if row.left_out:
        raise CorpusError("LONG_ROWS_LEFT_OUT", row.left_out)
    score = score_long(
        row,
        seq_len,
        Rivals(read, None, None, sides[0].rope, sides[1].rope),
        sides[0],
        sides[1],
        end_tokens(sides[1].model, tokenizer),
        group_tokens=_GROUP_TOKENS,
        device=chosen,
        progress=lambda done: events.log("info", f"{done:.1f} of {len(row.sequences)} sequences"),
    )
    for arm in score.tally.arms:
        events.counts(arm, score.tally.events(arm))
