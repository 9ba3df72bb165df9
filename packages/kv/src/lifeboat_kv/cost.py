"""The cost table: what a prefill and what a transfer take, in this process, medians after a warm-up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from .accumulate import Side
from .cache import build_cache
from .capture import body, prefill
from .mapper import Mapper
from .tail import tail_length

LENGTHS = (64, 128, 256, 512, 1024, 2048)
_SECONDS_A_POINT = 10.0
_MOST_REPEATS = 9
_FEWEST_REPEATS = 3


def cost_table(
    mapper: Mapper,
    source: Side,
    target: Side,
    vocabulary: int,
    *,
    lengths: tuple[int, ...] = LENGTHS,
    seconds_a_point: float = _SECONDS_A_POINT,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[dict[str, Any]]:
    """One row for each length in tokens; milliseconds, batch of one, nothing cached before.

    `transfer_ms` is map, move (install in a fresh cache) and the target's exact tail together: what
    stands against `target_prefill_ms` once the pilot has answered. A point left out says why.
    """
    rows = []
    contexts = [getattr(s.model.config, "max_position_embeddings", None) for s in (source, target)]
    context = min((c for c in contexts if c), default=None)
    generator = torch.Generator().manual_seed(seed)
    slow = None
    for done, tokens in enumerate(lengths):
        ids = torch.randint(vocabulary, (1, tokens), generator=generator).to(target.model.device)
        reason = slow
        if context is not None and tokens > context:
            reason = f"longer than the context of {context} tokens"
        if reason:
            rows.append(_left_out(tokens, reason))
        else:
            began = time.perf_counter()
            rows.append(_point(mapper, source, target, ids, seconds_a_point))
            if time.perf_counter() - began > 2 * seconds_a_point:
                slow = f"shorter points already took more than {seconds_a_point:.0f} s"
        progress(done + 1, len(lengths))
    return rows


def least_tokens(rows: list[dict[str, Any]]) -> int | None:
    """The shortest measured length from which on a transfer beats the target's prefill; None for never."""
    measured = [r for r in rows if r["transfer_ms"] is not None]
    least = None
    for row in reversed(measured):
        if row["transfer_ms"] >= row["target_prefill_ms"]:
            break
        least = row["tokens"]
    return least


def _point(mapper: Mapper, source: Side, target: Side, ids: torch.Tensor, seconds: float) -> dict[str, Any]:
    tokens = ids.shape[1]
    mapped = tokens - tail_length(tokens)
    positions = torch.arange(mapped)
    kept = [(k[:, :, :mapped], v[:, :, :mapped]) for k, v in prefill(source.model, ids)[0]]
    dtype = mapper.layers[0].wk.dtype
    cast = [(k.to(dtype), v.to(dtype)) for k, v in kept]

    def first_token(side: Side, given: torch.Tensor, cache: Any = None) -> None:
        out = body(side.model)(input_ids=given, past_key_values=cache, use_cache=True)
        side.model.lm_head(out.last_hidden_state[:, -1:])

    def transfer() -> dict[str, float]:
        start = _now()
        layers = mapper.transfer(cast, positions, source.rope, target.rope)
        after_map = _now()
        cache = build_cache(layers, dtype=target.model.dtype)
        after_move = _now()
        first_token(target, ids[:, mapped:], cache)
        return {"map": after_map - start, "move": after_move - after_map, "tail": _now() - after_move}

    def timed(act: Callable[[], None]) -> dict[str, float]:
        start = _now()
        act()
        return {"all": _now() - start}

    share = seconds / 3
    pilot = _medians(lambda: timed(lambda: first_token(source, ids)), share)["all"]
    prefilled = _medians(lambda: timed(lambda: first_token(target, ids)), share)["all"]
    parts = _medians(transfer, share)
    return {
        "tokens": tokens,
        "pilot_prefill_ms": round(pilot, 3),
        "target_prefill_ms": round(prefilled, 3),
        "map_ms": round(parts["map"], 3),
        "move_ms": round(parts["move"], 3),
        "tail_ms": round(parts["tail"], 3),
        "transfer_ms": round(sum(parts.values()), 3),
    }


@torch.no_grad()
def _medians(run: Callable[[], dict[str, float]], seconds: float) -> dict[str, float]:
    """Medians in milliseconds of each part, after one warm-up, in about `seconds` seconds."""
    run()
    taken: list[dict[str, float]] = []
    began = _now()
    while len(taken) < _FEWEST_REPEATS or (len(taken) < _MOST_REPEATS and _now() - began < seconds):
        taken.append(run())
    return {name: 1000 * statistics.median(t[name] for t in taken) for name in taken[0]}


def _now() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def _left_out(tokens: int, reason: str) -> dict[str, Any]:
    names = ("pilot_prefill_ms", "target_prefill_ms", "map_ms", "move_ms", "tail_ms", "transfer_ms")
    return {"tokens": tokens, **dict.fromkeys(names), "left_out": reason}
