"""What a transfer stands against: the target's prefill, by one decoder layer of random weights."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import DynamicCache, Qwen3Config, Qwen3Model

from ..mapper.tail import tail_length
from .clock import Clock, Times
from .shapes import DecoderShape


@dataclass(frozen=True)
class Prefill:
    """Milliseconds of all layers of a decoder: those of one layer, multiplied.

    On a CPU the least processor time of the repeats, which other programs move little; on a GPU medians.
    """

    tokens: int
    prefill_ms: float
    tail_tokens: int
    tail_ms: float


@torch.no_grad()
def measure_prefill(
    clock: Clock, shape: DecoderShape, tokens: int, repeats: int, dtype: torch.dtype
) -> Prefill:
    """A prefill of `tokens`, and of a transfer's exact tail on top of the rest."""
    model = one_layer(shape, clock.device, dtype)
    tail = tail_length(tokens)

    def forward(count: int, cache: DynamicCache) -> None:
        start = tokens - count
        model(
            inputs_embeds=torch.zeros(1, count, shape.hidden, dtype=dtype, device=clock.device),
            position_ids=torch.arange(start, tokens, device=clock.device)[None],
            past_key_values=cache,
            use_cache=True,
        )

    def room(count: int) -> Tensor:
        return torch.zeros(1, shape.kv_heads, count, shape.head_dim, dtype=dtype, device=clock.device)

    def on_top() -> None:
        cache = DynamicCache()
        cache.update(*held, 0)
        forward(tail, cache)

    whole = clock.times(lambda: forward(tokens, DynamicCache()), repeats)
    held = room(tokens - tail), room(tokens - tail)
    rest = clock.times(on_top, repeats)

    def all_layers(times: Times) -> float:
        seconds = min(times.busy) if clock.device.type == "cpu" else times.median
        return 1e3 * seconds * shape.layers

    return Prefill(tokens, all_layers(whole), tail, all_layers(rest))


def one_layer(shape: DecoderShape, device: torch.device, dtype: torch.dtype) -> Qwen3Model:
    """A decoder of one layer, random weights, a vocabulary of next to nothing."""
    config = Qwen3Config(
        vocab_size=16,
        hidden_size=shape.hidden,
        intermediate_size=shape.intermediate,
        num_hidden_layers=1,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        max_position_embeddings=40960,
    )
    return Qwen3Model(config).to(device=device, dtype=dtype).eval().requires_grad_(False)
