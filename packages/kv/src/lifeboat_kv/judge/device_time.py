"""What an answer costs the device: wall time on a GPU, the process's own processor time on a CPU."""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch

ROUNDS = 3


@torch.no_grad()
def answer_ms(model: Any, prompt: tuple[int, ...], tokens: int, rounds: int = ROUNDS) -> float:
    """Median milliseconds of device time for reading `prompt` and saying `tokens` tokens, greedily, alone.

    A CPU that other programs share delays an answer without working longer at it, so its own time counts.
    """
    return statistics.median(_once(model, prompt, tokens) for _ in range(rounds))


def _once(model: Any, prompt: tuple[int, ...], tokens: int) -> float:
    ids = torch.tensor([prompt], device=model.device)
    began = _now(model.device)
    cache = None
    for _ in range(tokens):
        out = model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache, ids = out.past_key_values, out.logits[:, -1:].argmax(dim=-1)
    return 1000 * (_now(model.device) - began)


def _now(device: torch.device) -> float:
    if device.type == "cpu":
        return time.process_time()
    torch.cuda.synchronize(device)
    return time.perf_counter()
