"""One evaluation: pilot, target and the target on transferred caches answer the same documents."""

from __future__ import annotations

import contextlib
import platform
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from .. import __version__
from ..errors import CorpusError, HelmError, UsageError
from ..evaluate import benchmarks, bundled, outcome
from ..events import Events
from ..host.devices import choose_device
from ..mapper.artifact import read_mapper
from ..models.digest_cache import file_digest
from ..models.facts import inspect_model
from ..models.load import end_tokens, load_model, load_tokenizer
from ..models.pair_check import check_pair
from ..models.side import Side
from ..rotation.rope import Rope
from .hand_over import HandOver
from .install import require_installed
from .progress import Progress
from .task_files import write_task_files

BUNDLED_TASKS = Path(__file__).resolve().parents[5] / "corpora" / "bundled" / "tasks.jsonl"
_VERSIONS = ("torch", "transformers", "lm_eval", "datasets")


@dataclass(frozen=True)
class EvaluateOptions:
    """What was asked for. `mapper` is a mapper's folder or file; `data` a folder of benchmarks or None."""

    source_model: Path
    target_model: Path
    mapper: Path
    tasks: tuple[str, ...] = (bundled.GROUP,)
    data: Path | None = None
    limit: int | None = None
    fewshot: int | None = None
    device: str = "auto"
    longest: int | None = None
    batch_tokens: int = 8192
    bundled_tasks: Path | None = None


def evaluate(options: EvaluateOptions, events: Events) -> tuple[dict[str, Any], dict[str, Any]]:
    """Runs the tasks on all three models and sends the "evaluation" event; that and the mapper's manifest.

    Nothing is written but a temporary folder. Errors: HelmError with its exit code.
    """
    require_installed()
    device = choose_device(options.device)
    facts = {"source": inspect_model(options.source_model), "target": inspect_model(options.target_model)}
    check_pair(facts["source"], facts["target"])
    mapper = read_mapper(options.mapper, expected_pair=(facts["source"], facts["target"]))
    progress = Progress(events)
    with tempfile.TemporaryDirectory(prefix="helm-evaluate-") as folder, _quiet():
        tasks = _load_tasks(options, Path(folder))
        sides = {}
        for name, path in (("source", options.source_model), ("target", options.target_model)):
            model = load_model(path, device)
            sides[name] = Side(model, Rope.from_model(model))
        source, target = sides["source"], sides["target"]
        mapper = mapper.to(device, torch.float32)
        hand_overs = {
            "pilot": HandOver(source, batch_tokens=options.batch_tokens),
            "target": HandOver(target, batch_tokens=options.batch_tokens),
            "transferred": HandOver(target, source, mapper, options.batch_tokens),
        }
        tokenizer = load_tokenizer(options.target_model)
        longest = options.longest or min(int(f["max_position_embeddings"] or 4096) for f in facts.values())
        samples: dict[str, Mapping[str, Any]] = {}
        moved: Mapping[str, list[int]] = {}
        for name, hand_over in hand_overs.items():
            progress.stage(name)
            samples[name], moved = _answers(hand_over, tokenizer, longest, tasks, options, progress)
    result = _result(options, tasks, samples, moved, facts, device)
    events.send("evaluation", **result)
    return result, mapper.manifest


@dataclass(frozen=True)
class _Tasks:
    """What the harness loaded, and the leaves of each name that was asked for."""

    asked: dict[str, list[str]]
    loaded: dict[str, Any]

    def part(self, chat: bool) -> dict[str, Any]:
        return {n: t for n, t in self.loaded["tasks"].items() if n.startswith(bundled.GROUP) == chat}


