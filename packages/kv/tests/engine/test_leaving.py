"""Clients that leave, do not read or come too many: their places are free at once."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from lifeboat_kv.engine.generate import StreamWriter

from .harness import RunningEngine, running, wait_until

Prompts = Callable[..., list[int]]


class TestLeaving:
    def test_a_closed_stream_frees_its_place(self, engine: RunningEngine, prompt: Prompts) -> None:
        body = {
            "model": "pilot",
            "prompt": prompt(50),
            "max_tokens": 6000,
            "ignore_eos": True,
            "stream": True,
        }
        with engine.client.stream("POST", "/v1/completions", json=body) as response:
            lines = response.iter_lines()  # kept: a collected iterator closes its response
            next(lines)
            assert engine.engine.schedulers["pilot"].running
        wait_until(engine.settled)

    def test_a_dropped_connection_frees_its_place(self, engine: RunningEngine, prompt: Prompts) -> None:
        body = json.dumps({"model": "target", "prompt": prompt(50), "max_tokens": 6000, "ignore_eos": True})
        host, port = engine.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as raw:
            head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            raw.sendall((head + body).encode())
            wait_until(lambda: bool(engine.engine.schedulers["target"].running))
        wait_until(engine.settled)

    def test_a_client_that_does_not_read_is_cut_off(self) -> None:
        """Its socket never takes the bytes: the write ends in time, and the transport is torn down."""
        torn = []
        transport: Any = SimpleNamespace(abort=lambda: torn.append(True))
        response: Any = SimpleNamespace(write=lambda data: asyncio.sleep(60))
        reply: Any = SimpleNamespace(chat=True, role_chunk=lambda: {"choices": []})
        call: Any = SimpleNamespace(reply=reply)

        async def flush() -> None:
            writer = StreamWriter(call, response, transport, 0.05)
            writer.open()
            await writer.flush()

        with pytest.raises(ConnectionResetError):
            asyncio.run(flush())
        assert torn == [True]

    def test_who_leaves_while_waiting_is_forgotten(self, folders: dict[str, Path], prompt: Prompts) -> None:
        one = {"pilot": folders["pilot"]}
        body = {"model": "pilot", "prompt": prompt(9), "max_tokens": 4000, "ignore_eos": True, "stream": True}
        with running(one, folders["pilot"], max_batch=1) as tiny:
            waiting = tiny.engine.schedulers["pilot"].waiting
            with tiny.client.stream("POST", "/v1/completions", json=body) as first:
                lines = first.iter_lines()
                next(lines)
                with pytest.raises(httpx.ReadTimeout):
                    tiny.client.post("/v1/completions", json=body, timeout=1.0)
                wait_until(lambda: not waiting)
                assert tiny.engine.schedulers["pilot"].running
            wait_until(tiny.settled)

    def test_a_full_queue_is_a_typed_refusal(self, folders: dict[str, Path], prompt: Prompts) -> None:
        one = {"pilot": folders["pilot"]}
        with (
            running(one, folders["pilot"], max_batch=1, max_waiting=1) as tiny,
            ThreadPoolExecutor(12) as pool,
        ):
            body = {"model": "pilot", "prompt": prompt(9), "max_tokens": 24, "ignore_eos": True}
            codes = list(pool.map(lambda _: tiny.client.post("/v1/completions", json=body), range(12)))
            assert {r.status_code for r in codes} == {200, 503}
            assert all(r.json()["error"]["code"] == "overloaded" for r in codes if r.status_code == 503)
            wait_until(tiny.settled)
