"""Data parallelism over eight ranks; gradients are summed by simulated AllReduces of published
schemes."""
import argparse
import dataclasses
import functools
import pathlib

import equarx
import numpy as np
import torch

import corpus
import outcome
import step_times
from gradients_table import differences, ends_of, print_losses, print_times, steps_to, times_to
from models import Shape
from store import Cell, QualityError, fill
from sums import all_reduced
from training import NotFinite, Schedule, Trainer

SEEDS, RANKS = (1, 2, 3), 8
BASELINE = "bf16"
REDUCED = (BASELINE, "EQuARX int4", "int4, two-shot")
WEAKER = 0.05  # nats above the final loss of bf16: a second goal, within reach of coarse schemes
PADDED = 32768  # bucket sizes are a multiple of it, so that every scheme can partition them


@dataclasses.dataclass(frozen=True)
class Scheme:
    """Scheme of summing gradients. `algorithm`: EQuARX's ring ("equarx"), the one of a published system, or direct
    exchange. `feedback`: the error is added in the next step. `automatic_mu`:
    FP8-LM's factor changes from step to step, as in its paper; its code has a constant."""

    name: str
    format: str
    feedback: bool = False
    automatic_mu: bool = False
    algorithm: str = "two-shot"  # through a network: ReduceScatter and AllGather, all to all
    options: dict = dataclasses.field(default_factory=dict)  # of equarx.allreduce

    def definition(self) -> dict:
        """Fields that determine the result; options only if there are any."""
        return {key: value for key, value in dataclasses.asdict(self).items() if key != "options" or value}

    @property
    def is_timed(self) -> bool:
        return self.algorithm in step_times.THROUGH_NETWORK


def schemes() -> list[Scheme]:
    # EQuARX's groups have 128 elements on large tensors; strided ones would have 4 or 5 in these buckets.
    ring = {"algorithm": "equarx", "options": {"layout": "contiguous", "block": 128}}
    return [Scheme("fp32", "fp32"), Scheme("bf16", "bf16"), Scheme("EQuARX int8", "int8", **ring),
            Scheme("int8, two-shot", "int8"), Scheme("EQuARX int4", "int4", **ring),
            Scheme("int4, two-shot", "int4"), Scheme("int4, two-shot, feedback", "int4", feedback=True),
            Scheme("FP8-LM", "fp8lm-e4m3", automatic_mu=True), Scheme("FP8-LM, factor of its code", "fp8lm-e4m3"),
            Scheme("Global-QSGD int8", "global-qsgd-int8"),
            Scheme("Global-QSGD exp8", "global-qsgd-exp8", algorithm="binomial-tree"),
            Scheme("QuickReduce int4", "quickreduce-int4", algorithm="quickreduce"),
            Scheme("ZeRO++ int4", "zeropp-int4"), Scheme("ZeRO++ int4, feedback", "zeropp-int4", feedback=True)]


