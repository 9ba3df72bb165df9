"""Greedy decoding from a transferred cache, one prompt at a time: the reference a live engine must equal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ..errors import CorpusError, UsageError
from ..events import Events
from ..mapper.artifact import read_mapper
from ..mapper.form import Mapper
from ..mapper.tail import tail_length
from ..models.cache import build_cache
from ..models.facts import inspect_model
from ..models.load import end_tokens, load_model, load_tokenizer
from ..moments.capture import prefill
from ..rotation.rope import Rope


def decode_file(
    source_model: Path | None,
    target_model: Path,
    mapper: Path | None,
    tokens: Path,
    count: int,
    events: Events,
) -> None:
    """Sends one "decoded" event for each prompt of the file `tokens`. Without a mapper: the target alone.

    Errors: UsageError MAPPER_MISSING, CorpusError TOKENS_UNREADABLE, and those of reading a mapper.
    """
    if mapper is not None and source_model is None:
        raise UsageError("SOURCE_MISSING", "a transferred decode needs --source-model")
    target = load_model(target_model)
    ends = end_tokens(target, load_tokenizer(target_model))
    source = read = None
    if mapper is not None and source_model is not None:
        read = read_mapper(mapper, expected_pair=(inspect_model(source_model), inspect_model(target_model)))
        source = load_model(source_model)
    for identifier, prompt in _prompts(tokens):
        decoded = decode(prompt, target, ends, count, source=source, mapper=read)
        events.send("decoded", id=identifier, **decoded)


@torch.no_grad()
def decode(
    prompt: list[int],
    target: Any,
    ends: frozenset[int],
    count: int,
    *,
    source: Any | None = None,
    mapper: Mapper | None = None,
) -> dict[str, Any]:
    """{tokens, margins, mapped}: up to `count` greedy tokens with their top-2 logit margins.

    `mapped` is how many prompt rows came through the mapper (0 natively). The end token is kept.
    """
    mapped = len(prompt) - tail_length(len(prompt)) if mapper is not None else 0
    cache = None
    if mapped:
        source_kv, _ = prefill(source, torch.tensor([prompt]))
        kept = [(k[:, :, :mapped], v[:, :, :mapped]) for k, v in source_kv]
        layers = mapper.transfer(
            kept,
            torch.arange(mapped),
            Rope.from_model(source),
            Rope.from_model(target),
            token_ids=prompt[:mapped],
        )
        cache = build_cache(layers, dtype=target.dtype)
    feed = prompt[mapped:]
    said: list[int] = []
    margins: list[float] = []
    while len(said) < count and not (said and said[-1] in ends):
        out = target(input_ids=torch.tensor([feed]), past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache = out.past_key_values
        best = out.logits[0, -1].float().topk(2)
        said.append(int(best.indices[0]))
        margins.append(float(best.values[0] - best.values[1]))
        feed = [said[-1]]
    return {"tokens": said, "margins": margins, "mapped": mapped}


def _prompts(file: Path) -> Iterator[tuple[str, list[int]]]:
    try:
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if line.strip():
                    row = json.loads(line)
                    named = isinstance(row, dict)
                    tokens = [int(t) for t in (row["tokens"] if named else row)]
                    if not tokens:
                        raise ValueError("a prompt without tokens")
                    yield str(row.get("id", number) if named else number), tokens
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError("TOKENS_UNREADABLE", f"{file} cannot be read: {error}") from error
