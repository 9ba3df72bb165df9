"""The transferred cache as something that scores and answers token sequences; nothing of the harness here.

The path is the served one: the whole context is the source's prefill, its rows but the exact tail go
through the mapper (constant head, target's rotation, rounding to the cache's dtype), and the target
computes the tail and all that follows on top. Without a mapper the model reads the context itself and is
cut at the same place, so that both differ by the transferred rows alone and not by ways of adding floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from ..mapper.form import Mapper
from ..mapper.tail import tail_length
from ..models.cache import LayerKV, build_cache
from ..models.side import Side
from ..moments.capture import body, prefill

Tokens = tuple[int, ...]

# Logits held at a time: 256 MiB in float32.
_LOGITS_TOGETHER = 1 << 26
_TOGETHER = 32


def mapped_rows(context: Sequence[int]) -> int:
    """Rows of a context that come through the mapper; the target computes the others itself."""
    return len(context) - tail_length(len(context))


@dataclass(frozen=True)
class HandOver:
    """`target` continues contexts that `source` has read; with neither source nor mapper, its own."""

    target: Side
    source: Side | None = None
    mapper: Mapper | None = None
    batch_tokens: int = 8192

    @torch.inference_mode()
    def loglikelihoods(
        self, pairs: Sequence[tuple[Tokens, Tokens]], answered: Callable[[int], None] = lambda _: None
    ) -> list[tuple[float, bool]]:
        """(sum of the continuation's log-likelihoods in nats, whether each token is the argmax) a pair.

        `pairs` of (context, continuation) tokens, neither empty. A context that several pairs share is
        read and mapped once. `answered` is told how many pairs are done since it was last called.
        """
        by_context: dict[Tokens, list[int]] = {}
        for index, (context, _) in enumerate(pairs):
            by_context.setdefault(context, []).append(index)
        found: list[tuple[float, bool]] = [(0.0, False)] * len(pairs)
        for contexts in self._groups(list(by_context)):
            prefixes = self.prefixes(contexts)
            members = [(row, index) for row, c in enumerate(contexts) for index in by_context[c]]
            for part in self._parts(members, pairs):
                scored = self._score([prefixes[row] for row, _ in part], [pairs[index] for _, index in part])
                for (_, index), result in zip(part, scored, strict=True):
                    found[index] = result
                answered(len(part))
        return found

    @torch.inference_mode()
    def generate(
        self,
        contexts: Sequence[Tokens],
        budgets: Sequence[int],
        ended: Callable[[int, list[int]], bool],
        answered: Callable[[int], None] = lambda _: None,
    ) -> list[list[int]]:
        """Greedy tokens after each context, the ending one included, at most `budgets[i]` of them.

        `ended(i, tokens)` says whether answer i is complete.
        """
        found: list[list[int]] = [[] for _ in contexts]
        order = sorted(range(len(contexts)), key=lambda i: (-len(contexts[i]), i))
        for at in self._groups([contexts[i] for i in order], unique=False):
            members, order = order[: len(at)], order[len(at) :]
            tails = [list(c[mapped_rows(c) :]) for c in at]
            run = _Run.start(self.target.model, self.prefixes(at))
            said = run.feed(tails)
            open_rows = list(range(len(members)))
            while open_rows:
                kept = []
                for place, row in enumerate(open_rows):
                    index = members[row]
                    found[index].append(said[place])
                    if len(found[index]) < budgets[index] and not ended(index, found[index]):
                        kept.append(place)
                answered(len(open_rows) - len(kept))
                if not kept:
                    break
                if len(kept) < len(open_rows):
                    run.keep(kept)
                open_rows = [open_rows[place] for place in kept]
                said = run.feed([[said[place]] for place in kept])
        return found

    def prefixes(self, contexts: Sequence[Tokens]) -> list[list[LayerKV]]:
        """The target's cache [kv_heads, rows, d] by layer for each context, `mapped_rows` of them."""
        reader = self.target if self.mapper is None else self.source
        if reader is None:
            raise ValueError("a mapper needs the model that its rows come from")
        longest = max(len(c) for c in contexts)
        ids = torch.zeros(len(contexts), longest, dtype=torch.long)
        for row, context in enumerate(contexts):
            ids[row, : len(context)] = torch.tensor(context)
        layers, _ = prefill(reader.model, ids.to(reader.model.device))
        return [self._carry(layers, row, context) for row, context in enumerate(contexts)]

    def _carry(self, layers: list[LayerKV], row: int, context: Tokens) -> list[LayerKV]:
        rows = mapped_rows(context)
        own = [(k[row, :, :rows], v[row, :, :rows]) for k, v in layers]
        if self.mapper is None or rows == 0:
            return own if self.mapper is None else self._no_rows()
        moved = self.mapper.transfer(
            [(k.float(), v.float()) for k, v in own],
            torch.arange(rows),
            self.source.rope,
            self.target.rope,
            token_ids=context[:rows],
        )
        dtype = self.target.model.dtype
        return [(k.to(dtype), v.to(dtype)) for k, v in moved]

    def _no_rows(self) -> list[LayerKV]:
        facts, model = self.mapper.target, self.target.model
        shape = (int(facts["num_key_value_heads"]), 0, int(facts["head_dim"]))
        empty = torch.zeros(shape, dtype=model.dtype, device=model.device)
        return [(empty, empty)] * int(facts["num_hidden_layers"])

    def _score(
        self, prefixes: list[list[LayerKV]], pairs: list[tuple[Tokens, Tokens]]
    ) -> list[tuple[float, bool]]:
        feeds = [[*context[mapped_rows(context) :], *wanted[:-1]] for context, wanted in pairs]
        run = _Run.start(self.target.model, prefixes)
        hidden = run.hidden(feeds)
        counts = [len(wanted) for _, wanted in pairs]
        picked = [hidden[i, len(f) - n : len(f)] for i, (f, n) in enumerate(zip(feeds, counts, strict=True))]
        log = self.target.model.lm_head(torch.cat(picked)).float().log_softmax(dim=-1)
        wanted = torch.tensor([t for _, tokens in pairs for t in tokens], device=log.device)
        told = log.gather(1, wanted[:, None])[:, 0].double().split(counts)
        same = (log.argmax(dim=-1) == wanted).split(counts)
        return [(float(t.sum()), bool(s.all())) for t, s in zip(told, same, strict=True)]

    def _groups(self, contexts: list[Tokens], unique: bool = True) -> Iterator[list[Tokens]]:
        """Contexts of similar length, longest first, at most `batch_tokens` with their padding."""
        ordered = sorted(contexts, key=lambda c: (-len(c), c)) if unique else contexts
        group: list[Tokens] = []
        for context in ordered:
            full = group and len(group[0]) * (len(group) + 1) > self.batch_tokens
            if full or len(group) == _TOGETHER:
                yield group
                group = []
            group.append(context)
        if group:
            yield group

    def _parts(
        self, members: list[tuple[int, int]], pairs: Sequence[tuple[Tokens, Tokens]]
    ) -> Iterator[list[tuple[int, int]]]:
        vocabulary = int(self.target.model.config.vocab_size)
        part: list[tuple[int, int]] = []
        logits = 0
        for member in members:
            more = len(pairs[member[1]][1]) * vocabulary
            if part and (len(part) == _TOGETHER or logits + more > _LOGITS_TOGETHER):
                yield part
                part, logits = [], 0
            part.append(member)
            logits += more
        if part:
            yield part


@dataclass
class _Run:
    """A batch on top of prefixes of different lengths: caches padded on the left, tokens on the right."""

    model: Any
    cache: DynamicCache
    lengths: Tensor
    mask: Tensor

    @classmethod
    def start(cls, model: Any, prefixes: list[list[LayerKV]]) -> _Run:
        counts = [prefix[0][0].shape[-2] for prefix in prefixes]
        longest = max(counts)
        layers = []
        for index in range(len(prefixes[0])):
            sides = []
            for side in (0, 1):
                rows = [prefix[index][side] for prefix in prefixes]
                heads, _, d = rows[0].shape
                padded = rows[0].new_zeros((len(rows), heads, longest, d))
                for place, (row, count) in enumerate(zip(rows, counts, strict=True)):
                    padded[place, :, longest - count :] = row
                sides.append(padded)
            layers.append((sides[0], sides[1]))
        lengths = torch.tensor(counts, device=layers[0][0].device)
        mask = torch.arange(longest, device=lengths.device)[None] >= longest - lengths[:, None]
        return cls(model, build_cache(layers) if longest else DynamicCache(), lengths, mask.long())

    def hidden(self, feeds: list[list[int]]) -> Tensor:
        """Appends tokens, padded on the right; hidden states [B, n, hidden]."""
        longest = max(map(len, feeds))
        ids = torch.zeros(len(feeds), longest, dtype=torch.long, device=self.mask.device)
        real = torch.zeros_like(ids)
        for row, feed in enumerate(feeds):
            ids[row, : len(feed)] = torch.tensor(feed)
            real[row, : len(feed)] = 1
        self.mask = torch.cat((self.mask, real), dim=1)
        positions = self.lengths[:, None] + torch.arange(longest, device=ids.device)[None]
        self.lengths = self.lengths + real.sum(dim=1)
        out = body(self.model)(
            input_ids=ids,
            attention_mask=self.mask,
            position_ids=positions,
            past_key_values=self.cache,
            use_cache=True,
        )
        return out.last_hidden_state

    def feed(self, feeds: list[list[int]]) -> list[int]:
        """Appends tokens and gives each item's most likely next one."""
        hidden = self.hidden(feeds)
        last = torch.stack([hidden[row, len(feed) - 1] for row, feed in enumerate(feeds)])
        return self.model.lm_head(last).argmax(dim=-1).tolist()

    def keep(self, kept: list[int]) -> None:
        """Goes on with the items at the places `kept` only."""
        self.cache.batch_select_indices(torch.tensor(kept, device=self.mask.device))
        self.lengths, self.mask = self.lengths[kept], self.mask[kept]
