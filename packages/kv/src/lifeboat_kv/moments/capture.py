"""Forward passes that leave what a serving cache holds: post-norm keys and values of every layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ..corpora import Sequence
from ..models.cache import LayerKV, read_cache
from ..rotation.rope import Rope


def body(model: Any) -> Any:
    """The model without its output head."""
    return getattr(model, model.base_model_prefix)


def padded(sequences: list[Sequence], device: torch.device | str) -> Tensor:
    """Token ids [B, T], right-padded with zeros; causal attention keeps padding out of real rows."""
    longest = max(len(s.tokens) for s in sequences)
    ids = torch.zeros(len(sequences), longest, dtype=torch.long)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence.tokens)] = torch.tensor(sequence.tokens)
    return ids.to(device)


@torch.no_grad()
def prefill(model: Any, ids: Tensor) -> tuple[list[LayerKV], Tensor]:
    """The cache of a forward over ids [B, T], and the final hidden states [B, T, hidden].

    Per layer (k, v) [B, kv_heads, T, d] in the model's dtype, keys rotated at positions 0 ... T-1.
    """
    out = body(model)(input_ids=ids, use_cache=True)
    return read_cache(out.past_key_values), out.last_hidden_state


def content_rows(layers: list[LayerKV], rope: Rope) -> tuple[list[Tensor], list[Tensor]]:
    """Content keys and values of every layer, float32 [B, kv_heads, T, d]: rounded as served, un-rotated."""
    positions = torch.arange(layers[0][0].shape[-2])
    return [rope.strip(k.float(), positions) for k, _ in layers], [v.float() for _, v in layers]


def batches(sequences: list[Sequence], tokens: int) -> Iterator[list[Sequence]]:
    """Groups of sequences of similar length, each at most `tokens` tokens with its padding."""
    group: list[Sequence] = []
    for sequence in sorted(sequences, key=lambda s: (-len(s.tokens), s.id)):
        longest = len(group[0].tokens) if group else len(sequence.tokens)
        if group and longest * (len(group) + 1) > tokens:
            yield group
            group = []
        group.append(sequence)
    if group:
        yield group
