"""A table of configs, written after published models: what is read of each, and every cause named.

packages/pairing/src/cases/configs.jsonl holds configs with their causes, facts.jsonl the facts read from
them, which pairing's own test judges. After a change to what is read: UPDATE_CASES=1 pytest this file.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tiny import save_pair

from lifeboat_kv.errors import ModelError, PairError
from lifeboat_kv.models.facts import inspect_model
from lifeboat_kv.models.pair_check import causes_against, check_pair
from lifeboat_kv.models.pair_rules import kinds

PAIRING = Path(__file__).parents[2] / "pairing" / "src"
ROWS = [json.loads(line) for line in (PAIRING / "cases" / "configs.jsonl").read_text().splitlines()]
FACTS = PAIRING / "cases" / "facts.jsonl"
PAIRS = json.loads((PAIRING / "cases" / "pairs.json").read_text())


def facts_of(folder: Path, config: object) -> dict:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return {**inspect_model(folder), "id": "some/model"}


@pytest.mark.parametrize("row", [r for r in ROWS if "causes" in r], ids=lambda r: r["name"])
def test_every_cause_of_a_published_config_is_named(tmp_path: Path, row: dict) -> None:
    facts = facts_of(tmp_path, row["config"])
    json.dumps(facts, allow_nan=False)
    assert causes_against(facts, facts) == row["causes"]


@pytest.mark.parametrize("row", [r for r in ROWS if r.get("unreadable")], ids=lambda r: r["name"])
def test_a_value_that_cannot_be_is_named(tmp_path: Path, row: dict) -> None:
    with pytest.raises(ModelError) as raised:
        facts_of(tmp_path, row["config"])
    assert raised.value.code == "CONFIG_UNREADABLE" and raised.value.exit_code == 5
    assert "\n" not in raised.value.message and " is " in raised.value.message


def test_pairing_judges_the_facts_that_are_read(tmp_path: Path) -> None:
    lines = []
    for number, row in enumerate(r for r in ROWS if "causes" in r):
        facts = {k: v for k, v in facts_of(tmp_path / str(number), row["config"]).items() if v is not None}
        lines.append(json.dumps({"name": row["name"], "causes": row["causes"], "facts": facts}) + "\n")
    if os.environ.get("UPDATE_CASES"):
        FACTS.write_text("".join(lines), encoding="utf-8")
    assert FACTS.read_text(encoding="utf-8") == "".join(lines)


@pytest.mark.parametrize("pair", PAIRS["pairs"], ids=lambda p: f"{p['source']} -> {p['target']}")
def test_the_published_pairs(tmp_path: Path, pair: dict) -> None:
    sides = []
    for name in ("source", "target"):
        config = dict(PAIRS["models"][pair[name]])
        tokenizer = config.pop("tokenizer")
        sides.append({**facts_of(tmp_path / name, config), "tokenizer": tokenizer})
    causes = causes_against(*sides)
    # Which family two known kinds are of is pairing's to say; there the tokenizers differ as well.
    wanted = "tokenizer" if pair["reason"] == "family" else pair["reason"]
    assert causes == [] if pair["verdict"] == "ok" else wanted in causes


def test_kinds_are_pairings_own() -> None:
    ours = (Path(__file__).parents[1] / "src" / "lifeboat_kv" / "models" / "kinds.json").read_bytes()
    assert ours == (PAIRING / "kinds.json").read_bytes()


@pytest.mark.parametrize("kind", kinds()["full_with_rope"])
def test_transformers_itself_makes_a_full_kind_full(kind: str) -> None:
    """Its own defaults name no other layers, apart from those whose unsaid window the facts fill in."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config = CONFIG_MAPPING[kind]()
    layers = set(getattr(config, "layer_types", None) or ["full_attention"])
    assert layers == {"full_attention"}
    window = getattr(config, "sliding_window", None)
    off = getattr(config, "use_sliding_window", None) is False or kind in ("mistral", "dots1")
    assert not window or off


@pytest.mark.parametrize("text", ["", "{ half", "[1, 2]", "null", '"text"', "\x00", "[" * 100_000])
def test_a_config_that_is_none_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ModelError) as raised:
        inspect_model(tmp_path)
    assert raised.value.code == "CONFIG_UNREADABLE" and "\n" not in raised.value.message


def test_a_fact_too_long_to_pass_on_still_refuses(tmp_path: Path) -> None:
    config = {**PAIRS["models"]["Qwen/Qwen3-14B"], "sparse_layout": list(range(5000))}
    facts = facts_of(tmp_path, config)
    assert causes_against(facts, facts) == ["not_full_attention"]


def test_one_merge_tells_two_tokenizers_apart_and_order_does_not(tmp_path: Path) -> None:
    merges = [f"a{i} b{i}" for i in range(50)]
    content = {"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": merges}}

    def digest(changed: dict, name: str, **how: object) -> str:
        facts_of(tmp_path / name, {"model_type": "qwen3"})
        (tmp_path / name / "tokenizer.json").write_text(json.dumps(changed, **how), encoding="utf-8")
        return inspect_model(tmp_path / name)["tokenizer"]

    first = digest(content, "one")
    pairs = {**content, "model": {**content["model"], "merges": [m.split(" ") for m in merges]}}
    reordered = {"model": dict(reversed(pairs["model"].items())), "version": "1.1", "padding": {"length": 8}}
    assert digest(reordered, "two", indent=3) == first
    swapped = {**content, "model": {**content["model"], "merges": [merges[1], merges[0], *merges[2:]]}}
    fewer = {**content, "model": {**content["model"], "merges": merges[:-1]}}
    assert len({first, digest(swapped, "three"), digest(fewer, "four")}) == 3


def test_older_tokenizers_are_compared_by_their_files(tmp_path: Path) -> None:
    for name, content in (("one", b"model"), ("two", b"model"), ("three", b"other")):
        facts_of(tmp_path / name, {"model_type": "llama"})
        (tmp_path / name / "tokenizer.model").write_bytes(content)
    one, two, three = (inspect_model(tmp_path / n)["tokenizer"] for n in ("one", "two", "three"))
    assert one == two and one != three and one is not None


def test_weights_that_are_cut_short_or_lack_a_shard_are_named(tmp_path: Path) -> None:
    source, _ = save_pair(tmp_path)
    file = source / "model.safetensors"
    whole = file.read_bytes()
    (source / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"a": "model.safetensors", "b": "model-00002.safetensors"}})
    )
    with pytest.raises(ModelError, match=r"lacks model-00002\.safetensors"):
        inspect_model(source)
    (source / "model.safetensors.index.json").unlink()
    size = int.from_bytes(whole[:8], "little")
    lying = whole[:8] + whole[8 : 8 + size].replace(b'"F32"', b'"F16"') + whole[8 + size :]
    assert lying != whole
    for content in (whole[:-64], whole[:40], whole[:4], b"", b"\xff" * 64, lying):
        file.write_bytes(content)
        with pytest.raises(ModelError) as raised:
            inspect_model(source)
        assert raised.value.code == "WEIGHTS_UNREADABLE"


def test_a_pair_is_refused_by_every_cause_in_one_line(tmp_path: Path) -> None:
    one = facts_of(tmp_path / "a", PAIRS["models"]["google/gemma-3-1b-it"])
    other = facts_of(tmp_path / "b", PAIRS["models"]["Qwen/Qwen3-14B"])
    with pytest.raises(PairError) as raised:
        check_pair(one, other)
    assert "kv_heads, head_dim, not_full_attention" in raised.value.message
    assert raised.value.exit_code == 3 and "\n" not in raised.value.message
