"""The six benchmarks: what of the harness they are, and where their documents lie under `--data DIR`.

Layout, `EXT` being parquet or jsonl (one object a line); shards `test-*.EXT` are read too:

    DIR/arc_challenge/test.EXT           question, choices {text, label}, answerKey
    DIR/hellaswag/validation.EXT         activity_label, ctx_a, ctx_b, endings, label
    DIR/winogrande/validation.EXT        sentence, option1, option2, answer
    DIR/mmlu/SUBJECT/test.EXT            question, choices, answer; all 57 subjects; dev.EXT for few-shot
    DIR/gsm8k/test.EXT and train.EXT     question, answer; five of train are the worked examples
    DIR/wikitext/test.EXT                page

These are the fields and splits of the datasets that the harness itself names (allenai/ai2_arc,
Rowan/hellaswag, allenai/winogrande, cais/mmlu, openai/gsm8k, EleutherAI/wikitext_document_level).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CorpusError, UsageError
from .task_files import Hook

ENDINGS = ("parquet", "jsonl")
_SPLITS = ("train", "dev", "validation", "test")
_WIKITEXT_HOOKS = ("process_docs", "process_results")


@dataclass(frozen=True)
class Benchmark:
    """One benchmark: the harness's file, the splits it needs, the fields of a document, what is reported."""

    name: str
    yaml: str
    splits: tuple[str, ...]
    fields: tuple[str, ...]
    metric: str
    filter: str = "none"


BENCHMARKS = {
    b.name: b
    for b in (
        Benchmark(
            "arc_challenge",
            "arc/arc_challenge.yaml",
            ("test",),
            ("question", "choices", "answerKey"),
            "acc_norm",
        ),
        Benchmark(
            "hellaswag",
            "hellaswag/hellaswag.yaml",
            ("validation",),
            ("activity_label", "ctx_a", "ctx_b", "endings", "label"),
            "acc_norm",
        ),
        Benchmark(
            "winogrande",
            "winogrande/default.yaml",
            ("validation",),
            ("sentence", "option1", "option2", "answer"),
            "acc",
        ),
        Benchmark("mmlu", "mmlu/default", ("test",), ("question", "choices", "answer"), "acc"),
        Benchmark(
            "gsm8k",
            "gsm8k/gsm8k.yaml",
            ("test", "train"),
            ("question", "answer"),
            "exact_match",
            "strict-match",
        ),
        Benchmark("wikitext", "wikitext/wikitext.yaml", ("test",), ("page",), "word_perplexity"),
    )
}


def benchmark_of(task: str) -> Benchmark | None:
    """The benchmark that a task's name belongs to; `mmlu_SUBJECT` is a part of mmlu."""
    return BENCHMARKS["mmlu"] if task.startswith("mmlu_") else BENCHMARKS.get(task)


def unknown_task(task: str) -> UsageError:
    """What is said of a name that no benchmark has."""
    known = ", ".join(["helm_bundled", *BENCHMARKS])
    return UsageError("UNKNOWN_TASK", f"there is no task {task!r}; known are {known} and mmlu_SUBJECT")


