"""The bench's numbers as tables: the same for the terminal and for docs/results/kv-kernels.md."""

from __future__ import annotations

from typing import Any

from .shapes import LARGE, SMALL

AIM_MOMENTS, AIM_MAPS = 0.70, 0.60
AIM_H200 = (
    "Aims for one H200: Qwen3-14B -> 32B full-head at 32,768 tokens in 135 ms; a head-local transfer at 8K "
    "15 times cheaper than the 1.7B's prefill; a 14B -> 32B calibration in 8 minutes."
)


def report(found: dict[str, Any]) -> str:
    """Markdown without a title."""
    machine = found["machine"]
    lines = [
        f"{machine['date']}, {machine['name']}, {machine['cores']} cores, {machine['threads']} threads, "
        f"torch {machine['torch']}, device {machine['device']}. float32 products of 4096 x 4096: best "
        f"{machine['rate_gflops']:.0f} GFLOP/s of {machine['products']}, median "
        f"{machine['median_gflops']:.0f}. The run took {found['seconds']:.0f} s; load average at its end "
        f"{machine['load']:.1f}.",
        "",
        "Share: the best repeat's part of the best product's rate. Beside: the median part of the rate that "
        "the product just before each repeat had, which other work on the machine moves less; CPU: the share "
        "by processor time, which leaves other work out but for caches. Times are medians with quartiles.",
        "",
        f"## Moments (aim {AIM_MOMENTS:.0%})",
        "",
        "Copying and weighting rows, products and float64 sums; only one triangle counts as work.",
        "",
        *_table(
            ["", "rows", "ms", "quartiles", "share", "beside", "CPU", "peak", "stated"],
            [_moments_row(p) for p in found["moments"]],
        ),
    ]
    for shape in (SMALL, LARGE):
        lines += [
            "",
            f"## {shape.name}, k={shape.k} (aim {AIM_MAPS:.0%})",
            "",
            f"{shape.source_layers} -> {shape.target_layers} layers, {shape.heads} KV heads of {shape.dim}. "
            "All of a transfer into held buffers: un-rotate, map, re-normalise, rotate. Where fewer layers "
            f"were run than there are, `all layers` is multiplied. Published on {shape.published_on}, moving "
            "not included.",
            "",
            *_table(
                [
                    "",
                    "tokens",
                    "layers run",
                    "ms",
                    "quartiles",
                    "share",
                    "beside",
                    "CPU",
                    "all layers ms",
                    "published",
                    "peak",
                    "stated",
                ],
                [_map_row(p) for p in found["maps"][shape.name]],
            ),
        ]
    lines += ["", *_prefill(found["prefill"]), "", *_gpu(found)]
    return "\n".join(lines) + "\n"


def _moments_row(p: dict[str, Any]) -> list[str]:
    return [p["what"], f"{p['tokens']:,}", *_timing(p), _mib(p["peak_bytes"]), _mib(p["stated_bytes"])]


def _map_row(p: dict[str, Any]) -> list[str]:
    if p["left_out"]:
        return [p["what"], f"{p['tokens']:,}", f"left out: {p['left_out']}", *[""] * 9]
    published = "" if p["published_ms"] is None else f"{p['published_ms']:g}"
    return [
        p["what"],
        f"{p['tokens']:,}",
        f"{p['layers']} of {p['of_layers']}",
        *_timing(p),
        f"{p['whole_ms']:,.0f}",
        published,
        _mib(p["peak_bytes"]),
        _mib(p["stated_bytes"]),
    ]


def _timing(p: dict[str, Any]) -> list[str]:
    return [
        f"{p['ms']:,.1f}",
        f"{p['low_ms']:,.1f}-{p['high_ms']:,.1f}",
        f"{p['share']:.0%}",
        f"{p['beside']:.0%}",
        "" if p["busy"] is None else f"{p['busy']:.0%}",
    ]


def _prefill(found: dict[str, Any]) -> list[str]:
    tokens = found["tokens"]
    lines = [
        "## Against the target's prefill",
        "",
        f"Qwen3-1.7B shapes, random weights, {tokens:,} tokens, one layer times 28, without the head: "
        f"prefill {found['prefill_ms']:,.0f} ms; a transfer's exact tail of {found['tail_tokens']} tokens on "
        f"top of the rest {found['tail_ms']:,.0f} ms. On a CPU these are processor time of all threads.",
        "",
    ]
    rows = []
    for form in ("full-head", "head-local"):
        mapped = found[form]
        if mapped is None:
            continue
        rows.append(
            [
                form,
                f"{mapped:,.0f}" + _scaled(found[f"{form} measured at"], tokens),
                f"{found['prefill_ms'] / mapped:.1f}",
                f"{found['prefill_ms'] / (mapped + found['tail_ms']):.1f}",
            ]
        )
    return [*lines, *_table(["", "map ms", "times cheaper than prefill", "with the tail"], rows)]


def _scaled(at: int, tokens: int) -> str:
    return "" if at == tokens else f" (from {at:,} tokens)"


def _gpu(found: dict[str, Any]) -> list[str]:
    if found["calibration"] is None:
        return [
            "## GPUs",
            "",
            "This run had none, so the path for GPUs (bf16 maps, batched heads) is unproven here; its "
            f"arithmetic is tested on CPUs. {AIM_H200}",
        ]
    whole = found["calibration"]
    rows = [[name, f"{seconds:,.1f}"] for name, seconds in whole["seconds"].items()]
    return [
        f"## A calibration of {whole['pair']} by its parts",
        "",
        f"Random weights, {whole['passes']} passes; reading, tokenising and the cost table are not in it.",
        "",
        *_table(["", "s"], [*rows, ["together", f"{whole['total_seconds']:,.1f}"]]),
        "",
        AIM_H200,
    ]


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Markdown whose columns also line up on a terminal."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"

    return [line(head), "| " + " | ".join("-" * max(3, w) for w in widths) + " |", *map(line, rows)]


def _mib(count: int | None) -> str:
    return "" if count is None else f"{count / (1 << 20):,.0f} MiB"
