"""A whole calibration with head-local maps and re-normalised, attention-weighted keys, and what it serves."""

from __future__ import annotations

import io
import json

import pytest
import torch
from tiny import save_corpus, save_pair

from lifeboat_kv.calibration.calibrate import calibrate
from lifeboat_kv.calibration.opening import Options
from lifeboat_kv.corpora import Sequence
from lifeboat_kv.events import Events
from lifeboat_kv.mapper.artifact import read_mapper
from lifeboat_kv.models.load import load_model
from lifeboat_kv.moments.capture import prefill
from lifeboat_kv.rotation.rope import Rope
from lifeboat_kv.score.arms import Group, Rivals, arms_of, mapped_content

METHOD = "head-local-renorm-attention"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("local")
    pair, lines = save_pair(folder), io.StringIO()
    corpus = save_corpus(folder / "corpus", probes=130)
    options = Options(
        *pair,
        str(corpus),
        folder / "out",
        k=2,
        method=METHOD,
        device="cpu",
        cost_lengths=(64,),
        batch_tokens=1024,
    )
    sha256 = calibrate(options, Events(lines))
    torch.set_num_threads(before)
    return pair, folder / "out" / sha256, [json.loads(line) for line in lines.getvalue().splitlines()]


def test_the_run_names_its_method_and_its_heads(ran) -> None:
    _, path, events = ran
    assert events[0]["method"] == METHOD and events[-1]["type"] == "result"
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["method"] == METHOD and manifest["head_local"] is True
    assert manifest["rows"] == {"weighting": "attention"} and manifest["ending"] == "renorm"
    fits = [e["fit"] for e in events if e["type"] == "metric" and e["name"] == "layer_fit"]
    for layer, fit in zip(manifest["layers"], fits, strict=True):
        for part in ("k", "v"):
            assert layer["heads"][part] == fit[part]["heads"]
            assert len(layer["heads"][part]) == 2
            assert all(sorted(row) == [0, 1] for row in layer["heads"][part])


def test_its_controls_hold(ran) -> None:
    arms = {e["arm"]: e["value"] for e in ran[2] if e["type"] == "metric" and e["name"] == "retention"}
    assert arms["identity"] == 1.0 and arms["self_map"] >= 0.98
    assert "plain_ridge" in arms


def test_it_serves_what_was_scored(ran) -> None:
    (source_path, target_path), path, _ = ran
    source, target = load_model(source_path), load_model(target_path)
    mapper = read_mapper(path)
    ropes = Rope.from_model(source), Rope.from_model(target)
    tokens = (0, 2, *range(10, 80))
    kv = prefill(source, torch.tensor([tokens]))[0]
    group = Group([Sequence("x", "a", tokens)], kv, prefill(target, torch.tensor([tokens]))[0])
    rivals = Rivals(mapper, None, None, *ropes)
    scored = dict(arms_of(rivals, group, mapped_content(rivals, group), ("mapper",)))["mapper"]
    served = mapper.transfer(kv, torch.arange(len(tokens)), *ropes, token_ids=tokens)
    for a, b in zip(scored, served, strict=True):
        torch.testing.assert_close(a[0], b[0])
        torch.testing.assert_close(a[1], b[1])
