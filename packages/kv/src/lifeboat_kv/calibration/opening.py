"""What every run begins with: the pair checked and loaded, the corpus split, the passes planned."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

from .. import __version__
from ..corpora import Corpus, load_corpus
from ..events import Events, telling
from ..fit.ends import constant_head, norm_weights
from ..fit.several_methods import PairShape, check_k, needs_of
from ..host.allocator import keep_freed_memory
from ..host.devices import choose_device
from ..host.memory import memory_budget
from ..host.resources import check_out_folder
from ..mapper.artifact import remove_leftovers
from ..mapper.form import ConstantHead
from ..measure.cost import LENGTHS
from ..methods import DEFAULT_METHOD, METHODS, Method, method_named
from ..models.chat_template import template_head
from ..models.facts import inspect_model
from ..models.grouped_attention import use_grouped_attention
from ..models.load import end_tokens, load_model, load_tokenizer
from ..models.pair_check import check_pair
from ..models.side import Side
from ..moments.passes import Pass, Widths, batch_within, plan_passes
from ..rotation.rope import Rope, check_rotation
from ..score.footprint import check_reach, check_seq_len, shared_context


@dataclass(frozen=True)
class Options:
    """What a run was asked for. `sizes` overrides the corpus's own (keys of corpus.Sizes); `long` adds
    the rows at 32 times the fitted length."""

    source_model: Path
    target_model: Path
    corpus: str
    out: Path
    corpus_column: str | None = None
    corpus_store: Path | None = None
    k: int = 4
    method: str = DEFAULT_METHOD
    device: str = "auto"
    seed: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    cost_lengths: tuple[int, ...] = LENGTHS
    batch_tokens: int = 8192
    long: bool = False


@dataclass
class Run:
    """What the stages hand on. `gammas` are the target's k_norm weights by layer, None without k_norm.

    `batch_tokens` is what the capture runs at once, `passes` how often it runs.
    """

    options: Options
    events: Events
    method: Method
    device: str
    source_facts: dict[str, Any]
    target_facts: dict[str, Any]
    source: Side
    target: Side
    ends: frozenset[int]
    corpus: Corpus
    head: ConstantHead | None
    gammas: list[torch.Tensor] | None
    batch_tokens: int
    passes: list[Pass]

    @property
    def widths(self) -> Widths:
        return widths_of(self.source_facts, self.target_facts)

    @property
    def shape(self) -> PairShape:
        return shape_of(self.source_facts, self.target_facts, self.gammas is not None)


def open_run(options: Options, events: Events, methods: list[Method] | None = None) -> Run:
    """Checks everything that can be wrong before anything is computed; sends "started" and stage inspect.

    `methods` are fitted side by side; by default the run's own with its self-map, and the plain ridge.
    Errors: HelmError of every kind, with its exit code.
    """
    method = method_named(options.method)
    device = choose_device(options.device)
    if device == "cpu":
        keep_freed_memory()
    check_out_folder(options.out)
    remove_leftovers(options.out)
    source_facts = inspect_model(options.source_model)
    target_facts = inspect_model(options.target_model)
    check_pair(source_facts, target_facts)
    check_k(options.k, int(source_facts["num_hidden_layers"]))
    stated = [facts["max_position_embeddings"] for facts in (source_facts, target_facts)]
    check_seq_len(options.sizes.get("seq_len", 0), min((int(c) for c in stated if c), default=None))
    budget = memory_budget(source_facts, target_facts, device)
    tokenizer = load_tokenizer(options.target_model)
    # A download takes minutes in which nothing else is said.
    with telling(events, "lifeboat_kv.corpora"):
        corpus = load_corpus(
            options.corpus,
            tokenizer,
            options.sizes,
            column=options.corpus_column,
            store=options.corpus_store,
        )
    widths = widths_of(source_facts, target_facts)
    normalised = bool(target_facts.get("k_norm"))
    needs = needs_of(methods or with_baseline(method), None if methods else method, options.k, normalised)
    batch_tokens = batch_within(widths, options.batch_tokens, corpus.sizes.seq_len, budget)
    passes = plan_passes(widths, needs, batch_tokens, budget)
    events.send(
        "started",
        pair={"source": source_facts, "target": target_facts},
        method=method.name,
        k=options.k,
        device=device,
        corpus=corpus.facts(),
        seeds={"rows": options.seed},
        versions=versions(),
    )
    for note in corpus.notes:
        events.log("warning", note.message)
    if len(passes) > 1:
        events.log("info", f"memory is short: the corpus is read {len(passes)} times, some maps at a time")
    events.stage("inspect")
    models = []
    for done, path in enumerate((options.source_model, options.target_model), 1):
        models.append(load_model(path, device))
        use_grouped_attention(models[-1])
        events.progress(done, 2, "models")
    source, target = (_turning(model) for model in models)
    check_seq_len(corpus.sizes.seq_len, shared_context(source, target))
    check_reach(max(len(s.tokens) for split in corpus.splits.values() for s in split), source, target)
    head = constant_head(target.model, target.rope, template_head(tokenizer))
    return Run(
        options,
        events,
        method,
        device,
        source_facts,
        target_facts,
        source,
        target,
        end_tokens(target.model, tokenizer),
        corpus,
        head,
        norm_weights(target.model),
        batch_tokens,
        passes,
    )


def widths_of(source: dict[str, Any], target: dict[str, Any]) -> Widths:
    """From two models' facts."""
    numbers = []
    for facts in (source, target):
        numbers.append(int(facts["num_hidden_layers"]))
        numbers.append(int(facts["num_key_value_heads"]) * int(facts["head_dim"]))
    return Widths(*numbers)


def with_baseline(method: Method) -> list[Method]:
    """The methods a calibration fits: its own, and the plain ridge to stand beside it."""
    return list({m.name: m for m in (method, METHODS["ridge"])}.values())


def shape_of(source: dict[str, Any], target: dict[str, Any], normalised: bool) -> PairShape:
    """From two models' facts; `normalised` says whether the target has a k_norm by head."""
    return PairShape(
        int(source["num_hidden_layers"]),
        int(source["num_key_value_heads"]),
        int(target["num_hidden_layers"]),
        int(target["num_key_value_heads"]),
        normalised,
    )


def versions() -> dict[str, str]:
    """Software the numbers depend on."""
    return {
        "lifeboat_kv": __version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "python": platform.python_version(),
    }


def _turning(model: Any) -> Side:
    """The model with its rotation, proven on every layer of a short cache. Errors: RopeError."""
    rope = Rope.from_model(model)
    check_rotation(model, rope)
    return Side(model, rope)
