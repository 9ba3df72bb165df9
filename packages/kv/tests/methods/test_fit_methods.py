"""All methods from one pass: each maps a model onto itself, and many passes give the same maps as one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from tiny import tiny_model

from lifeboat_kv.corpora import Sequence
from lifeboat_kv.errors import NumericsError, UsageError
from lifeboat_kv.fit.ends import constant_head, norm_weights
from lifeboat_kv.fit.layers import mapper_from
from lifeboat_kv.fit.several_methods import Fits, PairShape, fit_methods
from lifeboat_kv.mapper.artifact import read_mapper, write_mapper
from lifeboat_kv.mapper.form import Mapper
from lifeboat_kv.methods import METHODS, method_named
from lifeboat_kv.models.grouped_attention import use_grouped_attention
from lifeboat_kv.models.side import Side
from lifeboat_kv.moments.accumulate import Gathered, Wanted, accumulate
from lifeboat_kv.moments.passes import Pass, Widths
from lifeboat_kv.rotation.rope import Rope
from lifeboat_kv.score.arms import Rivals
from lifeboat_kv.score.run import Probing, score_split

HEAD = (0, 2)
ALL = list(METHODS.values())
WEIGHTINGS = tuple(dict.fromkeys(m.rows for m in ALL))


@dataclass(frozen=True)
class Pair:
    """Two models with their texts."""

    source: Side
    target: Side
    shape: PairShape
    texts: dict[str, list[Sequence]]

    def gather(self, split: str, wanted: Wanted, batch_tokens: int = 700) -> Gathered:
        return accumulate(
            self.texts[split],
            self.source,
            self.target,
            Widths(self.shape.source_layers, 32, self.shape.target_layers, 32),
            wanted,
            exact=lambda text: sum(1 for _ in HEAD),
            stride=2,
            seed=3,
            batch_tokens=batch_tokens,
            device="cpu",
        )

    def fit(self, passes: list[Pass], k: int = 2, **changed: Any) -> Fits:
        return fit_methods(self.gather, passes, ALL, METHODS["ridge"], self.shape, k, **changed)

    def whole(self) -> list[Pass]:
        return [Pass(("k", "v"), tuple(range(self.shape.target_layers)), WEIGHTINGS)]


def texts(count: int, seed: int) -> list[Sequence]:
    chance = random.Random(seed)
    lengths = [chance.randrange(64, 90) for _ in range(count)]
    rows = [tuple([*HEAD, *(chance.randrange(4, 94) for _ in range(n))]) for n in lengths]
    return [Sequence(f"{seed}-{i}", "a", row) for i, row in enumerate(rows)]


def pair_of(source: Any, target: Any) -> Pair:
    for model in (source, target):
        use_grouped_attention(model)
    sides = [Side(model, Rope.from_model(model)) for model in (source, target)]
    counts = [model.config.num_hidden_layers for model in (source, target)]
    shape = PairShape(counts[0], 2, counts[1], 2, True)
    return Pair(*sides, shape, {"fit": texts(40, 1), "select": texts(12, 2)})


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def unlike() -> Pair:
    return pair_of(tiny_model(3, 32, 1), tiny_model(4, 48, 2))


@pytest.fixture(scope="module")
def fitted(unlike: Pair) -> Fits:
    return unlike.fit(unlike.whole())


def divided(layers: int) -> list[list[Pass]]:
    by_layer = [Pass((p,), (layer,), WEIGHTINGS) for p in "kv" for layer in range(layers)]
    by_weighting = [Pass(("k", "v"), tuple(range(layers)), (w,)) for w in WEIGHTINGS]
    halves = [Pass(("k", "v"), (0, 1), WEIGHTINGS), Pass(("k", "v"), tuple(range(2, layers)), WEIGHTINGS)]
    return [by_layer, by_weighting, halves]


@pytest.mark.parametrize("way", range(3))
def test_many_passes_give_the_maps_of_one(unlike: Pair, fitted: Fits, way: int) -> None:
    again = unlike.fit(divided(4)[way])
    assert list(again.by_method) == list(fitted.by_method)
    pairs = [(fitted.by_method[name], again.by_method[name]) for name in fitted.by_method]
    for one, other in [*pairs, (fitted.own, again.own)]:
        for a, b in zip([*one.keys, *one.values], [*other.keys, *other.values], strict=True):
            assert (a.layers, a.heads, a.relative_lambda) == (b.layers, b.heads, b.relative_lambda)
            torch.testing.assert_close(a.weights, b.weights, rtol=1e-5, atol=1e-6)
            torch.testing.assert_close(a.bias, b.bias, rtol=1e-5, atol=1e-6)
            assert a.r2 == pytest.approx(b.r2, abs=1e-8)


def test_the_batch_changes_nothing_but_rounding(unlike: Pair, fitted: Fits) -> None:
    def gather(split: str, wanted: Wanted) -> Gathered:
        return unlike.gather(split, wanted, batch_tokens=200)

    other = fit_methods(gather, unlike.whole(), [METHODS["ridge"]], None, unlike.shape, 2)
    for a, b in zip(fitted.by_method["ridge"].keys, other.by_method["ridge"].keys, strict=True):
        assert a.layers == b.layers
        torch.testing.assert_close(a.weights, b.weights, rtol=1e-3, atol=1e-4)


def test_methods_have_the_form_they_name(unlike: Pair, fitted: Fits, tmp_path) -> None:
    facts = [{"num_hidden_layers": n, "num_key_value_heads": 2, "head_dim": 16} for n in (3, 4)]
    gammas = norm_weights(unlike.target.model)
    head = constant_head(unlike.target.model, unlike.target.rope, HEAD)
    for method in ALL:
        mapper = mapper_from(fitted.by_method[method.name], method, *facts, gammas, head)
        read = read_mapper(tmp_path / write_mapper(tmp_path, mapper, {}))
        assert read.method == method.name
        for layer in read.layers:
            assert (layer.heads_k is not None) == method.head_local == (layer.heads_v is not None)
            assert (layer.gamma is not None) == (method.ending is not None)
            assert method.ending in (None, layer.ending)
        assert (read.head is not None) == (method.name != "ridge") == method.constant_head


def test_weightings_and_pre_norm_targets_are_different_fits(fitted: Fits) -> None:
    keys = {name: fit.keys[1].weights for name, fit in fitted.by_method.items()}
    assert torch.equal(keys["ridge"], keys["renorm"])
    for other in ("attention", "renorm-first", "prenorm", "head-local"):
        assert keys["ridge"].shape != keys[other].shape or not torch.equal(keys["ridge"], keys[other])
    values = {name: fit.values[1].weights for name, fit in fitted.by_method.items()}
    assert torch.equal(values["prenorm"], values["renorm"])


def test_every_method_maps_a_model_onto_itself() -> None:
    model = tiny_model(3, 32, 5)
    pair = pair_of(model, model)
    fits = pair.fit(pair.whole(), k=3)
    facts = {"num_hidden_layers": 3, "num_key_value_heads": 2, "head_dim": 16}
    head = constant_head(model, pair.target.rope, HEAD)
    mappers: dict[str, Mapper] = {
        m.name: mapper_from(fits.by_method[m.name], m, facts, facts, norm_weights(model), head) for m in ALL
    }
    rope = pair.target.rope
    score = score_split(
        Probing("select", longest=96, beside=False),
        pair.texts["select"],
        Rivals(mappers["ridge"], None, None, rope, rope, others=mappers),
        pair.source,
        pair.target,
        frozenset(),
        tuple(mappers),
        group_tokens=2000,
        device="cpu",
        progress=lambda done: None,
    )
    kept = {name: score.tally.retention(name)["value"] for name in mappers}
    for name, value in kept.items():
        assert value >= (0.9 if METHODS[name].ending == "k_norm" else 0.98), kept
    for name in ("head-local", "head-local-renorm"):
        own = [dict(zip(p.layers, p.heads, strict=True))[i] for i, p in enumerate(fits.by_method[name].keys)]
        assert own == [(0, 1)] * 3


def test_k_beyond_the_source_is_named(unlike: Pair) -> None:
    for k in (0, 4):
        with pytest.raises(UsageError) as raised:
            unlike.fit(unlike.whole(), k=k)
        assert raised.value.code == "K_TOO_LARGE" and "3 layers" in raised.value.message
    with pytest.raises(UsageError) as raised:
        method_named("magic")
    assert raised.value.code == "UNKNOWN_METHOD" and "head-local" in raised.value.message
    assert method_named("default").name in METHODS


def test_a_model_that_computes_no_numbers_is_refused(unlike: Pair) -> None:
    broken = tiny_model(4, 48, 2)
    broken.model.layers[2].self_attn.v_proj.weight[0, 0] = float("inf")
    pair = pair_of(unlike.source.model, broken)
    with pytest.raises(NumericsError) as raised:
        pair.fit(pair.whole())
    assert raised.value.code == "NON_FINITE_STATISTICS" and raised.value.exit_code == 1


def test_progress_ends_in_the_last_pass(unlike: Pair) -> None:
    told: list[tuple[int, int, bool]] = []

    def note(done: int, total: int, last: bool) -> None:
        told.append((done, total, last))

    tell: Callable[[int, int, bool], None] = note
    fit_methods(unlike.gather, divided(4)[2], [METHODS["ridge"]], METHODS["ridge"], unlike.shape, 2, tell)
    assert [done for done, *_ in told] == list(range(1, 17)) and all(total == 16 for _, total, _ in told)
    assert [last for *_, last in told] == [False] * 8 + [True] * 8
