"""Task files for local documents: the layout, and one line for whatever is missing in it."""

from __future__ import annotations

import json

import pytest
import yaml

from lifeboat_kv.errors import CorpusError, HelmError, UsageError
from lifeboat_kv.evaluate import bundled
from lifeboat_kv.evaluate.benchmarks import BENCHMARKS, configs
from lifeboat_kv.evaluate.run import BUNDLED_TASKS
from lifeboat_kv.evaluate.task_files import Hook, write_task_files

ARC = {"question": "q", "choices": {"text": ["a", "b"], "label": ["A", "B"]}, "answerKey": "A"}
MMLU = {"question": "q", "choices": ["a", "b", "c", "d"], "answer": 1}


def put(file, *documents):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(d) + "\n" for d in documents))


@pytest.fixture
def library(tmp_path):
    """The harness's folder as far as it is looked into."""
    for subject in ("anatomy", "virology"):
        put(tmp_path / "library" / "mmlu" / "default" / f"mmlu_{subject}.yaml")
    return tmp_path / "library"


def made(task, library, data):
    return list(configs(task, library, data, data / "cache" if data else library))


def test_local_documents_take_the_place_of_the_hubs(tmp_path, library):
    put(tmp_path / "arc_challenge" / "test.jsonl", ARC)
    (config,) = made("arc_challenge", library, tmp_path)
    assert config["include"].endswith("arc/arc_challenge.yaml")
    assert (config["dataset_path"], config["dataset_name"]) == ("json", None)
    assert list(config["dataset_kwargs"]["data_files"]) == ["test"]
    assert config["training_split"] is None and config["validation_split"] is None
    assert "test_split" not in config


def test_shards_and_parquet_are_read(tmp_path, library):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    folder = tmp_path / "arc_challenge"
    folder.mkdir()
    for shard in ("test-00000-of-00002", "test-00001-of-00002"):
        parquet.write_table(pyarrow.Table.from_pylist([ARC]), folder / f"{shard}.parquet")
    (config,) = made("arc_challenge", library, tmp_path)
    assert config["dataset_path"] == "parquet"
    assert len(config["dataset_kwargs"]["data_files"]["test"]) == 2


def test_without_a_folder_the_harnesss_own_file_is_all_there_is(library):
    assert made("winogrande", library, None) == [
        {"include": str(library / "winogrande" / "default.yaml"), "task": "winogrande"}
    ]


def test_every_subject_of_mmlu_must_be_there(tmp_path, library):
    put(tmp_path / "mmlu" / "anatomy" / "test.jsonl", MMLU)
    with pytest.raises(CorpusError, match="lacks 1 of 2 subjects, virology"):
        made("mmlu", library, tmp_path)
    (config,) = made("mmlu_anatomy", library, tmp_path)
    assert config["task"] == "mmlu_anatomy" and config["fewshot_split"] is None
    put(tmp_path / "mmlu" / "virology" / "test.jsonl", MMLU)
    *_, group = made("mmlu", library, tmp_path)
    assert group["group"] == "mmlu" and group["task"] == ["mmlu_anatomy", "mmlu_virology"]


def break_it(folder, how):
    if how == "no file":
        put(folder / "arc_challenge" / "train.jsonl", ARC)
    elif how == "no field":
        put(folder / "arc_challenge" / "test.jsonl", {k: v for k, v in ARC.items() if k != "answerKey"})
    elif how == "empty":
        put(folder / "arc_challenge" / "test.jsonl")
    elif how == "not json":
        (folder / "arc_challenge").mkdir()
        (folder / "arc_challenge" / "test.jsonl").write_text("question,choices\n")
    elif how == "not parquet":
        (folder / "arc_challenge").mkdir()
        (folder / "arc_challenge" / "test.parquet").write_bytes(b"PAR1 no")
    elif how == "mixed":
        put(folder / "arc_challenge" / "test.jsonl", ARC)
        put(folder / "arc_challenge" / "train.parquet", ARC)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("no folder", "holds no test"),
        ("no file", "holds no test"),
        ("no field", "has no field 'answerKey'"),
        ("empty", "it is empty"),
        ("not json", "cannot be read"),
        ("not parquet", "cannot be read"),
        ("mixed", "mixes parquet and jsonl"),
    ],
)
def test_unreadable_documents_are_told_in_one_line(tmp_path, library, how, says):
    break_it(tmp_path, how)
    with pytest.raises(CorpusError, match=says) as caught:
        made("arc_challenge", library, tmp_path)
    assert caught.value.exit_code == 5
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("name", ["boolq", "mmlu_alchemy", ""])
def test_an_unknown_task_is_wrong_usage(library, name):
    with pytest.raises(UsageError) as caught:
        made(name, library, None)
    assert caught.value.exit_code == 2


def test_prefix_perplexity_takes_the_place_of_the_documents(tmp_path, library):
    put(tmp_path / "wikitext" / "test.jsonl", {"page": "one two"})
    (config,) = made("wikitext", library, tmp_path)
    (name,) = write_task_files([config], tmp_path)
    text = (tmp_path / f"{name}.yaml").read_text()
    assert "!function 'lifeboat_kv.evaluate.wikitext.process_results'" in text
    assert isinstance(config["process_docs"], Hook)


def test_all_six_benchmarks_are_known():
    assert list(BENCHMARKS) == ["arc_challenge", "hellaswag", "winogrande", "mmlu", "gsm8k", "wikitext"]


def test_the_bundled_tasks_become_a_group_of_eight(tmp_path):
    made_configs = list(bundled.configs(BUNDLED_TASKS, tmp_path, tmp_path / "cache"))
    *tasks, group = made_configs
    assert group["task"] == [t["task"] for t in tasks] and len(tasks) == 8
    documents = [json.loads(line) for f in tmp_path.glob("*.jsonl") for line in f.read_text().splitlines()]
    source = [json.loads(line) for line in BUNDLED_TASKS.read_text().splitlines()]
    assert len(documents) == len(source) == 497
    assert {d["id"]: d["answer"] for d in documents} == {s["id"]: s["answer"].strip() for s in source}
    write_task_files(made_configs, tmp_path)
    assert yaml.safe_load((tmp_path / "helm_bundled.yaml").read_text()) == group


@pytest.mark.parametrize("content", ["", "{}\n", "no json\n", '{"id": 1, "kind": "a", "prompt": []}\n'])
def test_a_tasks_file_that_is_none_is_refused(tmp_path, content):
    file = tmp_path / "tasks.jsonl"
    file.write_text(content)
    with pytest.raises(HelmError, match="TASKS_UNREADABLE"):
        list(bundled.configs(file, tmp_path, tmp_path))
