"""Staging a prompt's cache, and starting a request of another model from it.

A transfer never fails a request: every trouble here ends in a reason and a native prefill.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..mapper.tail import tail_length
from .installation import Installation, Ready
from .kv_pool import BLOCK_TOKENS, KvPool, blocks_needed
from .mappers import MapperRefusedError, MapperStore
from .metrics import TransferMetrics
from .sequence import Request
from .served_model import ServedModel
from .staging import StagingStore

log = logging.getLogger(__name__)


class TransferDesk:
    """All of `kv_transfer_params`; `claim` runs on the server's thread, the rest on the step thread."""

    def __init__(
        self,
        staging: StagingStore,
        mappers: MapperStore,
        models: Callable[[], Mapping[str, ServedModel]],
        metrics: TransferMetrics,
    ) -> None:
        self.staging = staging
        self.mappers = mappers
        self.metrics = metrics
        self._models = models

    def claim(self, request: Request) -> None:
        """Takes the staged cache a request names, before it queues: handles are short-lived and used once."""
        order = request.transfer
        if order is not None:
            request.claimed = self.staging.take(order.handle, order.mac)

    def prepare(self, request: Request, target: ServedModel) -> Ready | None:
        """Whether a request's transfer can go ahead; on None with an order, `request.kv` has the reason.

        May be asked again while a request waits for memory.
        """
        if request.transfer is None or request.kv is not None:
            return None
        try:
            return self._judge(request, target)
        except MapperRefusedError as error:
            self._fall_back(request, error.code)
        except Exception:
            log.exception("a transfer could not be prepared")
            self._fall_back(request, "ENGINE_ERROR")
        return None

    def begin(
        self,
        ready: Ready,
        request: Request,
        target: ServedModel,
        pool: KvPool,
        blocks: Sequence[int],
        start: int,
    ) -> bool:
        """Opens the installation of rows start ... ready.rows; `advance` does the work.

        False where the request fell back instead.
        """
        if start < ready.staged.start:
            # Only what the target lacked was staged, and since then it lost more.
            self._fall_back(request, "STAGING_GONE")
            return False
        request.installation = Installation(ready, target, pool, blocks, start)
        return True

    def advance(self, request: Request, rows: int) -> bool:
        """Maps a slice of a request's transfer; False where it came to grief and the request fell back.

        With the last slice the request's report is written and its staged memory free.
        """
        work: Installation = request.installation
        try:
            if not work.complete:
                work.advance(rows)
        except Exception:
            log.exception("a transfer into %s failed", request.model)
            self._fall_back(request, "ENGINE_ERROR")
            return False
        if work.complete:
            self._finish(request, work)
        return True

    def _finish(self, request: Request, work: Installation) -> None:
        request.installed = time.perf_counter()
        self.give_up(request)
        request.kv = {
            "result": "transferred",
            "reason": None,
            "tokens_moved": work.stop - work.start,
            "tokens_reused": work.start,
            "tail_tokens": len(request.prompt) - work.stop,
            "map_ms": _ms(work.map_seconds - work.write_seconds),
            "install_ms": _ms(work.write_seconds),
            "tail_ms": None,
        }

    def prompt_done(self, request: Request, model: ServedModel, pool: KvPool, blocks: Sequence[int]) -> None:
        """The prompt's cache is complete: stages it where asked and closes a transfer's account."""
        if request.stage is not None:
            request.kv = self._stage(request, model, pool, blocks)
        elif request.kv is not None:
            if request.installed:
                request.kv["tail_ms"] = _ms(request.prefilled - request.installed)
            self.metrics.transfer(request.kv["result"], request.kv["reason"], request.kv["tokens_moved"])

    def give_up(self, request: Request) -> None:
        """Ends a transfer, done or not, and frees the staged cache that the request still holds."""
        request.installation = None
        if request.claimed is not None:
            self.staging.free(request.claimed)
            request.claimed = None

    def _judge(self, request: Request, target: ServedModel) -> Ready | None:
        order, staged = request.transfer, request.claimed
        if staged is None:
            return self._fall_back(request, "STAGING_GONE")
        resident = self.mappers.get(order.mapper_sha256)
        source = self._models()[staged.model]
        if order.source_model != source.name or not resident.joins(source.facts, target.facts):
            return self._fall_back(request, "PAIR_MISMATCH")
        common = _common_prefix(staged.tokens, request.prompt)
        if common < 1:
            return self._fall_back(request, "TEMPLATE_MISMATCH")
        rows = min(common, len(request.prompt) - tail_length(len(request.prompt)))
        if rows < 1:
            return self._fall_back(request, "BLOCK_TOO_SMALL")
        return Ready(staged, resident, source, rows)

    def _stage(
        self, request: Request, model: ServedModel, pool: KvPool, blocks: Sequence[int]
    ) -> dict[str, Any]:
        order = request.stage
        began = time.perf_counter()
        size = None
        count = len(request.prompt)
        start = min(order.start, count - 1)
        try:
            lead = start // BLOCK_TOKENS
            read = pool.read(blocks[lead : blocks_needed(count)], count - lead * BLOCK_TOKENS)
            skip = start - lead * BLOCK_TOKENS
            layers = [(k[:, skip:], v[:, skip:]) for k, v in read]
            size = self.staging.put(
                order.handle, order.mac, model.name, request.prompt, layers, order.ttl_ms, start
            )
        except Exception:
            log.exception("a cache of %s could not be staged", model.name)
        self.metrics.staged("staged" if size is not None else "refused")
        return {
            "result": "staged" if size is not None else "fallback",
            "reason": None if size is not None else "NO_MEMORY",
            "tokens": len(request.prompt),
            "from_token": start,
            "bytes": size or 0,
            "stage_ms": _ms(time.perf_counter() - began),
        }

    def _fall_back(self, request: Request, reason: str) -> None:
        self.give_up(request)
        request.kv = {
            "result": "fallback",
            "reason": reason,
            "tokens_moved": 0,
            "tokens_reused": 0,
            "tail_tokens": 0,
            "map_ms": None,
            "install_ms": None,
            "tail_ms": None,
        }


def _common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    count = 0
    for ours, theirs in zip(a, b, strict=False):
        if ours != theirs:
            break
        count += 1
    return count


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