class Bucket:
    """Weights whose gradients are summed together."""

    def __init__(self, weights: list[torch.nn.Parameter], scheme: Scheme):
        self.weights, self.scheme = weights, scheme
        elements = sum(weight.numel() for weight in weights)
        self.brought = np.zeros((RANKS, -(-elements // PADDED) * PADDED), np.float32)
        self.lost = np.zeros_like(self.brought) if scheme.feedback else None
        self.mu = equarx.AutomaticMu() if scheme.automatic_mu else None

    def bring(self, rank: int) -> None:
        """Takes the current gradients as this rank's."""
        flat = torch.cat([weight.grad.flatten() for weight in self.weights]).numpy()
        self.brought[rank, : len(flat)] = flat

    def mean(self, seed: int) -> float:
        """Replaces the gradient by the mean over all ranks; returns its normalized error."""
        options = self.scheme.options | ({"mu": self.mu.value} if self.mu else {})
        brought = torch.from_numpy(self.brought)
        if self.scheme.format == "bf16":
            brought = brought.bfloat16()
        total, said = all_reduced(brought, self.scheme.format, algorithm=self.scheme.algorithm, hardware="h100",
                                  topology={"fully-connected": RANKS}, feedback=self.lost, seed=seed, **options)
        if self.mu:
            self.mu.update(said)
        start = 0
        for weight in self.weights:
            weight.grad.copy_(total[start : start + weight.numel()].view_as(weight) / RANKS)
            start += weight.numel()
        exact = self.brought.sum(0, dtype=np.float64)
        return float(np.square(total.numpy() - exact).sum() / max(np.square(exact).sum(), 1e-300))


def buckets_of(model: torch.nn.Module, scheme: Scheme) -> list[Bucket]:
    """A bucket for each layer, and one for the tables."""
    blocks = [list(block.parameters()) for block in model.blocks]
    inside = {id(weight) for block in blocks for weight in block}
    tables = [weight for weight in model.parameters() if id(weight) not in inside]
    return [Bucket(weights, scheme) for weights in [*blocks, tables]]


class DataParallel(Trainer):
    """Each rank has its own sequences; a bucket is a layer, or the tables."""

    def __init__(self, scheme: Scheme, *settings):
        super().__init__(*settings)
        if self.schedule.sequences % RANKS:
            raise QualityError(f"{self.schedule.sequences} sequences do not divide over {RANKS} ranks")
        self.buckets = buckets_of(self.model, scheme)
        self.nmse = 0.0

    def gradients(self, tokens):
        total = 0.0
        for rank, own in enumerate(tokens.chunk(RANKS)):
            total += super().gradients(own) / RANKS
            for bucket in self.buckets:
                bucket.bring(rank)
        self.nmse = float(np.mean([bucket.mean(self.step + 1) for bucket in self.buckets]))
        return total


def train(folder: pathlib.Path, definition: dict) -> dict:
    """Losses and errors of the sums at each evaluation, and the reason for an early stop."""
    torch.set_num_threads(1)
    trainer = DataParallel(Scheme(**definition["scheme"]), Shape(**definition["shape"]),
                           Schedule(**definition["schedule"]), corpus.load(folder), definition["seed"])
    result = {"step": [], "loss": [], "held_out": [], "nmse": [], "stopped": None}
    try:
        while trainer.step < trainer.schedule.steps:
            loss = trainer.advance()
            if trainer.is_look():
                for name, value in (("step", trainer.step), ("loss", loss), ("held_out", trainer.held_out_loss()),
                                    ("nmse", trainer.nmse)):
                    result[name].append(value)
    except NotFinite as stop:
        result["stopped"] = str(stop)
    return result


def rows_of(cells: list[Cell], results: dict[str, dict]) -> list[dict]:
    """A row for each evaluation of each training."""
    keys = ("step", "loss", "held_out", "nmse")
    return [{"scheme": cell.definition["scheme"]["name"], "seed": cell.definition["seed"], **dict(zip(keys, values))}
            for cell in cells for values in zip(*(results[cell.name][key] for key in keys))]


def study(chosen: argparse.Namespace) -> None:
    text = corpus.prepare(chosen.output, chosen.text)
    shape = Shape(layers=2, width=64, heads=4, ffn=128) if chosen.reduced else Shape()
    schedule = Schedule(steps=6, every=2, sequences=8, length=32, held_out=4) if chosen.reduced else \
        Schedule(steps=150)
    text.sequences(schedule.held_out, schedule.length)
    common = {"shape": dataclasses.asdict(shape), "schedule": dataclasses.asdict(schedule), "text": text.digest()}
    all_schemes = [scheme for scheme in schemes() if not chosen.reduced or scheme.name in REDUCED]
    timed = [scheme for scheme in all_schemes if scheme.is_timed]
    seconds = {network.name: step_times.of(timed, network) for network in step_times.NETWORKS}
    cells = [Cell(f"{scheme.name}, seed {seed}", common | {"scheme": scheme.definition(), "seed": seed})
             for seed in (SEEDS[:1] if chosen.reduced else SEEDS) for scheme in all_schemes]
    results = fill(chosen.output, cells, functools.partial(train, chosen.output), chosen.threads, lambda result:
                   result["stopped"] or f"held-out loss {result['held_out'][-1]:.3f}")
    rows = rows_of(cells, results)
    ends = ends_of(rows, schedule.steps)
    above = differences(ends, BASELINE)
    goal = max(ends[BASELINE].values())
    goals = (goal, goal + WEAKER)
    steps = [steps_to(rows, each) for each in goals]
    reached = {network: [times_to(each, step_s) for each in steps] for network, step_s in seconds.items()}
    outcome.write(chosen.output, "gradients", rows, {
        "held_out_at_the_end": ends, "above_baseline": above, "goals": goals, "steps_to": steps, "reached_s": reached,
        "step_s": seconds, "settings": common, "machine": step_times.TITLE,
        "stopped": {name: result["stopped"] for name, result in results.items() if result["stopped"]}})
    print_losses(ends, above)
    print_times(step_times.TITLE, seconds, goals, reached)
    import pictures
    pictures.gradients(chosen.output, rows, seconds)
