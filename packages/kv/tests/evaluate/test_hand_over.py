"""The hand-over against plain computations: one context at a time, and a float64 softmax over whole texts."""

from __future__ import annotations

import random

import pytest
import torch
from tiny import VOCABULARY, tiny_model

from lifeboat_kv.evaluate.hand_over import HandOver, mapped_rows
from lifeboat_kv.mapper.form import ConstantHead, LayerMap, Mapper
from lifeboat_kv.measure.decode import decode
from lifeboat_kv.models.cache import build_cache
from lifeboat_kv.models.side import Side
from lifeboat_kv.moments.capture import prefill
from lifeboat_kv.rotation.rope import Rope

ENDS = frozenset({1})
WIDTH, HEADS, DIM = 32, 2, 16


def facts(layers: int) -> dict:
    return {"num_hidden_layers": layers, "num_key_value_heads": HEADS, "head_dim": DIM}


@pytest.fixture(scope="module")
def pair():
    source, target = tiny_model(2, 32, 1), tiny_model(3, 48, 2)
    return Side(source, Rope.from_model(source)), Side(target, Rope.from_model(target))


@pytest.fixture(scope="module")
def mapper():
    torch.manual_seed(0)
    layers = tuple(
        LayerMap(
            (0, 1),
            (1,),
            torch.randn(2 * WIDTH, WIDTH) * 0.2,
            torch.randn(WIDTH) * 0.1,
            torch.randn(WIDTH, WIDTH) * 0.2,
            torch.randn(WIDTH) * 0.1,
        )
        for _ in range(3)
    )
    head = ConstantHead((0, 2), torch.randn(3, HEADS, 2, DIM), torch.randn(3, HEADS, 2, DIM))
    return Mapper("ridge", facts(2), facts(3), layers, head)


def texts(lengths, seed=0, begin=(0, 2)) -> list[tuple[int, ...]]:
    chance = random.Random(seed)
    return [(*begin, *(chance.randrange(4, VOCABULARY) for _ in range(n)))[:n] for n in lengths]


@torch.no_grad()
def own_likelihood(model, context, wanted) -> tuple[float, bool]:
    logits = model(input_ids=torch.tensor([[*context, *wanted]])).logits[0].double()
    log = logits.log_softmax(-1)[len(context) - 1 : -1]
    picked = log.gather(1, torch.tensor(wanted)[:, None])
    return float(picked.sum()), log.argmax(-1).tolist() == list(wanted)


@torch.no_grad()
def moved_likelihood(source, target, mapper, context, wanted) -> float:
    """Token by token on a cache that `transfer` gave, as the engine would: nothing batched."""
    rows = mapped_rows(context)
    kv, _ = prefill(source.model, torch.tensor([context]))
    kept = [(k[0, :, :rows], v[0, :, :rows]) for k, v in kv]
    moved = mapper.transfer(
        kept, torch.arange(rows), source.rope, target.rope, token_ids=list(context[:rows])
    )
    cache, total, feed = build_cache(moved), 0.0, list(context[rows:])
    for token in wanted:
        out = target.model(input_ids=torch.tensor([feed]), past_key_values=cache, use_cache=True)
        total += float(out.logits[0, -1].double().log_softmax(-1)[token])
        feed = [token]
    return total


def test_native_likelihoods_are_those_of_the_whole_text(pair):
    source, target = pair
    contexts = texts((1, 2, 19, 21, 40, 63))
    pairs = [(c, t) for c in contexts for t in texts((1, 5, 9), seed=len(c), begin=())]
    for side in (source, target):
        found = HandOver(side, batch_tokens=128).loglikelihoods(pairs)
        for (value, greedy), (context, wanted) in zip(found, pairs, strict=True):
            expected, same = own_likelihood(side.model, context, wanted)
            assert value == pytest.approx(expected, abs=2e-4)
            assert greedy == same


def test_transferred_likelihoods_are_those_of_one_transfer_at_a_time(pair, mapper):
    source, target = pair
    pairs = [(c, t) for c in texts((24, 25, 60, 90)) for t in texts((1, 6), seed=len(c), begin=())]
    found = HandOver(target, source, mapper, batch_tokens=200).loglikelihoods(pairs)
    for (value, _), (context, wanted) in zip(found, pairs, strict=True):
        assert value == pytest.approx(moved_likelihood(source, target, mapper, context, wanted), abs=2e-4)
    natively = HandOver(target).loglikelihoods(pairs)
    assert max(abs(a - b) for (a, _), (b, _) in zip(found, natively, strict=True)) > 0.1


def test_a_greedy_continuation_is_called_greedy_and_a_changed_one_is_not(pair, mapper):
    source, target = pair
    (context,) = texts((50,))
    said = decode(list(context), target.model, frozenset(), 6, source=source.model, mapper=mapper)["tokens"]
    changed = [*said[:-1], (said[-1] + 1) % VOCABULARY]
    found = HandOver(target, source, mapper).loglikelihoods(
        [(context, tuple(said)), (context, tuple(changed))]
    )
    assert [greedy for _, greedy in found] == [True, False]


@pytest.mark.parametrize("moved", [True, False])
def test_answers_are_those_of_the_reference_decoder(pair, mapper, moved):
    source, target = pair
    contexts = texts((1, 3, 22, 22, 47, 80, 81), seed=3)
    budgets = [12, 5, 12, 12, 1, 12, 9]
    hand_over = HandOver(target, source, mapper, 128) if moved else HandOver(target, batch_tokens=128)
    done: list[int] = []
    found = hand_over.generate(contexts, budgets, lambda _, tokens: tokens[-1] in ENDS, done.append)
    assert sum(done) == len(contexts)
    for context, budget, answer in zip(contexts, budgets, found, strict=True):
        given = {"source": source.model, "mapper": mapper} if moved else {}
        assert answer == decode(list(context), target.model, ENDS, budget, **given)["tokens"]


def test_an_answer_ends_where_its_own_rule_says(pair):
    contexts = texts((30, 31, 32), seed=4)
    found = HandOver(pair[1]).generate(contexts, [20] * 3, lambda i, tokens: len(tokens) == 3 + i)
    assert [len(answer) for answer in found] == [3, 4, 5]


def test_a_shared_context_is_read_once(pair, mapper, monkeypatch):
    source, target = pair
    hand_over = HandOver(target, source, mapper)
    (context,) = texts((40,))
    seen = []
    original = HandOver.prefixes
    monkeypatch.setattr(
        HandOver, "prefixes", lambda self, contexts: seen.extend(contexts) or original(self, contexts)
    )
    hand_over.loglikelihoods([(context, t) for t in texts((2, 3, 4, 5), seed=9, begin=())])
    assert seen == [context]


def test_a_mapper_without_its_source_is_refused(pair, mapper):
    with pytest.raises(ValueError, match="rows come from"):
        HandOver(pair[1], None, mapper).loglikelihoods([((5, 6), (7,))])
