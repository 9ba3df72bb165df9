"""Models, a mapper and one running engine for all tests of this folder."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from transformers.utils.logging import disable_progress_bar

from lifeboat_kv.mapper.artifact import write_mapper
from lifeboat_kv.mapper.form import LayerMap, Mapper
from lifeboat_kv.models.facts import inspect_model

from .harness import RunningEngine, running

MODELS = Path(__file__).resolve().parents[4] / "models"


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Copies of the bundled models, so that a training that writes new weights does not disturb a run."""
    torch.set_num_threads(1)
    disable_progress_bar()
    root = tmp_path_factory.mktemp("models")
    return {name: Path(shutil.copytree(MODELS / name, root / name)) for name in ("pilot", "target")}


@pytest.fixture(scope="session")
def mapper_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the engine looks for mappers."""
    return tmp_path_factory.mktemp("mappers")


@pytest.fixture(scope="session")
def mapper_sha(folders: dict[str, Path], mapper_dir: Path) -> str:
    """A mapper of random weights for pilot -> target: what it says is nonsense, where it goes is exact."""
    return write_mapper(mapper_dir, random_mapper(folders["pilot"], folders["target"]), {})


@pytest.fixture(scope="session")
def engine(folders: dict[str, Path], mapper_dir: Path, mapper_sha: str) -> Iterator[RunningEngine]:
    """One engine with both models."""
    with running(folders, mapper_dir) as started:
        yield started


@pytest.fixture
def prompt() -> Callable[..., list[int]]:
    """Makes prompts of random plain tokens; the same seed gives the same prompt."""

    def make(length: int, seed: int = 0) -> list[int]:
        dice = random.Random(f"{length}-{seed}")
        return [dice.randrange(300, 1000) for _ in range(length)]

    return make


def random_mapper(source: Path, target: Path, seed: int = 0) -> Mapper:
    """Every target layer from two source layers, weights drawn once."""
    torch.manual_seed(seed)
    s, t = inspect_model(source), inspect_model(target)
    width = 2 * s["num_key_value_heads"] * s["head_dim"]
    out = t["num_key_value_heads"] * t["head_dim"]
    layers = []
    for index in range(t["num_hidden_layers"]):
        chosen = (index % s["num_hidden_layers"], (index + 1) % s["num_hidden_layers"])
        wk, wv = (torch.randn(width, out) / width**0.5 for _ in range(2))
        layers.append(LayerMap(chosen, chosen, wk, torch.zeros(out), wv, torch.zeros(out)))
    return Mapper("random", s, t, tuple(layers))
