"""The stages capture and fit of a run whose memory holds a part of the maps at a time."""

from __future__ import annotations

import io
import json

import pytest
import torch
from tiny import save_corpus, save_pair

from lifeboat_kv.calibration import opening
from lifeboat_kv.calibration.fitting import fit_run
from lifeboat_kv.calibration.opening import Options, open_run, with_baseline
from lifeboat_kv.errors import ResourceError
from lifeboat_kv.events import Events
from lifeboat_kv.methods import DEFAULT_METHOD, METHODS

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def options(tmp_path_factory) -> Options:
    folder = tmp_path_factory.mktemp("fitting")
    corpus = save_corpus(folder / "corpus")
    return Options(*save_pair(folder), str(corpus), folder / "out", k=2, device="cpu", batch_tokens=1024)


def fitted(options: Options, monkeypatch, budget: int | None):
    monkeypatch.setattr(opening, "memory_budget", lambda *_: budget)
    lines = io.StringIO()
    run = open_run(options, Events(lines))
    fits = fit_run(run, with_baseline(run.method), own=run.method)
    return run, fits, [json.loads(line) for line in lines.getvalue().splitlines()]


def test_a_run_with_little_memory_reads_more_often_and_fits_the_same(options, monkeypatch) -> None:
    whole, one, _ = fitted(options, monkeypatch, None)
    parted, many, events = fitted(options, monkeypatch, 8_200_000)
    assert len(whole.passes) == 1 and len(parted.passes) > 1
    assert parted.batch_tokens < whole.batch_tokens
    for name in (DEFAULT_METHOD, "ridge"):
        pairs = zip(one.by_method[name].keys, many.by_method[name].keys, strict=True)
        for a, b in pairs:
            assert (a.layers, a.relative_lambda) == (b.layers, b.relative_lambda)
            torch.testing.assert_close(a.weights, b.weights, rtol=1e-3, atol=1e-4)
    assert any(e["type"] == "log" and "memory is short" in e["message"] for e in events)
    assert [e["stage"] for e in events if e["type"] == "stage"] == ["inspect", "capture", "fit"]
    percents = [e["percent"] for e in events if e["type"] == "progress"]
    assert percents == sorted(percents)
    tokens = [e for e in events if e["type"] == "progress" and e["unit"] == "tokens"]
    assert tokens[-1]["done"] == tokens[-1]["total"]


def test_far_too_little_memory_ends_the_run_before_a_model_is_loaded(options, monkeypatch) -> None:
    with pytest.raises(ResourceError) as raised:
        fitted(options, monkeypatch, 1_000_000)
    assert raised.value.code == "MEMORY_SHORT" and "MiB" in raised.value.message


def test_a_calibration_fits_its_method_and_the_baseline_alone() -> None:
    assert [m.name for m in with_baseline(METHODS["head-local"])] == ["head-local", "ridge"]
    assert [m.name for m in with_baseline(METHODS["ridge"])] == ["ridge"]
