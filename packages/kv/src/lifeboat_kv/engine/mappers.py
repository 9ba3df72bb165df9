"""Mappers in memory: read and checked in the background, the least recently used leave first."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..errors import ArtifactError, ResourceError
from ..mapper.artifact import WEIGHTS_FILE, read_mapper
from ..mapper.form import Mapper

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
class ResidentMapper:
    """A mapper on the device, served models that it joins, and what it measures."""

    sha256: str
    mapper: Mapper
    source: str
    target: str
    size: int
    load_ms: float

    def joins(self, source: Facts, target: Facts) -> bool:
        """Whether it was fitted for exactly these two models."""
        return _same(self.mapper.source, source) and _same(self.mapper.target, target)

    def summary(self) -> dict[str, Any]:
        """What `/helm/mappers` says of it."""
        return {
            "sha256": self.sha256,
            "state": "resident",
            "source_model": self.source,
            "target_model": self.target,
            "method": self.mapper.method,
            "bytes": self.size,
            "load_ms": self.load_ms,
        }


class MapperStore:
    """Mappers below `<directory>/<sha256>/`, at most `budget_bytes` of them in memory. Thread-safe."""

    def __init__(
        self,
        directory: Path | None,
        models: Callable[[], Mapping[str, Facts]],
        device: torch.device,
        budget_bytes: int,
    ) -> None:
        self.directory = directory
        self.budget_bytes = budget_bytes
        self._models = models
        self._device = device
        self._lock = threading.Lock()
        self._resident: OrderedDict[str, ResidentMapper] = OrderedDict()
        self._loading: dict[str, Future[ResidentMapper]] = {}
        self._refused: dict[str, tuple[float, MapperRefusedError]] = {}
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="mapper-reader")

    @property
    def used_bytes(self) -> int:
        """Bytes of all resident mappers."""
        with self._lock:
            return sum(m.size for m in self._resident.values())

    def get(self, sha256: str) -> ResidentMapper:
        """The resident mapper; otherwise starts reading it and raises MapperRefusedError."""
        with self._lock:
            found = self._resident.get(sha256)
            if found is not None:
                self._resident.move_to_end(sha256)
                return found
            refused = self._refused.get(sha256)
            if refused is not None and time.monotonic() - refused[0] < RETRY_SECONDS:
                raise refused[1]
        self.load(sha256)
        raise MapperRefusedError("MAPPER_NOT_RESIDENT", "the mapper is being read")

    def load(self, sha256: str) -> Future[ResidentMapper]:
        """Starts reading a mapper unless it is resident or on its way."""
        with self._lock:
            if sha256 in self._resident:
                done: Future[ResidentMapper] = Future()
                done.set_result(self._resident[sha256])
                return done
            if sha256 not in self._loading:
                self._loading[sha256] = self._reader.submit(self._read, sha256)
            return self._loading[sha256]

    def drop(self, sha256: str) -> bool:
        """Takes a mapper out of memory; returns whether it was there."""
        with self._lock:
            self._refused.pop(sha256, None)
            return self._resident.pop(sha256, None) is not None

    def list(self) -> list[dict[str, Any]]:
        """Resident mappers, those being read and those refused."""
        with self._lock:
            known = [m.summary() for m in self._resident.values()]
            known += [{"sha256": sha, "state": "loading"} for sha in self._loading]
            known += [
                {"sha256": sha, "state": "refused", "code": error.code, "message": error.message}
                for sha, (_, error) in self._refused.items()
            ]
        return known

    def close(self) -> None:
        """Stops the reading thread."""
        self._reader.shutdown(wait=False, cancel_futures=True)

    def _read(self, sha256: str) -> ResidentMapper:
        try:
            try:
                resident = self._open(sha256)
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
                self._refused[sha256] = (time.monotonic(), error)
            raise
        with self._lock:
            self._loading.pop(sha256, None)
            self._refused.pop(sha256, None)
            self._resident[sha256] = resident
            held = sum(m.size for m in self._resident.values())
            while len(self._resident) > 1 and held > self.budget_bytes:
                held -= self._resident.popitem(last=False)[1].size
        return resident

    def _open(self, sha256: str) -> ResidentMapper:
        started = time.perf_counter()
        if self.directory is None or not SHA256.fullmatch(sha256):
            raise MapperRefusedError("ARTIFACT_UNREADABLE", "this engine has no such mapper")
        file = self.directory / sha256 / WEIGHTS_FILE
        try:
            mapper = read_mapper(file, expected_sha256=sha256, max_bytes=self.budget_bytes)
        except ArtifactError as error:
            code = "NO_MEMORY" if error.code == "TOO_LARGE" else "ARTIFACT_UNREADABLE"
            raise MapperRefusedError(code, error.message) from error
        except ResourceError as error:
            raise MapperRefusedError("NO_MEMORY", error.message) from error
        source = self._served(mapper.source, "source")
        target = self._served(mapper.target, "target")
        # A GPU multiplies what was stored and scored; a CPU has no use for bfloat16, which is half the size.
        dtype = torch.float32 if self._device.type == "cpu" else mapper.layers[0].wk.dtype
        if torch.empty((), dtype=dtype).element_size() * mapper.parameters > self.budget_bytes:
            raise MapperRefusedError("NO_MEMORY", "the mapper is larger than the budget for mappers")
        mapper = mapper.to(self._device, dtype)
        size = sum(t.numel() * t.element_size() for m in mapper.layers for t in (m.wk, m.bk, m.wv, m.bv))
        return ResidentMapper(
            sha256, mapper, source, target, size, round((time.perf_counter() - started) * 1000, 3)
        )

    def _served(self, wanted: Facts, side: str) -> str:
        """The served model with the digests a mapper names. Errors: MapperRefusedError PAIR_MISMATCH."""
        for name, facts in self._models().items():
            if _same(wanted, facts):
                return name
        raise MapperRefusedError("PAIR_MISMATCH", f"no served model is the mapper's {side}")


def _same(wanted: Facts, facts: Facts) -> bool:
    return bool(wanted.get(IDENTITY[0])) and all(
        facts.get(key) == wanted.get(key) for key in (*IDENTITY, *CACHE_SHAPE)
    )
