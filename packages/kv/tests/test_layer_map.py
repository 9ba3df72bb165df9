"""Layer maps of both forms, and both endings, against plain float64 sums; and through the artifact."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeboat_kv.errors import ArtifactError
from lifeboat_kv.mapper.artifact import read_mapper, write_mapper
from lifeboat_kv.mapper.form import K_NORM, RENORM, LayerMap, Mapper

SOURCE = {"num_hidden_layers": 3, "num_key_value_heads": 2, "head_dim": 4, "weights_sha256": "a" * 64}
TARGET = {
    "num_hidden_layers": 2,
    "num_key_value_heads": 3,
    "head_dim": 6,
    "rms_norm_eps": 1e-3,
    "weights_sha256": "b" * 64,
}
HEADS_K = ((1, 0, 1), (0, 0, 1))
HEADS_V = ((1, 1, 0),)


def head_local(ending: str = RENORM, gamma: bool = True) -> Mapper:
    torch.manual_seed(1)

    def layer() -> LayerMap:
        weights = torch.randn(3, 8, 6), torch.randn(18), torch.randn(3, 4, 6), torch.randn(18)
        norm = torch.rand(6) + 0.1 if gamma else None
        return LayerMap((0, 2), (1,), *weights, norm, HEADS_K, HEADS_V, ending)

    return Mapper("head-local", SOURCE, TARGET, (layer(), layer()))


def source_rows(seed: int) -> list[torch.Tensor]:
    chance = torch.Generator().manual_seed(seed)
    return [torch.randn(2, 2, 5, 4, generator=chance) for _ in range(3)]


@given(seed=st.integers(0, 10_000), ending=st.sampled_from([RENORM, K_NORM, None]))
@settings(max_examples=20, deadline=None)
def test_a_target_head_reads_its_own_source_heads(seed: int, ending: str | None) -> None:
    mapper = head_local(ending or RENORM, gamma=ending is not None)
    keys, values = source_rows(seed), source_rows(seed + 1)
    k, v = mapper.map_layer(1, keys, values)
    layer = mapper.layers[1]
    for head in range(3):
        parts = [keys[s][:, HEADS_K[i][head]].double().numpy() for i, s in enumerate(layer.layers_k)]
        bias = layer.bk[head * 6 : head * 6 + 6].double().numpy()
        wanted = np.concatenate(parts, -1) @ layer.wk[head].double().numpy() + bias
        if ending is not None:
            gamma = layer.gamma.double().numpy()
            raw = wanted / gamma if ending == RENORM else wanted
            eps = 0.0 if ending == RENORM else TARGET["rms_norm_eps"]
            wanted = gamma * raw / np.sqrt((raw**2).mean(-1, keepdims=True) + eps)
        np.testing.assert_allclose(k[:, head].numpy(), wanted, rtol=2e-4, atol=2e-5)
        part = values[1][:, HEADS_V[0][head]].double().numpy()
        wanted = part @ layer.wv[head].double().numpy() + layer.bv[head * 6 : head * 6 + 6].double().numpy()
        np.testing.assert_allclose(v[:, head].numpy(), wanted, rtol=2e-4, atol=2e-5)


def test_a_head_local_map_is_the_full_one_with_zeros() -> None:
    """The same numbers laid into a full-head matrix, all other entries zero, give the same keys."""
    local = head_local(gamma=False)
    m = local.layers[0]
    wk, wv = torch.zeros(2 * 2 * 4, 18), torch.zeros(2 * 4, 18)
    for head in range(3):
        for i in range(2):
            row = (i * 2 + HEADS_K[i][head]) * 4
            wk[row : row + 4, head * 6 : head * 6 + 6] = m.wk[head, i * 4 : i * 4 + 4]
        row = HEADS_V[0][head] * 4
        wv[row : row + 4, head * 6 : head * 6 + 6] = m.wv[head]
    full = Mapper("x", SOURCE, TARGET, (LayerMap(m.layers_k, m.layers_v, wk, m.bk, wv, m.bv),))
    rows = source_rows(3), source_rows(4)
    for ours, theirs in zip(local.map_layer(0, *rows), full.map_layer(0, *rows), strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("ending", [RENORM, K_NORM])
def test_both_forms_go_through_the_artifact(tmp_path: Path, ending: str) -> None:
    written = head_local(ending).to(dtype=torch.bfloat16)
    read = read_mapper(tmp_path / write_mapper(tmp_path, written, {}))
    for a, b in zip(read.layers, written.layers, strict=True):
        assert (a.layers_k, a.layers_v, a.heads_k, a.heads_v, a.ending) == (
            (0, 2),
            (1,),
            HEADS_K,
            HEADS_V,
            ending,
        )
        assert all(torch.equal(getattr(a, n), getattr(b, n)) for n in ("wk", "bk", "wv", "bv", "gamma"))
    assert read.parameters == 2 * (3 * 8 * 6 + 18 + 3 * 4 * 6 + 18)


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: layer["heads"]["k"].pop(),
        lambda layer: layer["heads"]["k"][0].pop(),
        lambda layer: layer["heads"]["v"][0].__setitem__(0, 2),
        lambda layer: layer["heads"]["v"][0].__setitem__(0, -1),
        lambda layer: layer.pop("heads"),
        lambda layer: layer.update(ending="k_norm"),
        lambda layer: layer.update(ending="twice"),
        lambda layer: layer.update(heads=[1]),
    ],
)
def test_lies_about_heads_and_endings_are_refused(tmp_path: Path, change) -> None:
    file = tmp_path / write_mapper(tmp_path, head_local(), {}) / "mapper.safetensors"
    data = file.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    manifest = json.loads(header["__metadata__"]["manifest"])
    change(manifest["layers"][0])
    header["__metadata__"]["manifest"] = json.dumps(manifest)
    text = json.dumps(header).encode()
    lying = tmp_path / "lying.safetensors"
    lying.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])
    with pytest.raises(ArtifactError) as raised:
        read_mapper(lying)
    assert raised.value.code in ("SHAPE", "SCHEMA")
