"""The comparison of all methods, from models and texts to its page."""

from __future__ import annotations

import io
import json
import re

import pytest
import torch
from tiny import save_corpus, save_pair

from lifeboat_kv.calibration.opening import Options
from lifeboat_kv.compare import measure
from lifeboat_kv.compare.measure import compare_methods
from lifeboat_kv.compare.report import methods_page
from lifeboat_kv.events import Events
from lifeboat_kv.host.machine import Machine, gemm_rate
from lifeboat_kv.methods import DEFAULT_METHOD, METHODS


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("compare")
    source, target = save_pair(folder)
    corpus, lines = save_corpus(folder / "corpus", probes=60), io.StringIO()
    options = Options(source, target, str(corpus), folder / "out", k=2, device="cpu", batch_tokens=1024)
    with pytest.MonkeyPatch.context() as patch:
        # Five products of 4,096 cubed are worth their seconds beside a real measurement only.
        patch.setattr(measure, "this_machine", lambda device: Machine("a processor", 2, 1, 1e11))
        found = compare_methods(options, Events(lines))
    torch.set_num_threads(before)
    return found, [json.loads(line) for line in lines.getvalue().splitlines()]


def test_every_method_is_scored_on_the_select_split_alone(compared) -> None:
    found, _ = compared
    select = {s.id for s in found.run.corpus.splits["select"]}
    assert [one.method.name for one in found.methods] == list(METHODS)
    for one in [*found.methods, *found.by_k]:
        assert {row["id"] for row in one.counts} == select
        assert all(row["split"] == "select" for row in one.counts)
        assert one.kl > 0 and one.map_ms > 0 and one.r2_k > 0
    assert [one.k for one in found.by_k] == [1, 2]
    assert found.by_k[0].parameters < found.by_k[1].parameters


def test_head_local_maps_are_smaller_by_the_number_of_heads(compared) -> None:
    sizes = {one.method.name: one.parameters for one in compared[0].methods}
    biases = 2 * 3 * 32
    assert (sizes["ridge"] - biases) == 2 * (sizes["head-local"] - biases)


def test_the_page_has_a_row_for_each_with_its_differences(compared) -> None:
    page = methods_page(compared[0])
    for name in METHODS:
        row = next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 12
        empty = [i for i, cell in enumerate(cells) if not cell]
        assert empty == ([10] if name == "ridge" else [11] if name == DEFAULT_METHOD else [])
        assert re.fullmatch(r"\d\.\d{4} \[\d\.\d{4}, \d\.\d{4}\]", cells[1])
    assert "**select** split" in page and "npm run results:methods" in page
    assert f"Default: **{DEFAULT_METHOD}**" in page and "GFLOP/s" in page


def test_the_events_are_those_of_a_run(compared) -> None:
    stages = [e["stage"] for e in compared[1] if e["type"] == "stage"]
    assert stages == ["inspect", "capture", "fit", "select", "score", "cost"]
    assert not any(e["type"] == "counts" for e in compared[1])


def test_the_rate_of_a_product_is_a_rate() -> None:
    assert 1e8 < gemm_rate("cpu", size=256, times=2) < 1e15
