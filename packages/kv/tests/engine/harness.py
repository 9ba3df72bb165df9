"""A running engine inside the test process: real models, real HTTP, internals in reach."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import torch
from aiohttp import web

from lifeboat_kv.engine.core import Engine, EngineLimits
from lifeboat_kv.engine.run import make_deliver
from lifeboat_kv.engine.served_model import open_model
from lifeboat_kv.engine.server import make_app
from lifeboat_kv.measure.decode import decode
from lifeboat_kv.models.load import load_model

# Below this gap of the two best logits float noise may decide.
NEAR_TIE = 1e-4
SALT = "tenant-a"


class RunningEngine:
    """An engine on a free loopback port, its client, and plain copies of its models for reference."""

    def __init__(self, folders: dict[str, Path], mapper_dir: Path, limits: EngineLimits) -> None:
        self.folders = folders
        self.mapper_dir = mapper_dir
        self._limits = limits
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(60)
        self.client = httpx.Client(base_url=self.url, timeout=150)
        self.plain = {name: load_model(folder) for name, folder in folders.items()}

    def post(self, path: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
        """Posts a body; the status must be the one expected."""
        response = self.client.post(path, json=body)
        assert response.status_code == status, response.text
        return response.json()

    def complete(self, model: str, prompt: Sequence[int], count: int = 12, **extra: Any) -> dict[str, Any]:
        """A greedy completion of token ids with token ids and margins' evidence in the answer."""
        body = {
            "model": model,
            "prompt": list(prompt),
            "max_tokens": count,
            "temperature": 0,
            "return_token_ids": True,
            **extra,
        }
        return self.post("/v1/completions", body)

    def events(self, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Every object of a stream; the end mark must be there."""
        with self.client.stream("POST", path, json={**body, "stream": True}) as response:
            assert response.status_code == 200, response.read()
            lines = [line.removeprefix("data: ") for line in response.iter_lines() if line]
        assert lines[-1] == "[DONE]"
        return [json.loads(line) for line in lines[:-1]]

    def alone(self, model: str, prompt: Sequence[int], count: int = 12) -> dict[str, Any]:
        """The model's own greedy decode through transformers, without the engine."""
        return decode(list(prompt), self.plain[model], self.engine.models[model].ends, count)

    def past_ends(self, model: str, prompt: Sequence[int], count: int) -> dict[str, Any]:
        """As `alone`, going on past end tokens."""
        return decode(list(prompt), self.plain[model], frozenset(), count)

    def settled(self) -> bool:
        """Whether every sequence has given its blocks back."""
        return self.engine.loop.idle and all(s.cache.held == 0 for s in self.engine.schedulers.values())

    def close(self) -> None:
        """Stops the server and the step loop."""
        self.client.close()
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)
        self.engine.stop()

    def _serve(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        device = torch.device("cpu")
        models = {name: open_model(path, device, torch.float32, name) for name, path in self.folders.items()}
        self.engine = Engine(models, self._limits, self.mapper_dir, make_deliver(self._loop))
        self.engine.start()
        runner = web.AppRunner(make_app(self.engine), handler_cancellation=True, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()


@contextlib.contextmanager
def running(folders: dict[str, Path], mapper_dir: Path, **limits: Any) -> Iterator[RunningEngine]:
    """A `RunningEngine` with limits of its own."""
    settings = {"kv_budget": 96 << 20, "max_batch": 64, **limits}
    engine = RunningEngine(folders, mapper_dir, EngineLimits(**settings))
    try:
        yield engine
    finally:
        engine.close()


def assert_same(live: Sequence[int], reference: dict[str, Any]) -> bool:
    """Token for token, except after a near tie; returns whether such a tie was met."""
    for position, (ours, theirs) in enumerate(zip(live, reference["tokens"], strict=False)):
        if ours != theirs:
            margin = reference["margins"][position]
            assert margin < NEAR_TIE, f"differs at {position} with margin {margin}"
            return True
    assert len(live) == len(reference["tokens"])
    return False


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Polls until a condition holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never became true"
        time.sleep(0.01)
