"""Starting and stopping: models, step loop and socket up, then a drain."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import stat
from collections.abc import Sequence
from pathlib import Path

import torch
from aiohttp import web
from transformers.utils.logging import disable_progress_bar

from ..errors import HardwareError, UsageError
from .core import ENGINE_NAME, Engine
from .opening import open_engine
from .options import EngineOptions, Listen
from .server import make_app
from .step_loop import Batch

log = logging.getLogger(__name__)

LAST_WORDS_SECONDS = 5.0
# Connections in line while a step holds the interpreter; on a Unix socket a full line refuses at once.
BACKLOG = 4096


async def serve(options: EngineOptions) -> int:
    """Serves until a signal, then drains; prints one `ready` line on stdout when it can be reached.

    Errors: HelmError where models, device or address cannot be used.
    """
    if options.threads:
        torch.set_num_threads(options.threads)
    device = _device(options.device)
    disable_progress_bar()
    engine = open_engine(options, device, make_deliver(asyncio.get_running_loop()))
    engine.start()
    runner = web.AppRunner(
        make_app(engine),
        handler_cancellation=True,
        access_log=None,
        keepalive_timeout=75.0,
        shutdown_timeout=5.0,
    )
    await runner.setup()
    try:
        where = await _bind(runner, options.listen)
        ready = {"event": "ready", "engine": ENGINE_NAME, "listen": where, "models": list(engine.models)}
        print(json.dumps(ready), flush=True)
        await _until_told(options.exit_with_parent)
        log.info("draining")
        engine.draining = True
        await _drained(engine)
    finally:
        await runner.cleanup()
        await asyncio.to_thread(engine.stop)
        if options.listen.path is not None:
            options.listen.path.unlink(missing_ok=True)
    return 0


def make_deliver(loop: asyncio.AbstractEventLoop):
    """Carries a step's events to the server's thread in one hop."""

    def spread(batch: Batch) -> None:
        for request, event in batch:
            request.emit(event)

    def deliver(batch: Batch) -> None:
        # The loop may be closed while the last step of a shutdown reports.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(spread, batch)

    return deliver


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UsageError("USAGE", f"--device {name!r} is not a device") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise HardwareError(
            "NO_ACCELERATOR", "--device cuda, but torch sees no GPU here; --device cpu is the choice"
        )
    return device


async def _bind(runner: web.AppRunner, listen: Listen) -> str:
    """Opens the address; a Unix socket is readable by its owner alone from its first moment."""
    if listen.path is None:
        site = web.TCPSite(runner, listen.host, listen.port, backlog=BACKLOG)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]  # aiohttp has no public way to a chosen port
        return f"{listen.host}:{port}"
    _clear_stale(listen.path)
    before = os.umask(0o177)
    try:
        await web.UnixSite(runner, str(listen.path), backlog=BACKLOG).start()
    finally:
        os.umask(before)
    return f"unix:{listen.path}"


def _clear_stale(path: Path) -> None:
    """Removes a socket nobody listens on. Errors: UsageError where one does, or it is no socket."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise UsageError("USAGE", f"{path} exists and is no socket")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise UsageError("USAGE", f"another process listens on {path}")


async def _until_told(exit_with_parent: bool) -> None:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sig in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sig, told.set)
    parent = os.getppid()
    while not told.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(told.wait(), 1.0)
        if exit_with_parent and os.getppid() != parent:
            return


async def _drained(engine: Engine) -> None:
    """Waits until nothing runs; what is still running at the drain limit gets a typed refusal."""
    if await _idle_within(engine, engine.limits.drain_seconds):
        return
    log.warning("the drain limit is over; what still runs is refused")
    engine.loop.give_up()
    await _idle_within(engine, LAST_WORDS_SECONDS)
    await asyncio.sleep(0.1)


async def _idle_within(engine: Engine, seconds: float) -> bool:
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    while not engine.loop.idle:
        if clock() >= end:
            return False
        await asyncio.sleep(0.02)
    return True


__all__: Sequence[str] = ("make_deliver", "serve")
