"""The engine's memory in numbers: budgets, what is used of them, and what the process is measured to hold."""

from __future__ import annotations

from typing import Any

import torch

from .core import Engine
from .process_memory import peak_bytes, resident_memory


def report_memory(engine: Engine) -> dict[str, Any]:
    """Measured bytes, by model and in all; None where the system does not say.

    The process's resident memory is `runtime_bytes` (before any model), each model's `load_bytes` (the
    growth while it was loaded, its weights among it) and `kv_touched_bytes`, what staging and mappers use,
    `scratch_bytes`, and a rest: activations, connections and what the allocator keeps.
    """
    book, resident = engine.book, resident_memory()
    device_tier, host_tier = engine.mappers.tiers()
    models = {name: _model(engine, name) for name in engine.models}
    untouched = [m["kv_pool_bytes"] - m["kv_touched_bytes"] for m in models.values() if _known(m)]
    shared = [(tier.budget_bytes, tier.used_bytes) for tier in (device_tier, host_tier)]
    shared.append((engine.staging.budget_bytes, engine.staging.used_bytes))
    cuda = engine.device.type == "cuda"
    return {
        "device": str(engine.device),
        "models": models,
        "staging": {
            "budget_bytes": engine.staging.budget_bytes,
            "used_bytes": engine.staging.used_bytes,
            "entries": engine.staging.count,
        },
        "mappers": {"budget_bytes": device_tier.budget_bytes, "used_bytes": device_tier.used_bytes},
        "mappers_host": {"budget_bytes": host_tier.budget_bytes, "used_bytes": host_tier.used_bytes},
        "runtime_bytes": book.runtime and book.runtime.total,
        "runtime_file_bytes": book.runtime and book.runtime.files,
        "scratch_bytes": sum(scheduler.pool.scratch_bytes for scheduler in engine.schedulers.values()),
        "process_resident_bytes": resident and resident.total,
        "process_file_bytes": resident and resident.files,
        "process_peak_bytes": peak_bytes(),
        "free_bytes": book.device.free(),
        "reserve_bytes": book.device.reserve,
        "untouched_bytes": sum(untouched) + sum(max(0, budget - used) for budget, used in shared),
        "device_allocated_bytes": torch.cuda.memory_allocated(engine.device) if cuda else None,
        "device_reserved_bytes": torch.cuda.memory_reserved(engine.device) if cuda else None,
    }


def _model(engine: Engine, name: str) -> dict[str, Any]:
    scheduler = engine.schedulers[name]
    cache, pool, shape = scheduler.cache, scheduler.pool, scheduler.pool.shape
    return {
        "weights_bytes": scheduler.model.weight_bytes,
        "load_bytes": engine.book.load_bytes.get(name),
        "kv_bytes_per_token": shape.bytes_per_token,
        "kv_block_tokens": shape.bytes_per_block // shape.bytes_per_token,
        "kv_budget_bytes": pool.usable_blocks * shape.bytes_per_block,
        "kv_pool_bytes": pool.size_bytes,
        "kv_touched_bytes": pool.touched_bytes,
        "kv_used_bytes": cache.held * shape.bytes_per_block,
        "kv_cached_bytes": cache.remembered * shape.bytes_per_block,
        "kv_available_bytes": cache.available * shape.bytes_per_block,
    }


def _known(model: dict[str, Any]) -> bool:
    return model["kv_touched_bytes"] is not None
