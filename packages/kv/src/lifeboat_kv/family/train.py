"""Resumable training of one stage: `python -m lifeboat_kv.family.train --stage pilot --minutes 30`.

State lives in `training-runs/<stage>/`: `state.pt` (weights, optimiser, curriculum, counters), `log.jsonl`,
and `recipe.json`, which is read again at every checkpoint, so the mixture can be changed while it runs; every
recipe in force is written into the log. The target stage grows its first weights from the pilot's state.

`--ranks 2` trains with two single-threaded processes that meet once a step: on a machine with other work this
loses far less than two threads that meet in every operation.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F

from ..family import sources, tokenizer
from .architecture import SHAPES, LeanQwen3
from .bridge import Bridge
from .export import export
from .grow import grow
from .mixture import Curriculum, Mixture, Shares, Text
from .optimiser import Optimiser

log = logging.getLogger("family.train")


@dataclass
class Recipe:
    rows: int = 16
    length: int = 256
    matrix_rate: float = 0.02
    other_rate: float = 0.003
    warmup_steps: int = 60
    bridge: float = 0.0  # weight of the pull towards the pilot's cache, target stage only
    ceiling: int = 9
    prose: float = 0.12
    code: float = 0.08
    copy: float = 0.3
    kinds: dict[str, float] = field(
        default_factory=lambda: {
            "recall": 3.0,
            "lookup": 1.0,
            "repeat": 3.0,
            "recite": 1.0,
            "reverse": 0.5,
            "sort": 0.7,
            "brackets": 0.5,
            "add": 0.7,
        }
    )


class Run:
    def __init__(
        self,
        stage: str,
        runs: Path,
        models: Path,
        minutes: float,
        decay_minutes: float,
        rank: int,
        ranks: int,
        eager: bool,
    ) -> None:
        self.rank, self.ranks = rank, ranks
        self.stage, self.folder, self.models = stage, runs / stage, models
        self.folder.mkdir(parents=True, exist_ok=True)
        self.deadline = time.time() + 60 * minutes
        self.decay = 60 * decay_minutes
        self.recipe = self.read_recipe()
        documents = sources.documents(runs / "sources")
        self.tokenizer_folder = runs / "tokenizer"
        if not (self.tokenizer_folder / "tokenizer.json").exists():
            tokenizer.save(tokenizer.train(documents), self.tokenizer_folder)
        self.tokenizer = tokenizer.load(self.tokenizer_folder)
        text = Text(documents, self.tokenizer, held_out=False, cache=runs / "sources")
        self.curriculum = Curriculum(ceiling=self.recipe.ceiling)
        self.mixture = Mixture(text, self.tokenizer, self.curriculum)
        self.model = LeanQwen3(SHAPES[stage], torch.bfloat16).initialise(seed=1)
        self.step = self.tokens = 0
        self.seconds = 0.0
        self.optimiser = Optimiser(self.model, self.recipe.matrix_rate, self.recipe.other_rate)
        self.bridge: Bridge | None = None
        self.bridge_weight = self.recipe.bridge
        self.compiled = self.loss if eager else torch.compile(self.loss, dynamic=False)

    def read_recipe(self) -> Recipe:
        file = self.folder / "recipe.json"
        if file.exists():
            return Recipe(**json.loads(file.read_text()))
        file.write_text(json.dumps(asdict(Recipe()), indent=1))
        return Recipe()

    def build_bridge(self, runs: Path) -> None:
        """The maps from the finished pilot's cache, with their own Adam; a restart fits them anew."""
        state = torch.load(runs / "pilot" / "state.pt", weights_only=True)
        pilot = LeanQwen3(SHAPES["pilot"], torch.bfloat16)
        pilot.load_state_dict(state["model"])
        self.bridge = Bridge(pilot, self.model)
        self.bridge_adam = torch.optim.AdamW(self.bridge.parameters(), lr=1e-3, weight_decay=0.0)

    def start_from_pilot(self, runs: Path) -> None:
        state = torch.load(runs / "pilot" / "state.pt", weights_only=True)
        pilot = LeanQwen3(SHAPES["pilot"])
        pilot.load_state_dict(state["model"])
        self.model.load_state_dict(grow(pilot, SHAPES[self.stage]).state_dict())
        self.curriculum.levels = {k: v for k, v in state["curriculum"]["levels"].items()}
        self.curriculum.right = dict(state["curriculum"]["right"])

    def resume(self) -> None:
        state = torch.load(self.folder / "state.pt", weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        for name in ("levels", "right", "seen"):
            setattr(self.curriculum, name, dict(state["curriculum"][name]))
        self.step, self.tokens, self.seconds = state["step"], state["tokens"], state["seconds"]

    def save(self) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "curriculum": self.curriculum.to_json(),
            "step": self.step,
            "tokens": self.tokens,
            "seconds": self.seconds,
        }
        partial = self.folder / "state.pt.partial"
        torch.save(state, partial)
        os.replace(partial, self.folder / "state.pt")
        export(self.model, self.tokenizer_folder, self.models / self.stage)

    def loss(self, ids, weights):
        """Weighted mean cross-entropy in nats, and where the argmax is right, [rows, length]."""
        caches: list | None = None if self.bridge is None else []
        logits = self.model(ids[:, :-1], caches).float()
        wanted = ids[:, 1:]
        losses = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none").view_as(wanted)
        loss = (losses * weights).sum() / weights.sum()
        unexplained = torch.zeros(()) if self.bridge is None else self.bridge(ids[:, :-1], caches)
        loss = loss + self.bridge_weight * unexplained
        return loss, losses.detach(), logits.detach().argmax(-1) == wanted, unexplained.detach()

    def agree(self, factor: float) -> float:
        """Average the gradients over the ranks; every rank returns rank 0's schedule factor (-1: stop)."""
        if self.ranks == 1:
            return factor
        learned = [*self.model.parameters(), *(self.bridge.parameters() if self.bridge else ())]
        gradients = [p.grad for p in learned]
        own = torch.tensor([factor * self.ranks if self.rank == 0 else 0.0])
        flat = torch.cat([g.flatten() for g in gradients] + [own])
        dist.all_reduce(flat)
        flat /= self.ranks
        at = 0
        for gradient in gradients:
            gradient.copy_(flat[at : at + gradient.numel()].view_as(gradient))
            at += gradient.numel()
        return flat[-1].item()

    def warm_up(self, rng: random.Random) -> None:
        """Compile on rank 0 first: the other ranks then find the kernels in the cache."""
        recipe = self.recipe
        shares = Shares(recipe.prose, recipe.code, recipe.copy, recipe.kinds)
        for turn in range(self.ranks):
            if turn == self.rank:
                batch = self.mixture.batch(rng, recipe.rows // self.ranks, recipe.length, shares)
                weights = torch.from_numpy(batch.weights)[:, 1:].contiguous()
                self.compiled(torch.from_numpy(batch.ids), weights)[0].backward()
                self.model.zero_grad(set_to_none=True)
                if self.bridge:
                    self.bridge.zero_grad(set_to_none=True)
            if self.ranks > 1:
                dist.barrier()

    def note(self, entry: dict) -> None:
        if self.rank:
            return
        with (self.folder / "log.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\n")
        log.info("%s", json.dumps(entry))

    def train(self, checkpoint_seconds: float, seed: int) -> None:
        rng = random.Random(f"{self.stage}:{seed}:{self.step}:{self.rank}")
        self.note(
            {"recipe": asdict(self.recipe), "step": self.step, "parameters": self.model.parameters_count()}
        )
        self.warm_up(rng)
        started = saved = time.time()
        first_step, first_tokens, spent = self.step, self.tokens, self.seconds
        prose = []
        while True:
            recipe = self.recipe
            shares = Shares(recipe.prose, recipe.code, recipe.copy, recipe.kinds)
            batch = self.mixture.batch(rng, recipe.rows // self.ranks, recipe.length, shares)
            ids = torch.from_numpy(batch.ids)
            weights = torch.from_numpy(batch.weights)[:, 1:].contiguous()
            loss, losses, right, unexplained = self.compiled(ids, weights)
            loss.backward()
            warm = min(1.0, (self.step - first_step + 1) / recipe.warmup_steps)
            left = self.deadline - time.time()
            fall = max(0.02, min(1.0, left / self.decay if self.decay else 1.0))
            factor = self.agree(min(warm, fall) if left > 0 else -1.0)
            if factor < 0:
                break
            self.optimiser.step(factor)
            if self.bridge:
                self.bridge_adam.step()
                self.bridge_adam.zero_grad(set_to_none=True)
            self.model.zero_grad(set_to_none=True)
            self.step, self.tokens = (
                self.step + 1,
                self.tokens + self.ranks * ids.shape[0] * (ids.shape[1] - 1),
            )
            plain = (weights == 1.0).all(dim=1)
            if plain.any():
                prose.append(losses[plain].mean().item())
            groups = torch.from_numpy(batch.groups)[:, 1:]
            for group in torch.unique(groups[groups >= 0]).tolist():
                hits = right[groups == group]
                self.curriculum.record(batch.names[group], int(hits.sum()), hits.numel())
            if self.step % 50 == 0:
                self.seconds = spent + time.time() - started
                rate = (self.tokens - first_tokens) / (time.time() - started)
                current = {
                    f"{k}:{v}": round(self.curriculum.right.get(f"{k}:{v}", 0.0), 2)
                    for k in ("copy", *recipe.kinds)
                    for v in [self.curriculum.levels.get(k, 1)]
                }
                entry = {
                    "step": self.step,
                    "tokens": self.tokens,
                    "rate": round(rate),
                    "text": sum(prose) / max(1, len(prose)),
                }
                if self.bridge:
                    entry["unexplained"] = round(unexplained.item(), 4)
                self.note(entry | current)
                prose = []
            if self.step % 25 == 0 and time.time() - saved > checkpoint_seconds:
                if self.rank == 0:
                    self.save()
                saved = time.time()
                fresh = self.read_recipe()
                if fresh != self.recipe:
                    self.recipe = fresh
                    self.curriculum.ceiling = fresh.ceiling
                    self.optimiser.matrix_rate, self.optimiser.other_rate = (
                        fresh.matrix_rate,
                        fresh.other_rate,
                    )
                    self.note({"recipe": asdict(fresh), "step": self.step})
        self.seconds = spent + time.time() - started
        if self.rank == 0:
            self.save()


def work(rank: int, arguments: argparse.Namespace) -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    if arguments.ranks > 1:
        torch.set_num_threads(1)
        meeting = f"file://{(arguments.runs / 'meeting').resolve()}"
        dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=arguments.ranks)
    run = Run(
        arguments.stage,
        arguments.runs,
        arguments.models,
        arguments.minutes,
        arguments.decay_minutes,
        rank,
        arguments.ranks,
        arguments.eager,
    )
    if arguments.resume:
        run.resume()
    elif arguments.stage == "target":
        run.start_from_pilot(arguments.runs)
    if run.recipe.bridge and arguments.stage == "target":
        run.build_bridge(arguments.runs)
    run.train(arguments.checkpoint_seconds, arguments.seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", choices=sorted(SHAPES), required=True)
    parser.add_argument("--minutes", type=float, required=True, help="wall time of this call")
    parser.add_argument(
        "--decay-minutes", type=float, default=0.0, help="the rate falls to zero over the last part"
    )
    parser.add_argument("--runs", type=Path, default=Path("training-runs"))
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--checkpoint-seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--eager", action="store_true", help="do not compile: for the tiny model")
    parser.add_argument("--resume", action="store_true")
    arguments = parser.parse_args()
    (arguments.runs / "meeting").unlink(missing_ok=True)
    if arguments.ranks == 1:
        work(0, arguments)
    else:
        mp.spawn(work, args=(arguments,), nprocs=arguments.ranks)


if __name__ == "__main__":
    main()
