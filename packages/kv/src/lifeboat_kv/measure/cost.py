"""The cost table: what a prefill and what a transfer take, in this process, medians after a warm-up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..events import Events
from ..host.devices import choose_device
from ..host.memory import free_bytes
from ..host.precision import dtype_for
from ..mapper.artifact import read_mapper
from ..mapper.form import Mapper
from ..mapper.tail import tail_length
from ..models.cache import LayerKV, build_cache
from ..models.facts import inspect_model
from ..models.load import load_model
from ..models.side import Side
from ..moments.capture import body
from ..rotation.rope import Rope
from ..score.footprint import bytes_a_token, shared_context

LENGTHS = (64, 128, 256, 512, 1024, 2048, 8192, 16384, 32768)
# The pilot's tokens before its judge decides: a route's default window.
DECISION_TOKENS = 64
# On a CPU; a GPU's points are worth more, since it is where the numbers are used.
SECONDS_A_POINT = {"cpu": 10.0, "cuda": 60.0}
_MOST_REPEATS = 5
_FEWEST_REPEATS = 3
# A point's time against a shorter one's grows with the ratio of lengths to this power: of a whole pass
# attention grows with the square, all else in proportion; of one decoded token only attention grows.
_GROWTH, _DECODE_GROWTH = 1.5, 0.5
_PARTS = ("pilot_prefill", "pilot_decode", "target_prefill", "map", "move", "tail")
_FIELDS = (
    "pilot_prefill_ms",
    "target_prefill_ms",
    "map_ms",
    "move_ms",
    "tail_ms",
    "transfer_ms",
    "direct_target_ms",
    "escalated_with_transfer_ms",
    "escalated_without_transfer_ms",
)


def cost_table(
    mapper: Mapper,
    source: Side,
    target: Side,
    vocabulary: int,
    *,
    lengths: tuple[int, ...] = LENGTHS,
    seconds_a_point: float | None = None,
    decision_tokens: int = DECISION_TOKENS,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[dict[str, Any]]:
    """One row for each length in tokens, ascending; milliseconds, batch of one, nothing cached before.

    `transfer_ms` is map, move (install in a fresh cache) and the target's exact tail together: what
    stands against `target_prefill_ms` once the pilot has answered. The whole paths end with the target's
    first token; the escalated ones begin with the pilot's prefill and its decode of `decision_tokens`
    tokens, and all are sums of their parts' medians. A point left out says why; it is not tried where
    shorter ones foretell more than `seconds_a_point`.
    """
    device = torch.device(target.model.device)
    budget = SECONDS_A_POINT[device.type] if seconds_a_point is None else seconds_a_point
    bench = _Bench(mapper, source, target, decision_tokens)
    generator = torch.Generator().manual_seed(seed)
    rows: list[dict[str, Any]] = []
    known: tuple[int, dict[str, float]] | None = None
    for done, tokens in enumerate(sorted(lengths)):
        ids = torch.randint(vocabulary, (1, tokens), generator=generator).to(device)
        reason = _reason(tokens, source, target, decision_tokens) or _too_slow(tokens, known, budget)
        if reason:
            rows.append({"tokens": tokens, **dict.fromkeys(_FIELDS), "left_out": reason})
        else:
            parts = bench.measure(ids, budget)
            known = tokens, parts
            rows.append(_row(tokens, parts, decision_tokens))
        progress(done + 1, len(lengths))
    return rows


def cost_files(
    source_model: Path,
    target_model: Path,
    mapper: Path,
    device: str,
    events: Events,
    *,
    seconds_a_point: float | None = None,
) -> None:
    """Sends one metric event "cost". Errors: HelmError of the device, of reading models and mapper."""
    chosen = choose_device(device)
    facts = inspect_model(source_model), inspect_model(target_model)
    read = read_mapper(mapper, expected_pair=facts).to(chosen, dtype_for(chosen))
    models = [load_model(path, chosen) for path in (source_model, target_model)]
    rows = cost_table(
        read,
        *(Side(model, Rope.from_model(model)) for model in models),
        int(facts[1]["vocab_size"]),
        seconds_a_point=seconds_a_point,
        progress=lambda done, total: events.log("info", f"{done} of {total} lengths"),
    )
    events.send("metric", name="cost", rows=rows, min_tokens=least_tokens(rows))


def least_tokens(rows: list[dict[str, Any]]) -> int | None:
    """The shortest measured length from which on a transfer beats the target's prefill, given that the
    pilot has answered; None for never."""
    measured = [r for r in rows if r["transfer_ms"] is not None]
    least = None
    for row in reversed(measured):
        if row["transfer_ms"] >= row["target_prefill_ms"]:
            break
        least = row["tokens"]
    return least


@dataclass(frozen=True)
class _Bench:
    """The parts of one point, timed together so that a slow moment of the machine meets all of them."""

    mapper: Mapper
    source: Side
    target: Side
    decision_tokens: int

    @torch.no_grad()
    def measure(self, ids: Tensor, budget: float) -> dict[str, float]:
        """Seconds by part of _PARTS: medians of three to five runs after a warm-up, of three for the decode,
        which on a small model takes longer than all else."""
        taken: list[dict[str, float]] = []
        began = _now()
        self._once(ids, 1)
        while len(taken) < _FEWEST_REPEATS or (len(taken) < _MOST_REPEATS and _now() - began < budget / 2):
            taken.append(self._once(ids, self.decision_tokens if len(taken) < _FEWEST_REPEATS else 0))
        decoded = taken[:_FEWEST_REPEATS]
        return {
            name: statistics.median(t[name] for t in (decoded if name == "pilot_decode" else taken))
            for name in _PARTS
        }

    def _once(self, ids: Tensor, decoded: int) -> dict[str, float]:
        parts: dict[str, float] = {}

        def timed(part: str, act: Callable[[], Any]) -> Any:
            start = _now()
            found = act()
            parts[part] = _now() - start
            return found

        cache, token = timed("pilot_prefill", lambda: _first_token(self.source, ids))
        rows = [(layer.keys, layer.values) for layer in cache.layers]
        timed("pilot_decode", lambda: _decode(self.source, token, cache, decoded))
        timed("target_prefill", lambda: _first_token(self.target, ids))
        given = self._staged(rows, ids.shape[1])
        layers = timed("map", lambda: self.mapper.transfer(*given))
        moved = timed("move", lambda: build_cache(layers, dtype=self.target.model.dtype))
        rest = ids[:, moved.get_seq_length() :]
        timed("tail", lambda: _first_token(self.target, rest, moved))
        return parts

    def _staged(self, rows: list[LayerKV], tokens: int) -> tuple[Any, ...]:
        """What a transfer is given: the prompt's rows without the exact tail, in the maps' dtype."""
        kept = tokens - tail_length(tokens)
        dtype = self.mapper.layers[0].wk.dtype
        cast = [(k[:, :, :kept].to(dtype), v[:, :, :kept].to(dtype)) for k, v in rows]
        return cast, torch.arange(kept), self.source.rope, self.target.rope


def _first_token(side: Side, ids: Tensor, cache: Any = None) -> tuple[Any, Tensor]:
    """The cache after ids [1, n] and the greedy next token [1, 1]."""
    out = body(side.model)(input_ids=ids, past_key_values=cache, use_cache=True)
    return out.past_key_values, side.model.lm_head(out.last_hidden_state[:, -1:]).argmax(dim=-1)


def _decode(side: Side, token: Tensor, cache: Any, count: int) -> None:
    for _ in range(count):
        cache, token = _first_token(side, token, cache)


def _row(tokens: int, parts: dict[str, float], decision_tokens: int) -> dict[str, Any]:
    transfer = parts["map"] + parts["move"] + parts["tail"]
    pilot = parts["pilot_prefill"] + parts["pilot_decode"]
    values = (
        parts["pilot_prefill"],
        parts["target_prefill"],
        parts["map"],
        parts["move"],
        parts["tail"],
        transfer,
        parts["target_prefill"],
        pilot + transfer,
        pilot + parts["target_prefill"],
    )
    row = {name: round(1000 * value, 3) for name, value in zip(_FIELDS, values, strict=True)}
    return {"tokens": tokens, **row, "decision_tokens": decision_tokens}


def _reason(tokens: int, source: Side, target: Side, decision_tokens: int) -> str | None:
    context = shared_context(source, target)
    if context is not None and tokens > context:
        return f"longer than the context of {context:,} tokens"
    needed = (tokens + decision_tokens) * bytes_a_token(source, target)
    free = free_bytes(target.model.device)
    if free is not None and needed > free:
        return f"about {needed >> 20:,} MiB would be needed and {free >> 20:,} MiB are free"
    return None


def _too_slow(tokens: int, known: tuple[int, dict[str, float]] | None, budget: float) -> str | None:
    """`known` is the longest measured point: its tokens and the seconds of its parts."""
    if known is None:
        return None
    before, parts = known
    decode = parts["pilot_decode"]
    passes = (sum(parts.values()) - decode) * (tokens / before) ** _GROWTH
    needed = (_FEWEST_REPEATS + 1) * passes + _FEWEST_REPEATS * decode * (tokens / before) ** _DECODE_GROWTH
    if needed <= budget:
        return None
    return f"about {needed:,.0f} s would be needed, by the point at {before:,}; a point has {budget:.0f} s"


def _now() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()
