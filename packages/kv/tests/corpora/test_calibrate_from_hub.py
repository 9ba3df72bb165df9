"""One whole calibration whose texts come from a hub: parquet shard, commit, digests, warnings, manifest."""

from __future__ import annotations

import io
import json
import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from hub_double import COMMIT, HubDouble, serving

sys.path.insert(0, str(Path(__file__).parents[1]))
from tiny import WORDS, save_pair

from lifeboat_kv.calibration.calibrate import Options, calibrate
from lifeboat_kv.events import Events
from lifeboat_kv.mapper.artifact import read_mapper


def shard(count: int = 190) -> bytes:
    chance = random.Random(3)
    rows = [" ".join(chance.choices(WORDS, k=90)) for _ in range(count)]
    written = io.BytesIO()
    pq.write_table(pa.table({"story": rows}), written)
    return written.getvalue()


def test_a_calibration_names_what_it_used(tmp_path, store, monkeypatch) -> None:
    source, target = save_pair(tmp_path)
    sizes = {"fit": 24, "select": 6, "gate": 110, "report": 8, "seq_len": 96}
    asked = {"corpus_column": "story", "corpus_store": store, "sizes": sizes, "cost_lengths": (64,)}
    lines = io.StringIO()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with serving(HubDouble(files={"small/0.parquet": shard()})) as hub:
        # As worker and command line start a job that may ask the hub.
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        monkeypatch.setenv("HELM_HUB_ENDPOINT", hub.url)
        options = Options(
            source, target, "hub:some/texts/small", tmp_path / "out", k=2, device="cpu", **asked
        )
        calibrate(options, Events(lines))
    torch.set_num_threads(threads)
    events = [json.loads(line) for line in lines.getvalue().splitlines()]
    started, result = events[0], events[-1]
    assert started["type"] == "started" and result["type"] == "result"
    corpus = started["corpus"]
    assert corpus["hub"] == {"repo": "some/texts", "config": "small", "revision": None, "commit": COMMIT}
    assert corpus["files"][0]["sha256"] == corpus["sha256"] and len(corpus["probes_sha256"]) == 64
    assert result["manifest"]["corpus"] == corpus
    assert read_mapper(tmp_path / "out" / result["artifact"]["sha256"]).manifest["corpus"] == corpus
    warned = [e["message"] for e in events if e["type"] == "log" and e["level"] == "warning"]
    assert any("chats in the model's template" in message for message in warned)
