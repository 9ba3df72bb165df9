"""The engine without its HTTP server: models, cache budgets, step loop, staging and mappers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..mapper.mapping import most_rows
from .errors import ApiError, context_too_long, model_not_found, overloaded
from .kv_pool import KvPool
from .mappers import MapperStore
from .memory_book import MemoryBook
from .metrics import TransferMetrics
from .scheduler import Scheduler
from .sequence import Request
from .served_model import ServedModel
from .staging import StagingStore
from .step_loop import Batch, StepLoop
from .transfer import TransferDesk

ENGINE_NAME = "lifeboat-reference"


@dataclass(frozen=True)
class EngineLimits:
    """Every bound the engine keeps; sizes in bytes."""

    kv_budget: int = 512 << 20
    staging_budget: int = 256 << 20
    mapper_budget: int = 1 << 30
    mapper_host_budget: int = 1 << 30
    max_batch: int = 64
    max_waiting: int = 4096
    step_tokens: int = 512
    # What the gateway takes, and room for the fields that it adds.
    body: int = (4 << 20) + (1 << 16)
    default_max_tokens: int = 1024
    write_seconds: float = 30.0
    drain_seconds: float = 30.0


class Engine:
    """Serves `models` by name. `deliver` gets events in batches, on the step thread.

    Without `pools` every model gets room for the same number of tokens within `limits.kv_budget`.
    """

    def __init__(
        self,
        models: Mapping[str, ServedModel],
        limits: EngineLimits,
        mapper_dir: Path | None,
        deliver: Callable[[Batch], None],
        *,
        pools: Mapping[str, KvPool] | None = None,
        book: MemoryBook | None = None,
    ) -> None:
        device = next(iter(models.values())).device
        self.models = dict(models)
        self.limits = limits
        self.device = device
        self.book = book or MemoryBook(device)
        self.development = device.type == "cpu"
        self.draining = False
        self.started = int(time.time())
        self.transfer_metrics = TransferMetrics()
        self.staging = StagingStore(limits.staging_budget)
        self.mappers = MapperStore(
            mapper_dir,
            lambda: {name: m.facts for name, m in self.models.items()},
            device,
            limits.mapper_budget,
            limits.mapper_host_budget,
        )
        self.desk = TransferDesk(self.staging, self.mappers, lambda: self.models, self.transfer_metrics)
        self.loop = StepLoop(deliver)
        pools = pools or equal_pools(models, limits.kv_budget)
        self.schedulers = {
            name: Scheduler(
                model,
                pools[name],
                self.desk,
                self.loop.post,
                max_batch=limits.max_batch,
                max_waiting=limits.max_waiting,
                step_tokens=limits.step_tokens,
                map_rows=map_rows(device),
            )
            for name, model in self.models.items()
        }

    def start(self) -> None:
        """Begins stepping; the rotary tables are made now and not in the first transfer."""
        for model in self.models.values():
            model.rope.at(torch.arange(model.max_model_len), model.device)
        self.loop.start(self.schedulers)

    def stop(self) -> None:
        """Ends the step loop and frees what is staged."""
        self.loop.stop(self.limits.drain_seconds)
        self.mappers.close()
        self.staging.clear()

    def model(self, name: Any) -> ServedModel:
        """The served model of that name. Errors: ApiError 400, 404."""
        if not isinstance(name, str) or not name:
            raise ApiError(400, "invalid_value", "you must name a model", param="model")
        found = self.models.get(name)
        if found is None:
            raise model_not_found(name[:200])
        return found

    def submit(self, requests: list[Request], param: str) -> None:
        """Checks all requests of one call and queues them, or none. Errors: ApiError 400, 413, 503."""
        if self.draining:
            raise overloaded("The engine is shutting down.")
        for request in requests:
            model = self.models[request.model]
            answer = request.sampling.max_tokens
            if len(request.prompt) + answer > model.max_model_len:
                raise context_too_long(len(request.prompt), answer, model.max_model_len, param)
            self.schedulers[request.model].check(request, self.loop.arriving(request.model))
        for request in requests:
            self.desk.claim(request)
            self.loop.submit(request)


def equal_pools(models: Mapping[str, ServedModel], budget: int) -> dict[str, KvPool]:
    """A pool for every model, all with room for the same number of tokens."""
    tokens = budget / sum(model.shape.bytes_per_token for model in models.values())
    return {
        name: KvPool(model.shape, int(tokens * model.shape.bytes_per_token), model.device)
        for name, model in models.items()
    }


def map_rows(device: torch.device) -> int:
    """Rows of a transfer that are mapped between two steps: about as long as one with a full prompt chunk."""
    return 2 * most_rows(device)