def configs(task: str, library: Path, data: Path | None, cache: Path) -> Iterator[dict[str, Any]]:
    """Task files, as dictionaries, that run `task` from local documents; from the hub where `data` is None.

    `library` is the harness's folder of tasks, `cache` where the converted documents go.
    Errors: CorpusError BENCHMARK_UNREADABLE; UsageError UNKNOWN_TASK.
    """
    benchmark = benchmark_of(task)
    if benchmark is None:
        raise unknown_task(task)
    if benchmark.name != "mmlu":
        yield _config(benchmark, task, library / benchmark.yaml, data and data / task, cache)
        return
    files = {f.stem.removeprefix("mmlu_"): f for f in (library / benchmark.yaml).glob("mmlu_*.yaml")}
    subjects = sorted(files) if task == "mmlu" else [task.removeprefix("mmlu_")]
    if unknown := [s for s in subjects if s not in files]:
        raise UsageError("UNKNOWN_TASK", f"mmlu has no subject {unknown[0]!r}; one is {sorted(files)[0]!r}")
    if data is not None and (missing := [s for s in subjects if not (data / "mmlu" / s).is_dir()]):
        raise CorpusError(
            "BENCHMARK_UNREADABLE",
            f"{data / 'mmlu'} lacks {len(missing)} of {len(subjects)} subjects, {missing[0]} for one; "
            "add them, or name those that are there as mmlu_SUBJECT",
        )
    for subject in subjects:
        folder = data and data / "mmlu" / subject
        yield _config(benchmark, f"mmlu_{subject}", files[subject], folder, cache)
    if task == "mmlu":
        yield {
            "group": "mmlu",
            "task": [f"mmlu_{subject}" for subject in subjects],
            "aggregate_metric_list": [{"metric": "acc", "weight_by_size": True}],
        }


def _config(benchmark: Benchmark, task: str, yaml: Path, folder: Path | None, cache: Path) -> dict[str, Any]:
    config: dict[str, Any] = {"include": str(yaml), "task": task}
    if benchmark.name == "wikitext":
        # The harness takes the documents apart; what is scored is the second part alone.
        hooks = {name: Hook(f"lifeboat_kv.evaluate.wikitext.{name}") for name in _WIKITEXT_HOOKS}
        config |= {**hooks, "doc_to_target": "text", "should_decontaminate": False}
    if folder is None:
        return config
    files = {split: found for split in _SPLITS if (found := _files(folder, split))}
    if missing := [split for split in benchmark.splits if split not in files]:
        raise CorpusError(
            "BENCHMARK_UNREADABLE",
            f"{folder} holds no {missing[0]}.parquet or {missing[0]}.jsonl, which {task} needs",
        )
    endings = {Path(name).suffix[1:] for names in files.values() for name in names}
    if len(endings) > 1:
        raise CorpusError("BENCHMARK_UNREADABLE", f"{folder} mixes parquet and jsonl; keep one of the two")
    _check_fields(benchmark, files[benchmark.splits[0]][0])
    config |= {
        "dataset_path": "parquet" if endings == {"parquet"} else "json",
        "dataset_name": None,
        "dataset_kwargs": {"data_files": files, "cache_dir": str(cache)},
    }
    splits = {"train": "training_split", "validation": "validation_split", "test": "test_split"}
    config |= {key: None for split, key in splits.items() if split not in files}
    if benchmark.name == "mmlu" and "dev" not in files:
        config["fewshot_split"] = None
    return config


def _files(folder: Path, split: str) -> list[str]:
    for ending in ENDINGS:
        found = sorted(folder.glob(f"{split}.{ending}")) + sorted(folder.glob(f"{split}-*.{ending}"))
        if found:
            return [str(file.resolve()) for file in found]
    return []


def _check_fields(benchmark: Benchmark, file: str) -> None:
    """Errors: CorpusError BENCHMARK_UNREADABLE where the file cannot be read or lacks a field."""
    try:
        if file.endswith(".parquet"):
            from pyarrow import parquet

            names = set(parquet.read_schema(file).names)
        else:
            import json

            with open(file, encoding="utf-8") as lines:
                names = set(json.loads(next(line for line in lines if line.strip())))
    except Exception as error:  # pyarrow raises many kinds, and an empty file StopIteration
        why = str(error) or "it is empty"
        raise CorpusError("BENCHMARK_UNREADABLE", f"{file} cannot be read: {why}") from error
    if missing := [name for name in benchmark.fields if name not in names]:
        raise CorpusError(
            "BENCHMARK_UNREADABLE",
            f"{file} has no field {missing[0]!r}; a document of {benchmark.name} holds "
            f"{', '.join(benchmark.fields)}",
        )
