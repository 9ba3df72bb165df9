"""The hardware gate against the cases with known answers, and inspection of models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny import save_pair

from lifeboat_kv.errors import HardwareError, ModelError, UsageError
from lifeboat_kv.host.amd_smi import amd_smi_devices
from lifeboat_kv.host.devices import NO_DEVICE, choose_device, host_verdict, verdict_on
from lifeboat_kv.models.facts import inspect_model
from lifeboat_kv.models.pair_check import causes_against

CASES = [
    ("nvidia", "9.0", "allowed"),
    ("nvidia", "8.0", "allowed"),
    ("nvidia", "12.0", "allowed"),
    ("nvidia", "7.5", "refused"),
    ("nvidia", None, "refused"),
    ("amd", "gfx90a", "allowed"),
    ("amd", "gfx942", "allowed"),
    ("amd", "gfx1100", "refused"),
    ("amd", "gfx906", "refused"),
    ("none", None, "none"),
]


@pytest.mark.parametrize(("vendor", "capability", "verdict"), CASES)
def test_verdicts(vendor: str, capability: str | None, verdict: str) -> None:
    assert verdict_on({"vendor": vendor, "name": "x", "capability": capability}) == verdict


def test_auto_never_chooses_the_cpu() -> None:
    with pytest.raises(HardwareError) as raised:
        choose_device("auto", [NO_DEVICE])
    assert raised.value.code == "NO_ACCELERATOR" and raised.value.exit_code == 4
    assert choose_device("cpu", [NO_DEVICE]) == "cpu"


def test_a_refused_gpu_is_named_and_cpu_does_not_go_round_it() -> None:
    old = {"vendor": "nvidia", "name": "Tesla T4", "capability": "7.5"}
    for wanted in ("auto", "cuda", "cpu"):
        with pytest.raises(HardwareError) as raised:
            choose_device(wanted, [old])
        assert "Tesla T4" in raised.value.message and raised.value.exit_code == 4
    with pytest.raises(UsageError):
        choose_device("cpu", [{"vendor": "nvidia", "name": "H", "capability": "9.0"}])
    assert host_verdict([old, {"vendor": "nvidia", "name": "H", "capability": "9.0"}]) == "allowed"


def test_a_gpu_that_torch_cannot_use_is_said_with_the_remedy() -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this torch can use the GPU")
    with pytest.raises(HardwareError) as raised:
        choose_device("rocm", [{"vendor": "amd", "name": "MI300X", "capability": "gfx942"}])
    assert raised.value.code == "TORCH_WITHOUT_GPU" and "pip install" in raised.value.message


def test_amd_smi_answers_of_both_shapes_simulated() -> None:
    row = {"asic": {"market_name": "AMD Instinct MI300X", "target_graphics_version": "gfx942"}}
    for answer in ([row], {"gpu_data": [row]}):
        assert amd_smi_devices(answer)[0]["capability"] == "gfx942"


def test_inspection(tmp_path: Path) -> None:
    source, target = save_pair(tmp_path)
    facts, other = inspect_model(source), inspect_model(target)
    assert facts["num_hidden_layers"] == 2 and facts["k_norm"] is True
    assert facts["tokenizer"] == other["tokenizer"] and facts["weights_sha256"] != other["weights_sha256"]
    assert causes_against(facts, other) == []
    changed = json.loads((source / "tokenizer.json").read_text())
    (source / "tokenizer.json").write_text(json.dumps(changed, indent=4))
    assert inspect_model(source)["tokenizer"] == facts["tokenizer"]
    changed["model"]["vocab"]["w1"], changed["model"]["vocab"]["w2"] = 7, 6
    (source / "tokenizer.json").write_text(json.dumps(changed))
    assert causes_against(inspect_model(source), other) == ["tokenizer"]


def test_all_causes_are_listed() -> None:
    plain = {
        "model_type": "qwen3",
        "num_hidden_layers": 2,
        "hidden_size": 8,
        "tokenizer": "t",
        "vocab_size": 9,
        "num_key_value_heads": 2,
        "head_dim": 4,
        "rope_theta": 1.0,
        "rope_scaling": None,
    }
    odd = {
        **plain,
        "tokenizer": "u",
        "num_key_value_heads": 4,
        "head_dim": 8,
        "layer_types": ["full_attention", "sliding_attention"],
        "kv_lora_rank": 8,
        "rope_theta": None,
        "alibi": True,
        "rope_scaling": {"rope_type": "dynamic"},
    }
    wanted = ["tokenizer", "kv_heads", "head_dim", "not_full_attention", "mla", "no_rope", "dynamic_ntk"]
    assert causes_against(plain, odd) == wanted


def test_pickled_weights_are_never_read(tmp_path: Path) -> None:
    source, _ = save_pair(tmp_path)
    (source / "model.safetensors").rename(source / "pytorch_model.bin")
    with pytest.raises(ModelError) as raised:
        inspect_model(source)
    assert raised.value.code == "PICKLE_REFUSED"
