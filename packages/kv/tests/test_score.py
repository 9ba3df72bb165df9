"""The scorer's parts on tiny random models: packed runs, answers, long rows, controls."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tiny import VOCABULARY, WORDS, tiny_model, tiny_tokenizer
from transformers import AutoConfig, AutoModelForCausalLM

from lifeboat_kv.calibration import scoring
from lifeboat_kv.calibration.scoring import MACHINERY_AT_FAULT, PRENORM_AT_FAULT, check_controls
from lifeboat_kv.corpora import Sequence
from lifeboat_kv.corpora.long_texts import long_file_texts, spare_texts
from lifeboat_kv.errors import HelmError
from lifeboat_kv.mapper.form import K_NORM, LayerMap, Mapper
from lifeboat_kv.methods import METHODS
from lifeboat_kv.models.grouped_attention import use_grouped_attention
from lifeboat_kv.models.side import Side
from lifeboat_kv.moments.capture import padded, prefill
from lifeboat_kv.rotation.rope import Rope
from lifeboat_kv.score.arms import MAPPER, Group, Rivals
from lifeboat_kv.score.items import answered
from lifeboat_kv.score.long import LONG_SEQUENCES, long_rows, score_long
from lifeboat_kv.score.packed import answer_logits, packed_hidden
from lifeboat_kv.score.points import Point
from lifeboat_kv.score.run import Probing, Score, score_split
from lifeboat_kv.score.tally import BUCKETS, Tally

FACTS = {"num_hidden_layers": 3, "num_key_value_heads": 2, "head_dim": 16}


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def side() -> Side:
    model = tiny_model()
    use_grouped_attention(model)
    return Side(model, Rope.from_model(model))


def texts(count: int, length: int, seed: int = 3) -> list[Sequence]:
    chance = random.Random(seed)
    return [
        Sequence(f"t{seed}-{i}", "ab"[i % 2], tuple(chance.choices(range(4, VOCABULARY), k=length + i)))
        for i in range(count)
    ]


def itself(side: Side) -> Rivals:
    eye, zero = torch.eye(32), torch.zeros(32)
    layers = tuple(LayerMap((i,), (i,), eye, zero, eye, zero) for i in range(3))
    return Rivals(Mapper("ridge", FACTS, FACTS, layers), None, None, side.rope, side.rope)


def test_a_packed_row_is_what_each_sequence_alone_gives(side) -> None:
    sequences = texts(3, 40)
    layers, _ = prefill(side.model, padded(sequences, "cpu"))
    rows, lengths = [2, 0, 2, 1], [30, 11, 7, 25]
    feeds = [
        list(sequences[r].tokens[n : n + 9 + i]) for i, (r, n) in enumerate(zip(rows, lengths, strict=True))
    ]
    hidden = packed_hidden(side.model, layers, rows, lengths, feeds).split([len(f) for f in feeds])
    for row, length, feed, found in zip(rows, lengths, feeds, hidden, strict=True):
        alone = torch.tensor([[*sequences[row].tokens[:length], *feed]])
        expected = side.model.model(input_ids=alone).last_hidden_state[0, length:]
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    wanted = [2, 9, 1, 5]
    logits = answer_logits(side.model, layers, rows, lengths, feeds, wanted)
    last = torch.cat([h[len(h) - n :] for h, n in zip(hidden, wanted, strict=True)])
    torch.testing.assert_close(logits, side.model.lm_head(last))


@pytest.mark.parametrize("kind", ["llama", "mistral", "qwen2", "qwen3_moe"])
def test_every_family_attends_packed(kind: str) -> None:
    torch.manual_seed(1)
    config = AutoConfig.for_model(
        kind,
        vocab_size=50,
        hidden_size=32,
        intermediate_size=48,
        moe_intermediate_size=24,
        num_experts=4,
        num_experts_per_tok=2,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        sliding_window=None,
        initializer_range=0.3,
    )
    model = AutoModelForCausalLM.from_config(config).eval().requires_grad_(False)
    use_grouped_attention(model)
    ids = torch.randint(50, (2, 30))
    layers, hidden = prefill(model, ids)
    feeds = [ids[0, 12:20].tolist(), ids[1, 25:].tolist()]
    found = packed_hidden(model, layers, [0, 1], [12, 25], feeds)
    expected = torch.cat((hidden[0, 12:20], hidden[1, 25:]))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_a_model_without_the_packed_attention_is_refused(side) -> None:
    layers, _ = prefill(side.model, torch.tensor([[4, 5, 6]]))
    with pytest.raises(RuntimeError, match="use_grouped_attention"):
        packed_hidden(tiny_model(), layers, [0], [2], [[6]])


@pytest.mark.parametrize("gold", [False, True])
def test_answers_are_the_targets_own_greedy_ones(side, gold: bool) -> None:
    """Whether the text goes on as the target would (foreseen) or not (generated)."""
    sequences = texts(2, 50)
    ends = frozenset({9})
    expected = {}
    for row, s in enumerate(sequences):
        for prefix in (20, 47 + row):
            ids = torch.tensor([s.tokens[:prefix]])
            said = side.model.generate(ids, max_new_tokens=64, do_sample=False, eos_token_id=9)
            expected[row, prefix] = said[0, prefix:].tolist()
    if gold:
        sequences = [
            Sequence(s.id, s.domain, (*s.tokens[:20], *expected[row, 20])) for row, s in enumerate(sequences)
        ]
        expected = {key: said for key, said in expected.items() if key[1] == 20}
    kv, hidden = prefill(side.model, padded(sequences, "cpu"))
    points = [Point(*key) for key in expected]
    found = answered(points, Group(sequences, kv, kv), side, hidden, ends)
    said = {(p.row, p.prefix): a for items in found for p, a in zip(items.points, items.answers, strict=True)}
    assert said == expected


def test_points_sum_to_the_sequences_buckets(side) -> None:
    probing = Probing("gate", longest=90)
    score = score_split(
        probing,
        texts(5, 90),
        itself(side),
        side,
        side,
        frozenset(),
        (MAPPER, "zero_cache"),
        group_tokens=200,
        device="cpu",
        progress=lambda done: None,
    )
    rows = score.tally.events(MAPPER)
    assert len(rows) == 5
    for row in rows:
        assert [p["prefix"] for p in row["points"]] == row["prefixes"]
        for bucket, *_ in BUCKETS:
            for count in ("agree", "total"):
                assert sum(p[bucket][count] for p in row["points"]) == row[bucket][count]
        assert "multiple" not in row
    assert all("points" not in row for row in score.tally.events("zero_cache"))


def test_the_other_sequence_is_another_one_however_small_the_groups(side) -> None:
    """Groups of one, as at long --seq-len, give what groups of several give; equal lengths, so exactly."""

    def other(sequences: list[Sequence], group_tokens: int) -> Tally:
        arms = (MAPPER, "other_sequence")
        found = score_split(
            Probing("gate", longest=90),
            sequences,
            itself(side),
            side,
            side,
            frozenset(),
            arms,
            group_tokens=group_tokens,
            device="cpu",
            progress=lambda done: None,
        )
        return found.tally

    sequences = [Sequence(s.id, s.domain, s.tokens[:90]) for s in texts(4, 90)]
    together, alone = other(sequences, 4 * 90), other(sequences, 90)
    assert alone.retention("other_sequence") == together.retention("other_sequence")
    assert alone.retention("other_sequence")["value"] < alone.retention(MAPPER)["value"] == 1.0
    # The last group is the one that is alone; its stranger is longer.
    uneven = other(texts(3, 90), 2 * 92)
    assert all(e["first"]["agree"] < e["first"]["total"] for e in uneven.events("other_sequence")[-1:])
    assert "other_sequence" not in other(sequences[:1], 90).arms


def test_long_rows_are_rows_of_their_own_and_identity_is_exact(side) -> None:
    # The tiny model can be run past what it would serve: the rotation is what is tested here.
    row, far = long_rows(texts(16, 260) + texts(16, 2050, seed=4), 64, (4, 32), (side, side), None)
    assert row.left_out is None and far.left_out is None
    assert {len(s.tokens) for s in row.sequences} <= set(range(257, 321))
    assert all(2049 <= len(s.tokens) <= 2560 for s in far.sequences)
    far.sequences[:] = far.sequences[:2]
    for one in (row, far):
        score = score_long(
            one, 64, itself(side), side, side, frozenset(), group_tokens=1024, device="cpu", progress=print
        )
        assert set(score.tally.arms) == {"mapper", "identity", "zero_cache"}
        assert score.tally.retention("identity")["value"] == 1.0
        assert score.tally.mean_kl("identity") < 1e-5
        assert score.tally.retention("zero_cache")["value"] < 0.9
        for event in score.tally.events(MAPPER):
            assert event["split"] == "long" and event["multiple"] == one.multiple
            assert min(event["prefixes"]) >= 64 * one.multiple and "recovered" not in event


def test_a_long_row_that_is_left_out_says_why(side) -> None:
    def reason(found: list[Sequence], seq_len: int, free: int | None = None) -> str:
        (row,) = long_rows(found, seq_len, (4,), (side, side), free)
        assert row.sequences == [] and row.facts()["left_out"] == row.left_out
        return row.left_out or ""

    assert "the corpus has 15 texts of more than 256 tokens" in reason(texts(15, 257), 64)
    assert "longer than the context of 4,096" in reason(texts(16, 4100), 1024)
    assert "MiB are free" in reason(texts(16, 257), 64, free=1 << 20)
    assert len(long_rows(texts(16, 257), 64, (4,), (side, side), 1 << 30)[0].sequences) == LONG_SEQUENCES


def test_a_text_serves_one_long_row_only(side) -> None:
    found = texts(16, 2050)
    near, far = long_rows(found, 64, (4, 32), (side, side), None)
    assert near.left_out is None and far.left_out is not None and "has 0 texts" in far.left_out


def test_spare_documents_are_put_together_again() -> None:
    whole = (7, *range(10, 90))
    pieces = [
        Sequence("d", "a", whole[:21], (20,)),
        Sequence("d#21", "a", (7, *whole[21:41]), (5,)),
        Sequence("d#41", "a", (7, *whole[41:])),
    ]
    (found,) = spare_texts([pieces, [Sequence("short", "a", whole[:20])]], 7, 20)
    assert found.tokens == whole and found.cuts == (20, 25)
    assert whole[found.cuts[1] - 1] == pieces[1].tokens[pieces[1].cuts[0] - 1]


def test_long_texts_that_hold_a_splits_sequence_are_left_out(tmp_path) -> None:
    chance = random.Random(6)
    rows = ["<|bos|> " + " ".join(chance.choices(WORDS[2:], k=200)) for i in range(4)]
    (tmp_path / "long.jsonl").write_text(
        "".join(f'{{"id": "{i}", "text": "{r}"}}\n' for i, r in enumerate(rows))
    )
    tokenizer = tiny_tokenizer()
    assert long_file_texts(tmp_path, tokenizer, {}) == []
    (tmp_path / "manifest.json").write_text("{}")
    found = long_file_texts(tmp_path, tokenizer, {})
    assert [s.id for s in found] == ["0", "1", "2", "3"] and len(found[0].tokens) == 201
    held = [found[1].tokens[:80], (0, *found[3].tokens[60:150])]
    passage = (0, *found[0].tokens[20:100], *found[2].tokens[20:100])
    splits = {"fit": [Sequence("x", "a", held[0])], "gate": [Sequence("y", "a", held[1])]}
    assert [s.id for s in long_file_texts(tmp_path, tokenizer, splits)] == ["0", "2"]
    # A passage of a text is not the text.
    splits = {"fit": [Sequence("z", "a", passage)]}
    assert [s.id for s in long_file_texts(tmp_path, tokenizer, splits)] == ["0", "1", "2", "3"]


def test_controls_are_checked_in_the_order_of_the_verdict() -> None:
    def tallied(**agreeing: float) -> Score:
        tally = Tally("gate")
        for arm, share in agreeing.items():
            for i in range(200):
                same = torch.arange(64) < round(64 * share)
                tally.add(tally.of(arm, str(i), "a"), 64, same, torch.zeros(64))
        return Score(tally)

    good = {"mapper": 1.0, "identity": 1.0, "self_map": 1.0, "zero_cache": 0.2, "other_sequence": 0.3}
    check_controls(tallied(**good), torch.float32, METHODS["renorm"])
    cases = [
        ("IDENTITY_MISSED", 1, {"identity": 0.9, "self_map": 0.1, "zero_cache": 1.0}),
        ("SELF_MAP_MISSED", 1, {"self_map": 0.9, "zero_cache": 1.0}),
        ("PROBES_BLIND", 5, {"other_sequence": 0.9}),
        ("PROBES_BLIND", 5, {"zero_cache": 1.0}),
    ]
    for code, exit_code, changed in cases:
        with pytest.raises(HelmError) as raised:
            check_controls(tallied(**{**good, **changed}), torch.float32, METHODS["renorm"])
        assert (raised.value.code, raised.value.exit_code) == (code, exit_code)
    for name, fault in (("prenorm-attention", PRENORM_AT_FAULT), ("renorm", MACHINERY_AT_FAULT)):
        with pytest.raises(HelmError, match=fault) as raised:
            check_controls(tallied(**{**good, "self_map": 0.9}), torch.float32, METHODS[name])
        assert raised.value.code == "SELF_MAP_MISSED"
    with pytest.raises(HelmError, match=MACHINERY_AT_FAULT):
        check_controls(tallied(**{**good, "identity": 0.9}), torch.float32, METHODS["prenorm"])
    few = tallied(**good)
    few.tally.arms["mapper"].pop("0")
    with pytest.raises(HelmError) as raised:
        check_controls(few, torch.float32, METHODS["renorm"])
    assert (raised.value.code, raised.value.exit_code) == ("PROBES_TOO_SHORT", 5)
    assert "first has 199" in raised.value.message
    unknown = {arm: good[arm] for arm in ("mapper", "identity", "self_map")}
    with pytest.raises(HelmError) as raised:
        check_controls(tallied(**unknown), torch.float32, METHODS["renorm"])
    assert raised.value.code == "PROBES_BLIND" and "may be blind" in raised.value.message
    # A gate split of one sequence has no other: a zero cache alone does not show that the probes see.
    with pytest.raises(HelmError) as raised:
        check_controls(tallied(**unknown, zero_cache=0.2), torch.float32, METHODS["renorm"])
    assert raised.value.code == "PROBES_BLIND" and "more sequences" in raised.value.message


def test_bounds_are_those_of_the_verdict() -> None:
    """The run ends early by the very numbers that packages/pairing judges by."""
    source = Path(__file__).parents[2] / "pairing" / "src" / "score" / "assess.ts"
    text = source.read_text(encoding="utf-8")

    def number(pattern: str) -> float:
        found = re.search(pattern, text)
        assert found, pattern
        return float(found[1])

    assert f'"{PRENORM_AT_FAULT}"' in text and f'"{MACHINERY_AT_FAULT}"' in text
    # What pairing tells by its name.
    assert {m.name for m in METHODS.values() if m.ending == K_NORM} == {
        name for name in METHODS if name.startswith("prenorm")
    }
    assert number(r"BLIND_ABOVE = ([\d.]+)") == scoring.BLIND_ABOVE
    assert number(r"LEAST_POSITIONS = (\d+)") == scoring.LEAST_POSITIONS
    assert number(r"SELF_MAP_BOUND = ([\d.]+)") == scoring.SELF_MAP_LEAST
    assert number(r"float32: ([\d.]+)") == scoring.IDENTITY_LEAST[torch.float32]
    assert number(r"bfloat16: ([\d.]+)") == scoring.IDENTITY_LEAST[torch.bfloat16]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library of Linux is meant")
def test_kept_memory_is_used_again_instead_of_asked_for_anew() -> None:
    """In a process of its own: the setting stays for as long as the process lives."""
    program = """
import resource, torch
from lifeboat_kv.host.allocator import keep_freed_memory
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        torch.ones(4 << 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
before = faults()
print(before, keep_freed_memory(), faults())
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before, kept, after = ran.stdout.split()
    if kept == "False":
        pytest.skip("not glibc")
    assert int(after) < int(before) / 4
