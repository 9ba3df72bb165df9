"""Mappers in three tiers: on the device and ready, in host memory, and as files on disk.

Reading, checking and moving happen in the background; who asks meanwhile is told MAPPER_NOT_RESIDENT.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ..errors import ArtifactError, ResourceError
from ..mapper.artifact import WEIGHTS_FILE, read_mapper
from ..mapper.form import Mapper
from .mapper_tier import HeldMapper, MapperTier, TierUse

log = logging.getLogger(__name__)

SHA256 = re.compile(r"[0-9a-f]{64}")
# A mapper that could not be read is tried again after this long.
RETRY_SECONDS = 5.0
# What names a model beyond doubt, and what its cache's shape follows from: a mapper could lie of either.
IDENTITY = ("weights_sha256", "tokenizer")
CACHE_SHAPE = ("num_hidden_layers", "num_key_value_heads", "head_dim")

Facts = Mapping[str, Any]


class MapperRefusedError(Exception):
    """A mapper that cannot be used: `code` is a fallback code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class ResidentMapper(HeldMapper):
    """A mapper on the device; `stored` is its dtype on disk and in host memory."""

    stored: torch.dtype

    def joins(self, source: Facts, target: Facts) -> bool:
        """Whether it was fitted for exactly these two models."""
        return _same(self.mapper.source, source) and _same(self.mapper.target, target)


