"""Opening an engine: models load one after another, each admitted against what is measured free by then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from ..errors import UsageError
from ..host.precision import dtype_for
from ..models.facts import inspect_model
from .budgets import GivenBudgets, SharedBudgets, default_tokens, share_out
from .core import Engine
from .kv_pool import KvPool, KvShape
from .memory_book import MemoryBook
from .options import EngineOptions
from .served_model import ServedModel, kv_shape, open_model
from .step_loop import Batch

# A pool keeps one block for padding.
LEAST_BLOCKS = 2


@dataclass(frozen=True)
class PlannedModel:
    """A model that is to be loaded, known from its files alone."""

    name: str
    folder: Path
    facts: Mapping[str, Any]
    shape: KvShape

    @property
    def weight_bytes(self) -> int:
        """Bytes of its parameters as they are served."""
        return int(self.facts["parameters"] or 0) * self.shape.dtype.itemsize

    @property
    def least_cache(self) -> int:
        """Bytes below which there is no cache at all."""
        return LEAST_BLOCKS * self.shape.bytes_per_block

    def loading_bytes(self, device: torch.device) -> int:
        """Host memory that holds the weights until they are on the GPU; a CPU's are loaded in place."""
        read = int(self.facts["parameters"] or 0) * dtype_for(device).itemsize
        return read if device.type != "cpu" or self.shape.dtype != dtype_for(device) else 0


def open_engine(options: EngineOptions, device: torch.device, deliver: Callable[[Batch], None]) -> Engine:
    """An engine with all models loaded, each with its cache.

    Errors: UsageError; MemoryShortError before anything of what does not fit is allocated; ModelError.
    """
    planned = plan_models(options, device)
    token_bytes = {model.name: model.shape.bytes_per_token for model in planned}
    given = options.budgets.kv_for(token_bytes)
    for model in planned:
        cache, least = given.get(model.name, model.least_cache), model.least_cache
        if cache < least:
            words = f"--kv-budget-bytes gives {model.name} {cache:,} bytes; the least is {least:,}"
            raise UsageError("USAGE", words)
    book = MemoryBook(device)
    book.device.promise("engines beside this one", options.promised)
    shared = _promise_shared(book, options.budgets, planned)
    _require_all(book, planned, given)
    models: dict[str, ServedModel] = {}
    pools: dict[str, KvPool] = {}
    tokens: int | None = None
    for place, plan in enumerate(planned):
        later = planned[place + 1 :]
        cache = given.get(plan.name, plan.least_cache)
        _require(book, plan, cache, device)
        with book.loading(plan.name):
            models[plan.name] = open_model(plan.folder, device, plan.shape.dtype, plan.name, plan.facts)
        available = book.device.available()
        if plan.name not in given:
            if tokens is None:
                spare = None if available is None else available - _to_come(later, given)
                open_for = [model.name for model in (plan, *later) if model.name not in given]
                tokens = default_tokens(token_bytes, open_for, spare)
            cache = max(plan.least_cache, tokens * plan.shape.bytes_per_token)
            cache = cache if available is None else min(cache, available)
        # Measured once more: what loading took beyond the weights is gone by now.
        book.device.require(max(cache, plan.least_cache), f"{plan.name}'s cache", "its budget")
        pools[plan.name] = pool = KvPool(plan.shape, cache, device)
        book.device.promise(f"{plan.name}'s cache", pool.size_bytes, partial(_touched, pool))
    limits = replace(
        options.limits,
        kv_budget=sum(pool.size_bytes for pool in pools.values()),
        staging_budget=shared.staging,
        mapper_budget=shared.mappers,
        mapper_host_budget=shared.mappers_host,
    )
    return Engine(models, limits, options.mapper_dir, deliver, pools=pools, book=book)


def plan_models(options: EngineOptions, device: torch.device) -> list[PlannedModel]:
    """What is to be loaded, each once. Errors: UsageError where two folders want one name; ModelError."""
    dtype = {"auto": None, "float32": torch.float32, "bfloat16": torch.bfloat16}[options.dtype]
    if dtype is None:
        dtype = torch.float32 if device.type == "cpu" else torch.bfloat16
    planned: dict[str, PlannedModel] = {}
    for given, folder in options.models:
        facts = inspect_model(folder)
        name = given or facts["id"]
        known = planned.get(name)
        if known is not None and known.folder.resolve() != folder.resolve():
            raise UsageError("USAGE", f"two models want to be called {name!r}; give one a NAME=")
        planned.setdefault(name, PlannedModel(name, folder, facts, kv_shape(facts, dtype)))
    return list(planned.values())


def _promise_shared(book: MemoryBook, given: GivenBudgets, planned: Sequence[PlannedModel]) -> SharedBudgets:
    """Staging and mappers come before any cache: what they were promised no model can take."""
    weights = sum(model.weight_bytes for model in planned)
    device_spare = book.device.available()
    if device_spare is not None:
        device_spare -= weights
    host_spare = device_spare if book.host is book.device else book.host.available()
    shared = share_out(given, host_spare, device_spare)
    for ledger, name, size, wanted in (
        (book.host, "staging", shared.staging, given.staging),
        (book.host, "mappers in host memory", shared.mappers_host, given.mappers_host),
        (book.device, "mappers on the device", shared.mappers, given.mappers),
    ):
        if wanted is not None:
            ledger.require(size, f"The budget for {name}", "as it was given")
        ledger.promise(name, size)
    return shared


def _require_all(book: MemoryBook, planned: Sequence[PlannedModel], given: Mapping[str, int]) -> None:
    """All models in turn, before the first is loaded: who cannot fit is told before anything is allocated."""
    before = 0
    for plan in planned:
        cache = given.get(plan.name, plan.least_cache)
        book.device.require(plan.weight_bytes + cache, plan.name, _parts(plan, cache), before)
        before += plan.weight_bytes + cache


def _require(book: MemoryBook, plan: PlannedModel, cache: int, device: torch.device) -> None:
    """One model, against what is measured now."""
    book.device.require(plan.weight_bytes + cache, plan.name, _parts(plan, cache))
    loading = plan.loading_bytes(device)
    if loading:
        book.host.require(loading, f"Loading {plan.name}", "its weights, until they are in place")


def _touched(pool: KvPool) -> int:
    return pool.touched_bytes or 0


def _parts(plan: PlannedModel, cache: int) -> str:
    return f"weights {plan.weight_bytes:,}, cache {cache:,}"


def _to_come(later: Sequence[PlannedModel], given: Mapping[str, int]) -> int:
    return sum(model.weight_bytes + given.get(model.name, 0) for model in later)
