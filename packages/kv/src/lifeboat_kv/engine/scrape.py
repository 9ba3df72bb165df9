"""The engine's numbers as one Prometheus page."""

from __future__ import annotations

from .core import Engine, resident_bytes
from .metrics import Page


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
    for name, kind, text, read in (
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
    ):
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
    for name, text, read in (
        ("vllm:time_to_first_token_seconds", "Arrival to first token.", lambda m: m.first_token),
        ("vllm:request_queue_time_seconds", "Arrival to admission.", lambda m: m.queue),
        ("vllm:e2e_request_latency_seconds", "Arrival to the end of a sequence.", lambda m: m.latency),
        ("vllm:iteration_tokens_total", "Tokens of a step.", lambda m: m.step_tokens),
    ):
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
    page.family(
        "helm_engine_mapper_bytes", "gauge", "Bytes of resident mappers.", [({}, engine.mappers.used_bytes)]
    )
    page.family(
        "process_resident_memory_bytes", "gauge", "Resident memory.", [({}, float(resident_bytes() or 0))]
    )