class MapperStore:
    """Mappers below `<directory>/<sha256>/`. What the device has no room for stays in host memory, within
    a budget of its own, and comes back without its file being read. Thread-safe.
    """

    def __init__(
        self,
        directory: Path | None,
        models: Callable[[], Mapping[str, Facts]],
        device: torch.device,
        budget_bytes: int,
        host_budget_bytes: int = 0,
    ) -> None:
        self.directory = directory
        self.loads = {"host": 0, "disk": 0}
        self._models = models
        self._device = device
        self._lock = threading.Lock()
        self._on_device = MapperTier("device", budget_bytes)
        self._on_host = MapperTier("host", host_budget_bytes)
        self._loading: dict[str, Future[ResidentMapper]] = {}
        self._refused: dict[str, tuple[float, MapperRefusedError]] = {}
        # On their way from the device to host memory; who is dropped meanwhile does not arrive.
        self._leaving: set[str] = set()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="mapper-reader")

    def tiers(self) -> tuple[TierUse, TierUse]:
        """What device and host hold now."""
        with self._lock:
            return self._on_device.use(), self._on_host.use()

    def get(self, sha256: str) -> ResidentMapper:
        """The mapper on the device; otherwise starts bringing it there and raises MapperRefusedError."""
        with self._lock:
            found = self._on_device.get(sha256)
            if found is not None:
                return found
            refused = self._refused.get(sha256)
            if refused is not None and time.monotonic() - refused[0] < RETRY_SECONDS:
                raise refused[1]
        self.load(sha256)
        raise MapperRefusedError("MAPPER_NOT_RESIDENT", "the mapper is on its way to the device")

    def load(self, sha256: str) -> Future[ResidentMapper]:
        """Starts bringing a mapper to the device unless it is there or on its way."""
        with self._lock:
            found = self._on_device.get(sha256)
            if found is not None:
                done: Future[ResidentMapper] = Future()
                done.set_result(found)
                return done
            if sha256 not in self._loading:
                self._loading[sha256] = self._reader.submit(self._bring, sha256)
            return self._loading[sha256]

    def drop(self, sha256: str) -> bool:
        """Takes a mapper out of memory; returns whether it was there."""
        with self._lock:
            self._refused.pop(sha256, None)
            self._leaving.discard(sha256)
            held = [tier.pop(sha256) for tier in (self._on_device, self._on_host)]
            return any(one is not None for one in held)

    def list(self) -> list[dict[str, Any]]:
        """Mappers on the device and in host memory, those on their way and those refused."""
        with self._lock:
            known = [summary(m, "resident") for m in self._on_device.all()]
            known += [summary(m, "host") for m in self._on_host.all() if m.sha256 not in self._loading]
            known += [{"sha256": sha, "state": "loading"} for sha in self._loading]
            known += [
                {"sha256": sha, "state": "refused", "code": error.code, "message": error.message}
                for sha, (_, error) in self._refused.items()
            ]
        return known

    def close(self) -> None:
        """Stops the reading thread."""
        self._reader.shutdown(wait=False, cancel_futures=True)

    def _bring(self, sha256: str) -> ResidentMapper:
        try:
            try:
                resident, source = self._fetch(sha256)
            except (MemoryError, torch.OutOfMemoryError) as error:
                raise MapperRefusedError("NO_MEMORY", "there is no memory for the mapper") from error
            except MapperRefusedError:
                raise
            except Exception as error:
                # Whatever a file nobody foresaw runs into: a mapper must never stay "loading" for good.
                log.exception("mapper %s could not be read", sha256[:12])
                raise MapperRefusedError("ARTIFACT_UNREADABLE", "the mapper cannot be read") from error
        except MapperRefusedError as error:
            log.warning("mapper %s refused: %s: %s", sha256[:12], error.code, error.message)
            with self._lock:
                self._loading.pop(sha256, None)
                self._on_host.pop(sha256)
                self._refused[sha256] = (time.monotonic(), error)
            raise
        with self._lock:
            self._loading.pop(sha256, None)
            self._refused.pop(sha256, None)
            self._on_host.pop(sha256)
            self.loads[source] += 1
            leaving = self._on_device.put(resident)
            self._leaving.update(one.sha256 for one in leaving)
        for one in leaving:
            self._keep(one)
        return resident

    def _fetch(self, sha256: str) -> tuple[ResidentMapper, str]:
        """The mapper, made ready for the device, and the tier that it came from."""
        started = time.perf_counter()
        with self._lock:
            held = self._on_host.get(sha256)
        if held is None:
            return self._place(sha256, *self._open(sha256), started), "disk"
        return self._place(sha256, held.mapper, held.source, held.target, started), "host"

    def _keep(self, leaving: ResidentMapper) -> None:
        """Keeps in host memory, as it is stored, what had to leave the device."""
        item = torch.empty((), dtype=leaving.stored).element_size()
        held = HeldMapper(
            leaving.sha256,
            leaving.mapper,
            leaving.source,
            leaving.target,
            leaving.mapper.parameters * item,
            leaving.load_ms,
        )
        if held.size > self._on_host.budget_bytes:
            return
        try:
            held = replace(held, mapper=leaving.mapper.to("cpu", leaving.stored))
        except (MemoryError, torch.OutOfMemoryError):
            return
        with self._lock:
            if held.sha256 in self._leaving:
                self._on_host.put(held)
            self._leaving.discard(held.sha256)

    def _open(self, sha256: str) -> tuple[Mapper, str, str]:
        """Reads and checks a file: the mapper, and the served models on its two sides."""
        if self.directory is None or not SHA256.fullmatch(sha256):
            raise MapperRefusedError("ARTIFACT_UNREADABLE", "this engine has no such mapper")
        file = self.directory / sha256 / WEIGHTS_FILE
        try:
            mapper = read_mapper(file, expected_sha256=sha256, max_bytes=self._on_device.budget_bytes)
        except ArtifactError as error:
            code = "NO_MEMORY" if error.code == "TOO_LARGE" else "ARTIFACT_UNREADABLE"
            raise MapperRefusedError(code, error.message) from error
        except ResourceError as error:
            raise MapperRefusedError("NO_MEMORY", error.message) from error
        return mapper, self._served(mapper.source, "source"), self._served(mapper.target, "target")

    def _place(self, sha256: str, mapper: Mapper, source: str, target: str, started: float) -> ResidentMapper:
        stored = mapper.layers[0].wk.dtype
        # A GPU multiplies what was stored and scored; a CPU has no use for bfloat16, which is half the size.
        dtype = torch.float32 if self._device.type == "cpu" else stored
        size = torch.empty((), dtype=dtype).element_size() * mapper.parameters
        if size > self._on_device.budget_bytes:
            raise MapperRefusedError("NO_MEMORY", "the mapper is larger than the budget for mappers")
        placed = mapper.to(self._device, dtype)
        load_ms = round((time.perf_counter() - started) * 1000, 3)
        return ResidentMapper(sha256, placed, source, target, size, load_ms, stored)

    def _served(self, wanted: Facts, side: str) -> str:
        """The served model with the digests a mapper names. Errors: MapperRefusedError PAIR_MISMATCH."""
        for name, facts in self._models().items():
            if _same(wanted, facts):
                return name
        raise MapperRefusedError("PAIR_MISMATCH", f"no served model is the mapper's {side}")


def summary(held: HeldMapper, state: str) -> dict[str, Any]:
    """What `/helm/mappers` says of a mapper."""
    return {
        "sha256": held.sha256,
        "state": state,
        "source_model": held.source,
        "target_model": held.target,
        "method": held.mapper.method,
        "bytes": held.size,
        "load_ms": held.load_ms,
    }


def _same(wanted: Facts, facts: Facts) -> bool:
    return bool(wanted.get(IDENTITY[0])) and all(
        facts.get(key) == wanted.get(key) for key in (*IDENTITY, *CACHE_SHAPE)
    )
