"""Choosing the next tokens from logits: greedy rows together, sampled rows one by one."""

from __future__ import annotations

from collections.abc import Sequence as Rows

import torch
from torch import Tensor

from .sequence import SamplingOptions, Sequence, TokenLogprobs


def choose_tokens(logits: Tensor, sequences: Rows[Sequence]) -> list[tuple[int, TokenLogprobs | None]]:
    """One token for each row of `logits` [R, V] (float32) and its log-probabilities where asked for.

    Log-probabilities are those of the model's own distribution, before temperature, penalties and cuts.
    """
    adjusted = _with_penalties(logits, sequences)
    greedy = adjusted.argmax(dim=-1).tolist()
    chosen = [
        greedy[row] if seq.request.sampling.temperature == 0 else _draw(adjusted[row], seq)
        for row, seq in enumerate(sequences)
    ]
    wanted = [row for row, seq in enumerate(sequences) if seq.request.sampling.logprobs is not None]
    found = _logprobs(logits, chosen, sequences, wanted) if wanted else {}
    return [(token, found.get(row)) for row, token in enumerate(chosen)]


def make_generator(options: SamplingOptions, index: int) -> torch.Generator | None:
    """A sequence's own source of randomness; with a seed, answer `index` of a request is repeatable."""
    if options.temperature == 0:
        return None
    generator = torch.Generator()
    if options.seed is None:
        generator.seed()
    else:
        generator.manual_seed((options.seed + index) % 2**63)
    return generator


def _draw(logits: Tensor, seq: Sequence) -> int:
    """A draw from softmax(logits / temperature), cut by top-k, then min-p, then top-p."""
    options = seq.request.sampling
    order = (logits.double() / options.temperature).softmax(dim=-1).cpu()
    p, ids = order.sort(descending=True, stable=True)
    keep = torch.ones_like(p, dtype=torch.bool)
    if options.top_k > 0:
        keep[options.top_k :] = False
    if options.min_p > 0:
        keep &= p >= options.min_p * p[0]
    if options.top_p < 1:
        keep &= p.cumsum(0) - p < options.top_p
    keep[0] = True
    p = torch.where(keep, p, torch.zeros_like(p))
    return int(ids[torch.multinomial(p, 1, generator=seq.generator)])


def _logprobs(
    logits: Tensor, chosen: list[int], sequences: Rows[Sequence], wanted: list[int]
) -> dict[int, TokenLogprobs]:
    rows = logits[wanted].log_softmax(dim=-1)
    most = max(sequences[row].request.sampling.logprobs or 0 for row in wanted)
    values, ids = rows.topk(min(most, rows.shape[-1]), dim=-1) if most else (rows[:, :0], rows[:, :0].long())
    own = rows.gather(1, torch.tensor([[chosen[row]] for row in wanted], device=rows.device))[:, 0].tolist()
    values, ids = values.tolist(), ids.tolist()
    found: dict[int, TokenLogprobs] = {}
    for at, row in enumerate(wanted):
        count = sequences[row].request.sampling.logprobs or 0
        top = tuple(zip(ids[at][:count], values[at][:count], strict=True))
        found[row] = TokenLogprobs(own[at], top)
    return found


def _with_penalties(logits: Tensor, sequences: Rows[Sequence]) -> Tensor:
    """Logits after repetition, frequency and presence penalties, bias, and the ban on ending too early."""
    adjusted = logits
    for row, seq in enumerate(sequences):
        options = seq.request.sampling
        banned = seq.ends if seq.produced < options.min_tokens else ()
        if not (
            banned
            or options.logit_bias
            or options.repetition_penalty != 1
            or options.frequency_penalty
            or options.presence_penalty
        ):
            continue
        if adjusted is logits:
            adjusted = logits.clone()
        _penalise(adjusted[row], seq, options)
        if banned:
            adjusted[row, list(banned)] = -torch.inf
    return adjusted


def _penalise(row: Tensor, seq: Sequence, options: SamplingOptions) -> None:
    if options.repetition_penalty != 1:
        seen = torch.tensor(sorted(set(seq.tokens)), device=row.device)
        values = row[seen]
        row[seen] = torch.where(
            values > 0, values / options.repetition_penalty, values * options.repetition_penalty
        )
    if options.frequency_penalty or options.presence_penalty:
        answer = torch.tensor(seq.tokens[len(seq.request.prompt) :], dtype=torch.long, device=row.device)
        counts = torch.bincount(answer, minlength=row.shape[0]).to(row.dtype)
        row -= options.frequency_penalty * counts + options.presence_penalty * (counts > 0)
    for token, bias in options.logit_bias.items():
        row[token] += bias
