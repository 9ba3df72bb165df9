"""Counters and histograms in Prometheus' text format, under vLLM's names where vLLM has one."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from .sequence import Request, Sequence

SECONDS = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.08,
    0.16,
    0.32,
    0.64,
    1.28,
    2.56,
    5.12,
    10.24,
    20.48,
    40.96,
    81.92,
)
ANSWERS = (1, 2, 5, 10, 20, 50)
TOKENS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)


class Counter:
    """A number that only grows."""

    def __init__(self) -> None:
        self.value = 0.0

    def add(self, amount: float) -> None:
        """Adds a non-negative amount."""
        self.value += amount


class Histogram:
    """Counts of observations at or below each bound."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Counts one observation."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class ModelMetrics:
    """One model's numbers; written by the step thread, read by the server."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.prompt_tokens = Counter()
        self.generation_tokens = Counter()
        self.transfer_queries = Counter()
        self.transfer_hits = Counter()
        self.decode_rows = Counter()
        self.decode_steps = Counter()
        self.finish: dict[str, Counter] = {}
        self.step_tokens = Histogram(TOKENS)
        self.first_token = Histogram(SECONDS)
        self.between_tokens = Histogram(SECONDS)
        self.per_output_token = Histogram(SECONDS)
        self.latency = Histogram(SECONDS)
        self.queue = Histogram(SECONDS)
        self.prefill = Histogram(SECONDS)
        self.decode = Histogram(SECONDS)
        self.inference = Histogram(SECONDS)
        self.request_prompt = Histogram(TOKENS)
        self.request_answer = Histogram(TOKENS)
        self.asked_answers = Histogram(ANSWERS)
        self.asked_tokens = Histogram(TOKENS)

    def count_step(self, tokens: int, decoding: int) -> None:
        """Records one forward: all its tokens and how many rows were decoding."""
        self.step_tokens.observe(tokens)
        if decoding:
            self.decode_rows.add(decoding)
            self.decode_steps.add(1)

    def started(self, request: Request, hit: int) -> None:
        """Records a request that was let in, of whose prompt `hit` tokens were remembered here."""
        self.prompt_tokens.add(len(request.prompt))
        self.request_prompt.observe(len(request.prompt))
        self.asked_answers.observe(request.n)
        self.asked_tokens.observe(request.sampling.max_tokens)
        if request.transfer is not None:
            self.transfer_queries.add(len(request.prompt) - hit)
            self.transfer_hits.add(request.cached_tokens - hit)

    def token(self, seq: Sequence, now: float) -> None:
        """Records one answer token."""
        request = seq.request
        self.generation_tokens.add(1)
        if not request.first_token:
            request.first_token = now
            self.first_token.observe(now - request.arrived)
            self.queue.observe(request.admitted - request.arrived)
            self.prefill.observe(request.prefilled - request.admitted)
        if seq.first_token:
            self.between_tokens.observe(now - seq.last_token)
        else:
            seq.first_token = now
        seq.last_token = now

    def answered(self, seq: Sequence, reason: str, now: float) -> None:
        """Records a whole answer: stop or length."""
        self.finished(reason, now - seq.request.arrived)
        self.decode.observe(now - seq.first_token)
        self.inference.observe(now - seq.request.admitted)
        self.request_answer.observe(seq.produced)
        if seq.produced > 1:
            self.per_output_token.observe((now - seq.first_token) / (seq.produced - 1))

    def finished(self, reason: str, seconds: float) -> None:
        """Records the end of a sequence: stop, length, abort or error."""
        self.finish.setdefault(reason, Counter()).add(1)
        self.latency.observe(seconds)


class TransferMetrics:
    """Staging and transfers by outcome. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.transfers: dict[tuple[str, str], int] = {}
        self.stagings: dict[str, int] = {}
        self.tokens_moved = 0

    def transfer(self, result: str, reason: str | None, tokens: int) -> None:
        """Counts one transfer or fallback."""
        with self._lock:
            key = (result, reason or "")
            self.transfers[key] = self.transfers.get(key, 0) + 1
            self.tokens_moved += tokens

    def staged(self, result: str) -> None:
        """Counts one staging."""
        with self._lock:
            self.stagings[result] = self.stagings.get(result, 0) + 1


class Page:
    """Builds one scrape's text."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def family(
        self, name: str, kind: str, help_text: str, samples: Iterable[tuple[Mapping[str, str], float]]
    ) -> None:
        """One counter or gauge with its samples."""
        self._lines += [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
        self._lines += [f"{name}{_labels(labels)} {value:.10g}" for labels, value in samples]

    def histogram(
        self, name: str, help_text: str, samples: Iterable[tuple[Mapping[str, str], Histogram]]
    ) -> None:
        """One histogram with its buckets, sum and count."""
        self._lines += [f"# HELP {name} {help_text}", f"# TYPE {name} histogram"]
        for labels, found in samples:
            running = 0
            for bound, count in zip((*found.bounds, float("inf")), found.counts, strict=True):
                running += count
                edge = "+Inf" if bound == float("inf") else f"{bound:g}"
                self._lines.append(f"{name}_bucket{_labels({**labels, 'le': edge})} {running}")
            self._lines.append(f"{name}_sum{_labels(labels)} {found.total:.10g}")
            self._lines.append(f"{name}_count{_labels(labels)} {running}")

    def text(self) -> str:
        """The whole page."""
        return "\n".join(self._lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{key}="{_escape(value)}"' for key, value in labels.items()) + "}"


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
