"""Eight ranks train copies of a model, and sum changes of weights every k steps."""
import argparse
import copy
import dataclasses
import functools
import pathlib

import numpy as np
import torch

import corpus
import outcome
from gradients_study import RANKS, Bucket, Scheme, buckets_of
from models import Shape
from store import Cell, fill
from training import Schedule, Trainer

SEEDS = (1, 2, 3)


@dataclasses.dataclass(frozen=True)
class Outer:
    """Exchange every `every` steps, and the outer optimizer that takes the mean change of weights as a
    gradient: SGD with Nesterov's momentum (DiLoCo, arXiv 2311.08105: rate 0.7, momentum 0.9), or the
    plain mean (local SGD, arXiv 1805.09767)."""

    name: str
    every: int
    format: str
    rate: float = 1.0
    momentum: float = 0.0


def ways(reduced: bool) -> list[Outer]:
    diloco = {"rate": 0.7, "momentum": 0.9}
    every = 2 if reduced else 10
    some = [Outer(f"DiLoCo {form}, every {every}", every, form, **diloco)
            for form in (("fp32", "int4") if reduced else ("fp32", "bf16", "int8", "int4"))]
    return some if reduced else [Outer("local SGD fp32, every 10", 10, "fp32"), *some,
                                 Outer("DiLoCo int4, every 30", 30, "int4", **diloco)]


class Local:
    """A model with its outer optimizer, and a trainer of a copy for each rank."""

    def __init__(self, way: Outer, shape: Shape, schedule: Schedule, text: corpus.Corpus, seed: int):
        self.way, self.schedule = way, schedule
        own = dataclasses.replace(schedule, sequences=schedule.sequences // RANKS)
        self.ranks = [Trainer(shape, own, text, seed) for _ in range(RANKS)]
        for rank, trainer in enumerate(self.ranks):
            trainer.batches.manual_seed(1000 * seed + rank)
        self.whole = Trainer(shape, schedule, text, seed)
        self.buckets: list[Bucket] = buckets_of(self.whole.model, Scheme(way.name, way.format))
        self.outer = torch.optim.SGD(self.whole.model.parameters(), lr=way.rate, momentum=way.momentum,
                                     nesterov=way.momentum > 0)
        self.step, self.nmse = 0, []

    def advance(self) -> None:
        """A step of every rank, and the exchange if it is due."""
        for trainer in self.ranks:
            trainer.advance()
        self.step += 1
        if self.step % self.way.every == 0 or self.step == self.schedule.steps:
            self.exchange()

    def exchange(self) -> None:
        weights = list(self.whole.model.parameters())
        with torch.no_grad():
            for rank, trainer in enumerate(self.ranks):
                for weight, own in zip(weights, trainer.model.parameters()):
                    weight.grad = weight - own
                for bucket in self.buckets:
                    bucket.bring(rank)
            self.nmse.append(float(np.mean([bucket.mean(self.step) for bucket in self.buckets])))
            self.outer.step()
            for trainer in self.ranks:
                trainer.model.load_state_dict(copy.deepcopy(self.whole.model.state_dict()))


def train(folder: pathlib.Path, definition: dict) -> dict:
    """Loss on the held-out text at the end, mean error of the exchanges, and their number."""
    torch.set_num_threads(1)
    local = Local(Outer(**definition["way"]), Shape(**definition["shape"]), Schedule(**definition["schedule"]),
                  corpus.load(folder), definition["seed"])
    while local.step < local.schedule.steps:
        local.advance()
    return {"held_out": local.whole.held_out_loss(), "nmse": float(np.mean(local.nmse)), "exchanges": len(local.nmse)}


def study(chosen: argparse.Namespace) -> None:
    text = corpus.prepare(chosen.output, chosen.text)
    shape = Shape(layers=2, width=64, heads=4, ffn=128) if chosen.reduced else Shape()
    schedule = Schedule(steps=6, every=2, sequences=8, length=32, held_out=4) if chosen.reduced else Schedule(steps=150)
    text.sequences(schedule.held_out, schedule.length)
    common = {"shape": dataclasses.asdict(shape), "schedule": dataclasses.asdict(schedule), "text": text.digest()}
    cells = [Cell(f"{way.name}, seed {seed}", common | {"way": dataclasses.asdict(way), "seed": seed})
             for seed in (SEEDS[:1] if chosen.reduced else SEEDS) for way in ways(chosen.reduced)]
    results = fill(chosen.output, cells, functools.partial(train, chosen.output), chosen.threads,
                   lambda result: f"held-out loss {result['held_out']:.3f}")
    rows = [{"way": cell.definition["way"]["name"], "seed": cell.definition["seed"]} | results[cell.name]
            for cell in cells]
    ends: dict[str, list[float]] = {}
    for row in rows:
        ends.setdefault(row["way"], []).append(row["held_out"])
    outcome.write(chosen.output, "local", rows, {"held_out_at_the_end": ends, "settings": common})
    for name, losses in ends.items():
        print(f"{name:28}{np.mean(losses):8.3f}{min(losses):8.3f}{max(losses):8.3f}")
