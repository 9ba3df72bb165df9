"""The chunked inner loop of a transfer against the plain formula in float64, over shapes and layouts."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lifeboat_kv.mapper import mapping
from lifeboat_kv.mapper.form import K_NORM, RENORM, ConstantHead, LayerMap, Mapper
from lifeboat_kv.rotation.rope import HALF_SPLIT, INTERLEAVED, Rope

EPS = 1e-3


def rope(rotary: int, base: float, scaling: float, layout: str) -> Rope:
    """A rotation with the usual frequencies, its angles in float32 as a model's are."""
    steps = base ** -(torch.arange(0, rotary, 2, dtype=torch.float64) / rotary)

    def cos_sin(positions: Tensor) -> tuple[Tensor, Tensor]:
        angles = (positions[:, None].double() * steps).float()
        return angles.cos() * scaling, angles.sin() * scaling

    return Rope(cos_sin, rotary_dim=rotary, scaling=scaling, layout=layout)


def turned(k: Tensor, r: Rope, positions: Tensor, back: bool) -> Tensor:
    """The rotation of [..., T, d] as a product of complex numbers, float64."""
    cos, sin = r._read(positions)
    phase = torch.complex(cos.double(), sin.double())
    if back:
        phase = phase.conj() / r.scaling**2
    first, rest = k[..., : r.rotary_dim], k[..., r.rotary_dim :]
    if r.layout == HALF_SPLIT:
        a, b = first.chunk(2, dim=-1)
    else:
        a, b = first[..., 0::2], first[..., 1::2]
    z = torch.complex(a.contiguous(), b.contiguous()) * phase
    pairs = torch.cat((z.real, z.imag), -1) if r.layout == HALF_SPLIT else torch.view_as_real(z).flatten(-2)
    return torch.cat((pairs, rest), dim=-1)


def formula(
    mapper: Mapper,
    source: list[tuple[Tensor, Tensor]],
    at: Tensor,
    to: Tensor,
    ropes: tuple,
    tokens: list[int],
) -> list[tuple[Tensor, Tensor]]:
    """What `Mapper` documents, token by token and head by head, in float64."""
    content = [turned(k.double(), ropes[0], at, back=True) for k, _ in source]
    values = [v.double() for _, v in source]
    heads = mapper.target["num_key_value_heads"]
    result = []
    for index, m in enumerate(mapper.layers):
        parts = []
        for rows, layers, weight, bias, choice in (
            (content, m.layers_k, m.wk, m.bk, m.heads_k),
            (values, m.layers_v, m.wv, m.bv, m.heads_v),
        ):
            weight, bias = weight.double(), bias.double()
            d = len(bias) // heads
            made = []
            for head in range(heads):
                own = slice(head * d, head * d + d)
                if choice is None:
                    x = torch.cat(
                        [rows[s][..., h, :, :] for s in layers for h in range(rows[s].shape[-3])], -1
                    )
                    made.append(x @ weight[:, own] + bias[own])
                else:
                    x = torch.cat(
                        [rows[s][..., c[head], :, :] for s, c in zip(layers, choice, strict=True)], -1
                    )
                    made.append(x @ weight[head] + bias[own])
            parts.append(torch.stack(made, dim=-3))
        k, v = parts
        if m.gamma is not None:
            gamma = m.gamma.double()
            raw = k / gamma if m.ending == RENORM else k
            mean = raw.square().mean(-1, keepdim=True)
            k = gamma * raw / (mean if m.ending == RENORM else mean + EPS).sqrt()
        if mapper.head is not None:
            for row in range(mapper.head.match(tokens)):
                k[..., row, :], v[..., row, :] = mapper.head.k[index, :, row], mapper.head.v[index, :, row]
        result.append((turned(k, ropes[1], to, back=False), v))
    return result