def _load_tasks(options: EvaluateOptions, folder: Path) -> _Tasks:
    from lm_eval import tasks as library
    from lm_eval.tasks import TaskManager

    files, cache = folder / "tasks", folder / "cache"
    for path in (files, cache):
        path.mkdir()
    if not options.tasks or len(set(options.tasks)) < len(options.tasks):
        raise UsageError("TASKS_TWICE", "name each task once, such as --tasks helm_bundled,arc_challenge")
    home = Path(library.__file__).parent
    asked: dict[str, list[str]] = {}
    for name in options.tasks:
        if name == bundled.GROUP:
            source = options.bundled_tasks or BUNDLED_TASKS
            configs = list(bundled.configs(source, files, cache))
        else:
            configs = list(benchmarks.configs(name, home, options.data, cache))
        write_task_files(configs, files)
        asked[name] = [c["task"] for c in configs if "group" not in c]
    try:
        loaded = TaskManager(include_path=str(files), include_defaults=False).load(list(options.tasks))
    except HelmError:
        raise
    except Exception as error:  # the harness and its data library raise many kinds
        raise CorpusError("BENCHMARK_UNREADABLE", _one_line(options, error)) from error
    for task in loaded["tasks"].values():
        if options.fewshot is not None and task.get_config("num_fewshot") != 0:
            task.set_config(key="num_fewshot", value=options.fewshot)
        elif task.get_config("num_fewshot") is None:
            task.set_config(key="num_fewshot", value=0)
    return _Tasks(asked, loaded)


def _one_line(options: EvaluateOptions, error: Exception) -> str:
    where = f"in {options.data}" if options.data else "from the hub"
    text = " ".join(str(error).split())[:300] or type(error).__name__
    return f"the documents {where} cannot be read: {text}; compare them with docs/evaluation.md"


def _answers(
    hand_over: HandOver,
    tokenizer: Any,
    longest: int,
    tasks: _Tasks,
    options: EvaluateOptions,
    progress: Progress,
) -> tuple[dict[str, Any], Mapping[str, list[int]]]:
    from lm_eval.evaluator import evaluate as run_tasks

    from .harness_model import HarnessModel

    ends = end_tokens(hand_over.target.model, tokenizer)
    model = HarnessModel(hand_over, tokenizer, ends, longest=longest, progress=progress.update)
    samples: dict[str, Any] = {}
    for task in tasks.loaded["tasks"].values():
        # Each model sees the same worked examples: the sampler draws on from where it stopped.
        task.set_fewshot_seed(seed=1234)
    for chat in (True, False):
        part = tasks.part(chat)
        if part:
            found = run_tasks(
                model,
                {"tasks": part, "groups": {}, "group_map": {}},
                limit=options.limit,
                bootstrap_iters=0,
                apply_chat_template=chat,
            )
            samples |= found["samples"]
    return samples, model.moved


def _result(
    options: EvaluateOptions,
    tasks: _Tasks,
    samples: Mapping[str, Mapping[str, Any]],
    moved: Mapping[str, list[int]],
    facts: Mapping[str, Mapping[str, Any]],
    device: str,
) -> dict[str, Any]:
    rows, whole = [], []
    for name, leaves in tasks.asked.items():
        found = benchmarks.benchmark_of(name)
        parts = []
        for leaf in leaves:
            total, mapped = moved[leaf]
            parts.append(
                outcome.measured(
                    leaf,
                    {model: samples[model][leaf] for model in outcome.MODELS},
                    found and found.metric,
                    found and found.filter,
                    mapped / total if total else None,
                )
            )
        one = parts[0] if leaves == [name] else outcome.pooled(name, parts)
        whole.append(one)
        rows.append(outcome.row_of(one))
        if name == bundled.GROUP:
            rows += [outcome.row_of(part, group=name) for part in parts]
    file = options.mapper / "mapper.safetensors" if options.mapper.is_dir() else options.mapper
    return {
        "pair": {side: str(facts[side]["id"]) for side in ("source", "target")},
        "weights": {side: facts[side]["weights_sha256"] for side in ("source", "target")},
        "mapper_sha256": file_digest(file),
        "tasks": rows,
        "mean": outcome.mean_of(whole),
        "warnings": outcome.warnings_of(rows),
        "limit": options.limit,
        "device": device,
        "development": device == "cpu",
        "versions": {
            "lifeboat_kv": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _VERSIONS},
        },
    }


@contextlib.contextmanager
def _quiet():
    """Standard output is for events: what libraries print goes to the log instead."""
    with contextlib.redirect_stdout(sys.stderr):
        yield
