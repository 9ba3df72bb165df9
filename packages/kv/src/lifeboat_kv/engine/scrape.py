"""The engine's numbers as one Prometheus page."""

from __future__ import annotations

from collections.abc import Callable

from .core import Engine
from .metrics import Histogram, ModelMetrics, Page
from .process_memory import resident_bytes
from .scheduler import Scheduler

GAUGES_AND_COUNTERS: tuple[tuple[str, str, str, Callable[[Scheduler], float]], ...] = (
    ("vllm:num_requests_running", "gauge", "Sequences running.", lambda s: len(s.running)),
    ("vllm:num_requests_waiting", "gauge", "Requests waiting for a place.", lambda s: len(s.waiting)),
    (
        "vllm:kv_cache_usage_perc",
        "gauge",
        "Share of cache blocks held by sequences, 0 to 1.",
        lambda s: s.cache.held / s.pool.usable_blocks,
    ),
    (
        "vllm:prompt_tokens_total",
        "counter",
        "Prompt tokens taken in.",
        lambda s: s.metrics.prompt_tokens.value,
    ),
    (
        "vllm:generation_tokens_total",
        "counter",
        "Answer tokens produced.",
        lambda s: s.metrics.generation_tokens.value,
    ),
    (
        "vllm:prefix_cache_queries_total",
        "counter",
        "Prompt tokens looked up in the prefix cache.",
        lambda s: s.cache.queried_tokens,
    ),
    (
        "vllm:prefix_cache_hits_total",
        "counter",
        "Prompt tokens found in the prefix cache.",
        lambda s: s.cache.hit_tokens,
    ),
    (
        "vllm:external_prefix_cache_queries_total",
        "counter",
        "Prompt tokens wanted from another model's cache.",
        lambda s: s.metrics.transfer_queries.value,
    ),
    (
        "vllm:external_prefix_cache_hits_total",
        "counter",
        "Prompt tokens that came from another model's cache.",
        lambda s: s.metrics.transfer_hits.value,
    ),
    (
        "vllm:num_preemptions_total",
        "counter",
        "Started requests that had to wait again; this engine never does that.",
        lambda s: 0,
    ),
    (
        "helm_engine_decode_rows_total",
        "counter",
        "Decoding rows over all steps.",
        lambda s: s.metrics.decode_rows.value,
    ),
    (
        "helm_engine_decode_steps_total",
        "counter",
        "Steps with a decoding row.",
        lambda s: s.metrics.decode_steps.value,
    ),
)
HISTOGRAMS: tuple[tuple[str, str, Callable[[ModelMetrics], Histogram]], ...] = (
    ("vllm:iteration_tokens_total", "Tokens of a step.", lambda m: m.step_tokens),
    ("vllm:time_to_first_token_seconds", "Arrival to first token.", lambda m: m.first_token),
    ("vllm:inter_token_latency_seconds", "One token of a sequence to the next.", lambda m: m.between_tokens),
    (
        "vllm:request_time_per_output_token_seconds",
        "Mean time between the tokens of an answer.",
        lambda m: m.per_output_token,
    ),
    ("vllm:e2e_request_latency_seconds", "Arrival to the end of a sequence.", lambda m: m.latency),
    ("vllm:request_queue_time_seconds", "Arrival to admission.", lambda m: m.queue),
    ("vllm:request_prefill_time_seconds", "Admission to the prompt's end.", lambda m: m.prefill),
    ("vllm:request_decode_time_seconds", "First token to last.", lambda m: m.decode),
    ("vllm:request_inference_time_seconds", "Admission to last token.", lambda m: m.inference),
    ("vllm:request_prompt_tokens", "Tokens of a prompt.", lambda m: m.request_prompt),
    ("vllm:request_generation_tokens", "Tokens of an answer.", lambda m: m.request_answer),
    ("vllm:request_params_n", "Answers asked for.", lambda m: m.asked_answers),
    ("vllm:request_params_max_tokens", "Longest answer asked for.", lambda m: m.asked_tokens),
)


def render_metrics(engine: Engine) -> str:
    """vLLM's names where vLLM has the number, `helm_engine_` for the rest."""
    page = Page()
    pairs = [({"model_name": name, "engine": "0"}, s) for name, s in engine.schedulers.items()]
    shapes = [
        (
            {
                **labels,
                "block_size": str(s.pool.shape.bytes_per_block // s.pool.shape.bytes_per_token),
                "num_gpu_blocks": str(s.pool.usable_blocks),
                "cache_dtype": str(s.pool.shape.dtype).removeprefix("torch."),
            },
            1,
        )
        for labels, s in pairs
    ]
    page.family("vllm:cache_config_info", "gauge", "Cache blocks and their size in tokens.", shapes)
    for name, kind, text, read in GAUGES_AND_COUNTERS:
        page.family(name, kind, text, [(labels, read(s)) for labels, s in pairs])
    page.family(
        "vllm:request_success_total",
        "counter",
        "Sequences ended, by reason.",
        [
            ({**labels, "finished_reason": reason}, counter.value)
            for labels, s in pairs
            for reason, counter in sorted(s.metrics.finish.items())
        ],
    )
    for name, text, read in HISTOGRAMS:
        page.histogram(name, text, [(labels, read(s.metrics)) for labels, s in pairs])
    _own_numbers(page, engine)
    return page.text()


def _own_numbers(page: Page, engine: Engine) -> None:
    found = engine.transfer_metrics
    page.family(
        "helm_engine_transfer_total",
        "counter",
        "Transfers asked for, by outcome.",
        [
            ({"result": result, "reason": reason}, n)
            for (result, reason), n in sorted(found.transfers.items())
        ],
    )
    page.family(
        "helm_engine_staging_total",
        "counter",
        "Caches staged or refused.",
        [({"result": result}, n) for result, n in sorted(found.stagings.items())],
    )
    page.family(
        "helm_engine_tokens_moved_total", "counter", "Rows carried across.", [({}, found.tokens_moved)]
    )
    page.family("helm_engine_staging_bytes", "gauge", "Bytes staged now.", [({}, engine.staging.used_bytes)])
    page.family(
        "helm_engine_staging_expired_total",
        "counter",
        "Staged caches nobody took.",
        [({}, engine.staging.expired)],
    )
    _mapper_numbers(page, engine)
    page.family(
        "process_resident_memory_bytes", "gauge", "Resident memory.", [({}, float(resident_bytes() or 0))]
    )


def _mapper_numbers(page: Page, engine: Engine) -> None:
    tiers, store = engine.mappers.tiers(), engine.mappers
    for name, text, read in (
        ("helm_engine_mapper_bytes", "Bytes of mappers, by tier.", lambda t: t.used_bytes),
        (
            "helm_engine_mapper_budget_bytes",
            "Room for mappers, by tier.",
            lambda t: t.budget_bytes,
        ),
        ("helm_engine_mappers", "Mappers in memory, by tier.", lambda t: t.count),
    ):
        page.family(name, "gauge", text, [({"tier": tier.name}, read(tier)) for tier in tiers])
    page.family(
        "helm_engine_mapper_loads_total",
        "counter",
        "Mappers brought to the device, by where they came from.",
        [({"source": source}, count) for source, count in sorted(store.loads.items())],
    )
    page.family(
        "helm_engine_mapper_evictions_total",
        "counter",
        "Mappers that had to leave a tier.",
        [({"tier": tier.name}, tier.evicted) for tier in tiers],
    )