@st.composite
def cases(draw: st.DrawFn):
    """A random mapper, source cache, positions and rotations."""
    pick = lambda low, high: draw(st.integers(low, high))  # noqa: E731
    chance = torch.Generator().manual_seed(pick(0, 100_000))

    def rand(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=chance)

    source = {"num_hidden_layers": pick(1, 5), "num_key_value_heads": pick(1, 3), "head_dim": 2 * pick(2, 4)}
    target = {"num_key_value_heads": pick(1, 4), "head_dim": 2 * pick(2, 4), "rms_norm_eps": EPS}
    count, hs, ds = source.values()
    ht, dt = target["num_key_value_heads"], target["head_dim"]
    kinds = draw(st.sampled_from(["full", "local", "mixed"]))

    def part(local: bool) -> tuple:
        chosen = draw(st.sets(st.integers(0, count - 1), min_size=1))
        layers = tuple(sorted(chosen))
        if not local:
            return layers, rand(len(layers) * hs * ds, ht * dt) / len(layers) ** 0.5, rand(ht * dt), None
        heads = tuple(tuple(pick(0, hs - 1) for _ in range(ht)) for _ in layers)
        return layers, rand(ht, len(layers) * ds, dt), rand(ht * dt), heads

    def layer(local: bool) -> LayerMap:
        (lk, wk, bk, hk), (lv, wv, bv, hv) = part(local), part(local)
        gamma = torch.rand(dt, generator=chance) * 3 + 0.05 if pick(0, 2) else None
        return LayerMap(lk, lv, wk, bk, wv, bv, gamma, hk, hv, draw(st.sampled_from([RENORM, K_NORM])))

    layers = tuple(layer(kinds == "local" or (kinds == "mixed" and i % 2 == 1)) for i in range(pick(1, 4)))
    head = None
    if pick(0, 1):
        n = pick(1, 6)
        head = ConstantHead(tuple(range(n)), rand(len(layers), ht, n, dt), rand(len(layers), ht, n, dt))
    tokens = pick(1, 13)
    batch = draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
    cache = [tuple(rand(*batch, hs, tokens, ds) for _ in range(2)) for _ in range(count)]
    positions = torch.arange(tokens) * pick(1, 9) + pick(0, 2000)
    moved = positions + pick(0, 1) * 17
    ropes = tuple(
        rope(
            2 * pick(1, d // 2),
            draw(st.sampled_from([100.0, 1e6])),
            draw(st.sampled_from([1.0, 1.3])),
            draw(st.sampled_from([HALF_SPLIT, INTERLEAVED])),
        )
        for d in (ds, dt)
    )
    ids = [i if i < pick(0, 9) else 99 for i in range(tokens)]
    return Mapper("any", source, target, layers, head), cache, positions, moved, ropes, ids


@given(case=cases(), chunk=st.integers(1, 9))
@settings(max_examples=120, deadline=None)
def test_a_transfer_is_the_formula(case: tuple, chunk: int) -> None:
    mapper, cache, at, to, ropes, ids = case
    wanted = formula(mapper, cache, at, to, ropes, ids)
    with patch.object(mapping, "CHUNK_ROWS", chunk):
        got = mapper.transfer(cache, at, *ropes, to, token_ids=ids)
    for ours, theirs in zip(got, wanted, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            assert (a.shape, a.dtype) == (b.shape, torch.float32)
            torch.testing.assert_close(a.double(), b, rtol=1e-4, atol=2e-5 * max(1.0, float(b.abs().max())))


@given(case=cases(), chunk=st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_buffers_of_the_caller_are_filled_whatever_their_strides(case: tuple, chunk: int) -> None:
    mapper, cache, at, to, ropes, ids = case
    wanted = mapper.transfer(cache, at, *ropes, to, token_ids=ids)
    room = [
        tuple(
            torch.full((*t.shape, 2), 7.0)[..., 0].transpose(-1, -2).contiguous().transpose(-1, -2)
            for t in one
        )
        for one in wanted
    ]
    with patch.object(mapping, "CHUNK_ROWS", chunk):
        got = mapper.transfer(cache, at, *ropes, to, token_ids=ids, out=room)
    for given_, ours, theirs in zip(room, got, wanted, strict=True):
        for r, a, b in zip(given_, ours, theirs, strict=True):
            assert r.data_ptr() == a.data_ptr()
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


@given(case=cases())
@settings(max_examples=30, deadline=None)
def test_one_layer_alone_is_the_same_without_rotation(case: tuple) -> None:
    mapper, cache, at, _, ropes, _ = case
    mapper = replace(mapper, head=None)
    moved = mapper.transfer(cache, at, *ropes)
    keys = [ropes[0].strip(k, at) for k, _ in cache]
    together = mapper.content(cache, at, ropes[0])
    for index, (k, v) in enumerate(moved):
        alone = mapper.map_layer(index, keys, [v for _, v in cache])
        torch.testing.assert_close(ropes[1].apply(alone[0], at), k, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(alone[1], v, rtol=1e-4, atol=1e-4)
        for ours, theirs in zip(together[index], alone, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


@given(case=cases())
@settings(max_examples=30, deadline=None)
def test_all_heads_at_once_is_head_by_head(case: tuple) -> None:
    """The form for GPUs, run here."""
    mapper, cache, at, _, ropes, _ = case

    def at_once(work, x, layers, weight, bias, choice):
        if choice is None:
            return plain(work, x, layers, weight, bias, choice)
        heads, d = len(choice[0]), weight.shape[-1]
        return mapping._by_head_at_once(
            x, layers, weight, bias, choice, weight.new_empty(heads, x.rows.shape[0], d)
        )

    wanted = mapper.transfer(cache, at, *ropes)
    plain = mapping._Work.product
    with patch.object(mapping._Work, "product", at_once):
        got = mapper.transfer(cache, at, *ropes)
    for ours, theirs in zip(got, wanted, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


@given(case=cases(), cache_dtype=st.sampled_from([torch.bfloat16, torch.float32]))
@settings(max_examples=30, deadline=None)
def test_bfloat16_maps_round_rows_and_products_only(case: tuple, cache_dtype: torch.dtype) -> None:
    """bf16 in, bf16 out, and in between no more error than rounding the features and the result costs."""
    mapper, cache, at, to, ropes, ids = case
    low = mapper.to(dtype=torch.bfloat16)
    cache = [(k.to(cache_dtype), v.to(cache_dtype)) for k, v in cache]
    got = low.transfer(cache, at, *ropes, to, token_ids=ids)
    wanted = formula(low, cache, at, to, ropes, ids)
    for layer, ours, theirs in zip(low.layers, got, wanted, strict=True):
        for name, a, b in zip("kv", ours, theirs, strict=True):
            assert a.dtype == torch.bfloat16
            if name == "v" or layer.gamma is None:
                size = sum(float(t.abs().max()) for t in (layer.wk, layer.wv)) * 30 + 5
                torch.testing.assert_close(a.double(), b, rtol=0.05, atol=0.02 * size)


@pytest.mark.parametrize("tokens", [3, 700, 5000])
def test_working_bytes_are_what_is_held(tokens: int) -> None:
    torch.manual_seed(0)
    facts = {"num_hidden_layers": 4, "num_key_value_heads": 2, "head_dim": 16}
    layers = tuple(
        LayerMap(
            (i, i + 1),
            (i,),
            torch.randn(64, 32),
            torch.zeros(32),
            torch.randn(32, 32),
            torch.zeros(32),
            torch.ones(16),
        )
        for i in range(3)
    )
    mapper = Mapper("any", facts, facts, layers)
    plan = mapper._plan_for((0, 1, 2), (2, 16))
    held = []
    empty = torch.empty

    def counted(*shape, **options):
        made = empty(*shape, **options)
        held.append(made.numel() * made.element_size())
        return made

    def counted_like(other, **options):
        return counted(other.shape, dtype=options.get("dtype", other.dtype))

    turn = rope(16, 1e4, 1.0, HALF_SPLIT)
    cache = [(torch.randn(2, tokens, 16), torch.randn(2, tokens, 16)) for _ in range(4)]
    with patch.object(torch, "empty", counted), patch.object(torch, "empty_like", counted_like):
        mapper.transfer(cache, torch.arange(tokens), turn, turn)
    assert sum(held) <= plan.working_bytes(tokens)
    assert plan.working_bytes(tokens) <= 1.5 * sum(held)
    assert plan.working_bytes(10**6) == plan.working_bytes(mapping.CHUNK_ROWS)
