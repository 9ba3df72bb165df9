"""The lean forward pass computes what transformers computes; growth changes nothing."""

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from lifeboat_kv.family.architecture import SHAPES, LeanQwen3, Shape, config
from lifeboat_kv.family.grow import grow
from lifeboat_kv.family.tokenizer import VOCABULARY

TINY = Shape(layers=2, hidden=48, heads=4, kv_heads=2, head_dim=16, mlp=64)


def random_model(shape: Shape, seed: int) -> LeanQwen3:
    torch.manual_seed(seed)
    model = LeanQwen3(shape)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            torch.nn.init.normal_(parameter, std=0.1)
        else:
            torch.nn.init.uniform_(parameter, 0.5, 2.0)
    return model


@pytest.mark.parametrize("shape", [TINY, SHAPES["target"]])
@torch.no_grad()
def test_lean_equals_transformers(shape: Shape) -> None:
    lean = random_model(shape, 0)
    reference = Qwen3ForCausalLM(Qwen3Config(**config(shape))).float().eval()
    missing, unexpected = reference.load_state_dict(lean.state_dict(), strict=False)
    assert missing == ["lm_head.weight"] and not unexpected
    reference.tie_weights()
    ids = torch.randint(0, VOCABULARY, (2, 70))
    assert torch.allclose(lean(ids), reference(ids).logits, atol=2e-4)


@torch.no_grad()
def test_growth_preserves_the_function() -> None:
    pilot = random_model(SHAPES["pilot"], 1)
    target = grow(pilot, SHAPES["target"])
    ids = torch.randint(0, VOCABULARY, (2, 70))
    assert torch.allclose(pilot(ids), target(ids), atol=2e-3)


def test_growth_refuses_another_cache_geometry() -> None:
    with pytest.raises(ValueError, match="KV heads"):
        grow(LeanQwen3(SHAPES["pilot"]), SHAPES["odd"])
