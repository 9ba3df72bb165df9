"""A whole calibration of a tiny random pair, and what its controls must show."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import torch
from tiny import save_corpus, save_pair, tiny_model, tiny_tokenizer

from lifeboat_kv.calibration.calibrate import Options, calibrate
from lifeboat_kv.calibration.long_run import long_files
from lifeboat_kv.corpora import SPLITS, Sequence, load_corpus
from lifeboat_kv.errors import CorpusError, HelmError, UsageError
from lifeboat_kv.events import Events
from lifeboat_kv.fit.ends import constant_head
from lifeboat_kv.host.precision import dtype_for
from lifeboat_kv.mapper.artifact import read_mapper
from lifeboat_kv.mapper.form import LayerMap, Mapper
from lifeboat_kv.mapper.tail import tail_length
from lifeboat_kv.measure.decode import decode
from lifeboat_kv.methods import DEFAULT_METHOD
from lifeboat_kv.models.cache import build_cache
from lifeboat_kv.models.chat_template import template_head
from lifeboat_kv.models.load import load_model
from lifeboat_kv.models.side import Side
from lifeboat_kv.moments.capture import padded, prefill
from lifeboat_kv.rotation.rope import Rope
from lifeboat_kv.score.arms import Group, Rivals, arms_of, mapped_content
from lifeboat_kv.score.points import points_of

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    return *save_pair(folder), save_corpus(folder / "corpus", probes=130, long=16), folder / "out"


def run(made, **changed) -> list[dict]:
    source, target, corpus, out = made
    given = {"k": 2, "device": "cpu", "cost_lengths": (64,), "batch_tokens": 1024, **changed}
    lines = io.StringIO()
    options = Options(given.pop("source", source), given.pop("target", target), str(corpus), out, **given)
    try:
        calibrate(options, Events(lines))
    finally:
        made_events = [json.loads(line) for line in lines.getvalue().splitlines()]
        run.events = made_events
    return made_events


@pytest.fixture(scope="module")
def events(made):
    return run(made)


def by_arm(events: list[dict]) -> dict[str, dict]:
    return {e["arm"]: e for e in events if e["type"] == "metric" and e["name"] == "retention"}


@pytest.mark.parametrize("seq_len", [4097, (1 << 53) - 1])
def test_a_length_beyond_the_shared_context_is_refused_however_short_the_texts(made, seq_len: int) -> None:
    with pytest.raises(UsageError) as raised:
        run(made, sizes={"seq_len": seq_len})
    assert raised.value.code == "BAD_SEQ_LEN" and "4096 tokens" in raised.value.message
    assert run.events == []


def test_the_way_of_the_events(events) -> None:
    assert events[0]["type"] == "started" and events[-1]["type"] == "result"
    assert all(e["v"] == 1 and "at" in e for e in events)
    stages = [e["stage"] for e in events if e["type"] == "stage"]
    assert stages == ["inspect", "capture", "fit", "select", "score", "judge", "cost", "write"]
    percents = [e["percent"] for e in events if e["type"] == "progress"]
    assert percents == sorted(percents) and percents[-1] == 100


def test_the_probes_come_back_as_labelled_answers_in_chunks(events) -> None:
    chunks = [e["rows"] for e in events if e["type"] == "judge_rows"]
    assert chunks and all(len(rows) <= 50 for rows in chunks)
    rows = [row for rows in chunks for row in rows]
    probes = {s["id"]: s["prefixes"] for e in events if e["type"] == "counts" for s in e["sequences"]}
    assert len({row["id"] for row in rows}) == len(rows)
    assert {row["group"] for row in rows} <= set(probes)
    for row in rows:
        group, prefix = row["id"].rsplit("@", 1)
        assert group == row["group"] and int(prefix) in probes[group]


def test_identity_is_exact_and_the_controls_differ(events) -> None:
    arms = by_arm(events)
    assert arms["identity"]["value"] == 1.0
    assert arms["identity"]["kl"] < 1e-5
    assert arms["self_map"]["value"] >= 0.98
    for arm in ("zero_cache", "other_sequence", "no_rerotation", "shuffled_heads"):
        assert arms[arm]["value"] < arms["identity"]["value"] - 0.05, arm


def test_a_mapper_is_written_in_what_the_models_run_in(made, events, monkeypatch) -> None:
    """As on a GPU, where that is bfloat16; here a CPU runs in it, which shows the path and no GPU."""
    assert events[-1]["manifest"] is not None and dtype_for("cpu") == torch.float32
    assert dtype_for("cuda") == dtype_for("cuda:1") == torch.bfloat16
    for module in (
        "calibration.calibrate",
        "calibration.scoring",
        "models.load",
        "host.memory",
        "measure.cost",
    ):
        monkeypatch.setattr(f"lifeboat_kv.{module}.dtype_for", lambda device: torch.bfloat16)
    result = run(made)[-1]
    for made_result, dtype in ((events[-1], torch.float32), (result, torch.bfloat16)):
        read = read_mapper(Path(made_result["artifact"]["path"]))
        tensors = [t for m in read.layers for t in (m.wk, m.bk, m.wv, m.bv, m.gamma)]
        assert {t.dtype for t in tensors if t is not None} == {dtype}
        assert read.head is None or read.head.k.dtype == dtype
        assert read.manifest["dtype"] == str(dtype).removeprefix("torch.")
    retained = by_arm(run.events)
    assert retained["identity"]["value"] >= 0.99 and retained["self_map"]["value"] >= 0.98


def test_counts_cover_every_gate_and_report_sequence_once(events) -> None:
    rows = [(e["arm"], r) for e in events if e["type"] == "counts" for r in e["sequences"]]
    gate = {arm: [r for a, r in rows if a == arm and r["split"] == "gate"] for arm, _ in rows}
    assert all(len({r["id"] for r in found}) == len(found) == 120 for found in gate.values())
    assert {"mapper", "pilot_alone", "identity", "self_map", "plain_ridge"} <= set(gate)
    for row in gate["mapper"]:
        assert 2 <= len(row["prefixes"]) <= 3 and row["first"]["total"] == len(row["prefixes"])
        assert row["recovered"] >= 0 and row["kl_sum"] >= 0
    assert sum(r["split"] == "report" for a, r in rows if a == "mapper") == 10


def test_long_rows_have_three_arms_and_no_part_in_the_gates_number(events, made) -> None:
    rows = [(e["arm"], r) for e in events if e["type"] == "counts" for r in e["sequences"]]
    far = [(arm, r) for arm, r in rows if r["split"] == "long"]
    assert {arm for arm, _ in far} == {"mapper", "identity", "zero_cache"} and len(far) == 48
    assert all(r["multiple"] == 4 and min(r["prefixes"]) >= 4 * 96 for _, r in far)
    gate = [r for arm, r in rows if arm == "mapper" and r["split"] == "gate"]
    buckets = by_arm(events)["mapper"]["totals"]
    assert buckets == {name: sum(r[name]["total"] for r in gate) for name in buckets}
    (told,) = events[-1]["manifest"]["long"]
    assert (told["multiple"], told["sequences"], told["left_out"]) == (4, 16, None)
    assert told["retention"]["identity"]["value"] == 1.0
    corpus = load_corpus(made[2], tiny_tokenizer())
    splits = {s.digest for rows in corpus.splits.values() for s in rows}
    assert len(corpus.long) == 16 and not splits & {s.digest for s in corpus.long}


def test_a_mapper_read_back_scores_the_same_beyond_its_length(events, made) -> None:
    source, target, corpus, out = made
    mapper = out / events[-1]["artifact"]["sha256"]
    lines = io.StringIO()
    long_files(source, target, mapper, str(corpus), 4, "cpu", Events(lines))
    told = [e for e in map(json.loads, lines.getvalue().splitlines()) if e["type"] == "counts"]
    assert {e["arm"] for e in told} == {"mapper", "identity", "zero_cache"}
    for event in told:
        (before,) = [
            e["sequences"]
            for e in events
            if e["type"] == "counts" and e["arm"] == event["arm"] and e["sequences"][0]["split"] == "long"
        ]
        assert [r["first"] for r in event["sequences"]] == [r["first"] for r in before]
        assert [r["late"] for r in event["sequences"]] == [r["late"] for r in before]
    with pytest.raises(CorpusError) as raised:
        long_files(source, target, mapper, str(corpus), 32, "cpu", Events(io.StringIO()))
    assert raised.value.code == "LONG_ROWS_LEFT_OUT" and raised.value.exit_code == 5
    assert "16 are needed" in raised.value.message


def test_the_artifact_is_the_result_and_has_the_manifest(events, made) -> None:
    result = events[-1]
    read = read_mapper(made[3] / result["artifact"]["sha256"])
    assert read.method == DEFAULT_METHOD and read.manifest["k"] == 2
    assert len(read.manifest["counts"]["mapper"]) == 120
    assert read.head is not None and len(read.head.token_ids) == 2
    assert [p.name for p in made[3].iterdir() if p.name.startswith(".")] == []


def test_the_same_run_gives_the_same_bytes_of_weights(events, made) -> None:
    again = run(made)[-1]
    one, two = (read_mapper(made[3] / r["artifact"]["sha256"]) for r in (events[-1], again))
    assert all(torch.equal(a.wk, b.wk) for a, b in zip(one.layers, two.layers, strict=True))
    assert again["scores"]["retention"] == events[-1]["scores"]["retention"]


def test_leaving_the_re_rotation_out_is_noticed(made) -> None:
    """A control pair whose keys are not re-rotated loses what the self-map keeps."""
    target = load_model(made[1])
    side = Side(target, Rope.from_model(target))
    width = 2 * 16
    identity = tuple(
        LayerMap((i,), (i,), torch.eye(width), torch.zeros(width), torch.eye(width), torch.zeros(width))
        for i in range(3)
    )
    facts = {"num_hidden_layers": 3, "num_key_value_heads": 2, "head_dim": 16}
    rivals = Rivals(Mapper("renorm", facts, facts, identity), None, None, side.rope, side.rope)
    sequences = [Sequence(str(i), "a", tuple(range(4 + i, 80 + i))) for i in range(2)]
    kv, _ = prefill(target, padded(sequences, "cpu"))
    group = Group(sequences, kv, kv)
    arms = dict(arms_of(rivals, group, mapped_content(rivals, group), ("mapper", "no_rerotation")))
    for (k, _), (native, _) in zip(arms["mapper"], kv, strict=True):
        torch.testing.assert_close(k, native, rtol=0, atol=1e-5)
    for (k, _), (native, _) in zip(arms["no_rerotation"], kv, strict=True):
        assert (k[:, :, 1:] - native[:, :, 1:]).abs().max() > 0.1


def test_scored_cache_is_the_served_cache(events, made) -> None:
    """What the scorer puts in the cache is what Mapper.transfer gives a serving path, head included."""
    source, target = load_model(made[0]), load_model(made[1])
    mapper = read_mapper(made[3] / events[-1]["artifact"]["sha256"])
    ropes = Rope.from_model(source), Rope.from_model(target)
    tokens = (0, 2, *range(10, 80))
    ids = torch.tensor([tokens])
    kv = prefill(source, ids)[0]
    rivals = Rivals(mapper, None, None, *ropes)
    group = Group([Sequence("x", "a", tokens)], kv, prefill(target, ids)[0])
    scored = dict(arms_of(rivals, group, mapped_content(rivals, group), ("mapper",)))["mapper"]
    served = mapper.transfer(kv, torch.arange(len(tokens)), *ropes, token_ids=tokens)
    for a, b in zip(scored, served, strict=True):
        assert torch.equal(a[0], b[0]) and torch.equal(a[1], b[1])


def test_offline_decode_equals_a_plain_one(made) -> None:
    target = load_model(made[1])
    prompt = [0, 2, *range(10, 90)]
    alone = decode(prompt, target, frozenset(), 12)
    ids = target.generate(torch.tensor([prompt]), max_new_tokens=12, do_sample=False, eos_token_id=None)
    assert alone["tokens"] == ids[0, len(prompt) :].tolist()
    facts = {"num_hidden_layers": 3, "num_key_value_heads": 2, "head_dim": 16}
    eye, zero = torch.eye(32), torch.zeros(32)
    same = Mapper("ridge", facts, facts, tuple(LayerMap((i,), (i,), eye, zero, eye, zero) for i in range(3)))
    moved = decode(prompt, target, frozenset(), 12, source=target, mapper=same)
    assert moved["tokens"] == alone["tokens"] and moved["mapped"] == len(prompt) - tail_length(len(prompt))


def test_constant_head_is_the_targets_own_cache() -> None:
    model, tokenizer = tiny_model(), tiny_tokenizer()
    ids = template_head(tokenizer)
    assert ids == (0, 2)
    head = constant_head(model, Rope.from_model(model), ids)
    longer = prefill(model, torch.tensor([[*ids, 9, 8]]))[0]
    rope = Rope.from_model(model)
    for index, (k, v) in enumerate(longer):
        turned = rope.apply(head.k[index], torch.arange(2))
        torch.testing.assert_close(turned, k[0, :, :2], rtol=0, atol=1e-5)
        torch.testing.assert_close(head.v[index], v[0, :, :2], rtol=0, atol=1e-5)
    assert head.match([0, 2, 7]) == 2 and head.match([0, 7]) == 1 and head.match(None) == 0
    build_cache([(k[0], v[0]) for k, v in longer])


def test_splits_are_disjoint_and_follow_from_content_alone(made) -> None:
    tokenizer = tiny_tokenizer()
    first = load_corpus(made[2], tokenizer)
    again = load_corpus(made[2], tokenizer)
    seen = [s.digest for name in SPLITS for s in first.splits[name]]
    assert len(seen) == len(set(seen))
    assert first.splits == again.splits
    assert [len(first.splits[n]) for n in SPLITS] == [18, 6, 120, 10]


def test_points_stay_in_range_and_never_change() -> None:
    sequence = Sequence("x", "a", tuple(range(90)), (20, 70, 71, 72, 73, 74, 75, 89))
    points = points_of(0, sequence, 80)
    assert len(points) == 3 and all(64 <= p.prefix <= 80 for p in points)
    plain = Sequence("y", "a", tuple(range(90)))
    assert points_of(0, plain, 512) == points_of(0, plain, 512)
    assert len(points_of(0, plain, 512)) == 2


def test_a_short_corpus_is_refused(made, tmp_path) -> None:
    file = tmp_path / "short.txt"
    file.write_text("w1 w2 w3")
    with pytest.raises(CorpusError) as raised:
        load_corpus(file, tiny_tokenizer())
    assert raised.value.code == "CORPUS_TOO_SHORT" and raised.value.exit_code == 5


def test_wrong_use_is_named(made) -> None:
    with pytest.raises(UsageError) as raised:
        run(made, k=3)
    assert raised.value.code == "K_TOO_LARGE" and raised.value.exit_code == 2
    with pytest.raises(UsageError):
        run(made, method="magic")
    with pytest.raises(HelmError) as short:
        run(made, sizes={"gate": 12, "report": 4})
    assert short.value.code == "PROBES_TOO_SHORT" and short.value.exit_code == 5
    assert not any(e["type"] == "result" for e in run.events)


@pytest.mark.parametrize(
    ("prefix", "tail"), [(1, 1), (19, 1), (40, 2), (64, 3), (512, 25), (1280, 64), (16_384, 64)]
)
def test_tail(prefix: int, tail: int) -> None:
    assert tail_length(prefix) == tail
