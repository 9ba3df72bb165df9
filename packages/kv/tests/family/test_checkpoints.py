"""What the shipped checkpoints promise: sizes, context, and who can be paired with whom."""

import json
from pathlib import Path

from safetensors import safe_open

from lifeboat_kv.family.architecture import SHAPES
from lifeboat_kv.family.export import shape_of

MODELS = Path(__file__).parents[4] / "models"
NEEDED_CONTEXT = 32 * 512 + 256


def facts(name: str) -> dict:
    return json.loads((MODELS / name / "config.json").read_text())


def test_shapes_are_the_ones_in_the_code() -> None:
    for name, shape in SHAPES.items():
        assert shape_of(MODELS / name) == shape
        assert facts(name)["max_position_embeddings"] >= NEEDED_CONTEXT


def test_pilot_and_target_share_their_cache_geometry_and_the_odd_one_does_not() -> None:
    pilot, target, odd = (SHAPES[name] for name in ("pilot", "target", "odd"))
    assert (pilot.kv_heads, pilot.head_dim) == (target.kv_heads, target.head_dim)
    assert pilot.kv_heads >= 4 and pilot.head_dim in (32, 64, 128)
    assert target.layers > pilot.layers and target.hidden != pilot.hidden
    assert (odd.kv_heads, odd.head_dim) != (pilot.kv_heads, pilot.head_dim)


def test_weights_are_small_bfloat16_and_finite() -> None:
    assert sum(file.stat().st_size for file in MODELS.rglob("*") if file.is_file()) <= 24 << 20
    for name in SHAPES:
        with safe_open(MODELS / name / "model.safetensors", "pt") as weights:
            for key in weights.keys():  # noqa: SIM118
                value = weights.get_tensor(key)
                assert str(value.dtype) == "torch.bfloat16" and value.isfinite().all()
