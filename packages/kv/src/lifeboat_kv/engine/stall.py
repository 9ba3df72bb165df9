"""How long decoding rows stand still while a long cache is mapped in: at once, and in slices between steps.

`python -m lifeboat_kv.engine.stall --pilot DIR --target DIR`. The mapper's numbers are random: what it says
is of no interest here, what it costs is a real one's.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ..mapper.artifact import write_mapper
from ..mapper.form import LayerMap, Mapper
from .core import Engine, EngineLimits, map_rows
from .sequence import (
    DoneEvent,
    FailedEvent,
    Request,
    SamplingOptions,
    StageOrder,
    TokenEvent,
    TransferOrder,
)
from .served_model import open_model
from .step_loop import Batch

ALL_AT_ONCE = 1 << 30


@dataclass
class Watched:
    """A request, when its tokens left the step, and its end."""

    request: Request
    times: list[float] = field(default_factory=list)
    started: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    failed: bool = False


class Bench:
    """An engine without its server, and requests whose tokens are timed."""

    def __init__(self, pilot: Path, target: Path, mappers: Path) -> None:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        dtype = torch.float32 if device.type == "cpu" else torch.bfloat16
        folders = {"pilot": pilot, "target": target}
        models = {name: open_model(folder, device, dtype, name) for name, folder in folders.items()}
        facts = {name: model.facts for name, model in models.items()}
        self.mapper = write_mapper(mappers, random_mapper(facts["pilot"], facts["target"]), {})
        self.watched: dict[str, Watched] = {}
        self.engine = Engine(models, EngineLimits(kv_budget=1 << 30), mappers, self._deliver)
        self.engine.start()
        self.engine.mappers.load(self.mapper).result()
        self._count = 0

    def ask(self, model: str, prompt: list[int], answer: int, **orders: Any) -> Watched:
        """Submits a greedy request that goes on past end tokens."""
        self._count += 1
        sampling = SamplingOptions(max_tokens=answer, temperature=0, ignore_eos=True)
        request = Request(f"r{self._count}", model, prompt, sampling, lambda event: None, **orders)
        watched = self.watched[request.id] = Watched(request)
        self.engine.submit([request], "prompt")
        return watched

    def round(self, tokens: int, rows: int, answer: int, map_rows: int) -> dict[str, float]:
        """One transfer of `tokens` beside `rows` decoding rows; milliseconds."""
        scheduler = self.engine.schedulers["target"]
        scheduler.map_rows = map_rows
        dice = random.Random(self._count)
        prompt = [dice.randrange(300, 1000) for _ in range(tokens)]
        handle, mac = f"h{self._count}", "m"
        staged = self.ask("pilot", prompt, 1, salt=handle, stage=StageOrder(handle, mac, 60_000))
        staged.ended.wait()
        others = [
            self.ask("target", [dice.randrange(300, 1000) for _ in range(32)], answer, salt=f"{handle}-{row}")
            for row in range(rows)
        ]
        for one in others:
            one.started.wait()
        time.sleep(0.2)
        order = TransferOrder(handle, mac, self.mapper, "pilot")
        began = time.perf_counter()
        moved = self.ask("target", prompt, 2, salt=f"{handle}-x", transfer=order)
        moved.ended.wait()
        over = moved.times[0] if moved.times else time.perf_counter()
        mapped = moved.request.installed
        for one in others:
            self.engine.loop.abort(one.request.id)
        report = moved.request.kv or {}
        if moved.failed or report.get("result") != "transferred":
            raise RuntimeError(f"the transfer did not take place: {report}")
        gaps = [gap for one in others for gap in gaps_of(one.times, began, over)]
        quiet = [gap for one in others for gap in gaps_of(one.times, 0.0, began)]
        return {
            "longest_gap_ms": 1000 * max(gaps),
            "longest_gap_while_mapping_ms": 1000
            * max(gap for one in others for gap in gaps_of(one.times, began, mapped)),
            "quiet_gap_ms": 1000 * statistics.median(quiet),
            "first_token_ms": 1000 * (over - began),
            "map_ms": report["map_ms"] + report["install_ms"],
        }

    def _deliver(self, batch: Batch) -> None:
        now = time.perf_counter()
        for request, event in batch:
            watched = self.watched[request.id]
            if isinstance(event, TokenEvent):
                watched.times.append(now)
                watched.started.set()
            elif isinstance(event, DoneEvent | FailedEvent):
                watched.failed = isinstance(event, FailedEvent)
                watched.started.set()
                watched.ended.set()


def gaps_of(times: list[float], since: float, until: float) -> list[float]:
    """Seconds between neighbouring tokens, of all pairs whose stretch meets the one asked about."""
    return [b - a for a, b in itertools.pairwise(times) if b > since and a < until]


def random_mapper(source: dict[str, Any], target: dict[str, Any]) -> Mapper:
    """Every target layer from two source layers."""
    generator = torch.Generator().manual_seed(0)
    width = 2 * source["num_key_value_heads"] * source["head_dim"]
    out = target["num_key_value_heads"] * target["head_dim"]
    layers = []
    for index in range(target["num_hidden_layers"]):
        count = source["num_hidden_layers"]
        chosen = (index % count, (index + 1) % count)
        wk, wv = (torch.randn(width, out, generator=generator) / width**0.5 for _ in range(2))
        layers.append(LayerMap(chosen, chosen, wk, torch.zeros(out), wv, torch.zeros(out)))
    return Mapper("random", source, target, tuple(layers))


def main(argv: list[str] | None = None) -> int:
    """Prints medians of interleaved rounds as JSON. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="lifeboat_kv.engine.stall", description=__doc__)
    parser.add_argument("--pilot", type=Path, required=True)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--answer", type=int, default=2000, help="the most tokens a decoding row may write")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--slice-rows", type=int, default=0, help="default: the engine's own")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args(argv)
    torch.set_num_threads(given.threads)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(given.pilot, given.target, Path(folder))
        ways = {"at_once": ALL_AT_ONCE, "in_slices": given.slice_rows or map_rows(bench.engine.device)}
        found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
        bench.round(given.tokens, given.rows, given.answer, ALL_AT_ONCE)
        for _ in range(given.rounds):
            for name, rows in ways.items():
                found[name].append(bench.round(given.tokens, given.rows, given.answer, rows))
        bench.engine.stop()
    result: dict[str, Any] = {
        name: {key: round(statistics.median(r[key] for r in rounds), 2) for key in rounds[0]}
        for name, rounds in found.items()
    }
    for key in ("longest_gap_ms", "longest_gap_while_mapping_ms", "first_token_ms"):
        pairs = zip(found["at_once"], found["in_slices"], strict=True)
        ratios = [whole[key] / sliced[key] for whole, sliced in pairs]
        result[f"{key.removesuffix('_ms')}_ratio"] = {
            "median": round(statistics.median(ratios), 2),
            "least": round(min(ratios), 2),
            "most": round(max(ratios), 2),
        }
    print(
        json.dumps(
            {
                "tokens": given.tokens,
                "rows": given.rows,
                "rounds": given.rounds,
                "slice_rows": ways["in_slices"],
                **result,
            },
            indent=1,
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
