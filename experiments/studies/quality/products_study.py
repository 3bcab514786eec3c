"""Two architectures, trained with bf16 and FP8 matmuls; and trainings that are forced to diverge."""
import argparse
import dataclasses
import functools
import math
import pathlib

import numpy as np
import torch

import corpus
import monitors
import outcome
import scheme
from models import Shape
from precision import Precision
from store import Cell, QualityError, fill
from training import NotFinite, Schedule, Trainer

SEEDS = (1, 2, 3)
BF16: dict = {}  # scheme of products
RATES = {"llama": Schedule().rate, "fog": 4e-3}  # the one of fog was chosen by rates.py, in bf16
# FOG's scripts (anonymous4375934/FOG, Megatron-LM/scripts/submit.sh): no final norm, --softmax-scale
# 0.125, --fp8-amax-history-len 1024.
FOG_SHAPES = {"published": {"final_norm": False, "softmax_scale": 0.125}, "adapted": {}}
FOG_SCHEMES = {"published": {"history": 1024}, "adapted": {}}
FORCED = ("margin", "doubling")  # in names of curves that are forced to diverge
DOUBLING = 10  # steps in which a forced rate doubles


def train(folder: pathlib.Path, definition: dict) -> dict:
    """Losses and monitors at each evaluation, and the reason and step of an early stop."""
    torch.set_num_threads(1)
    hooks = Precision(scheme.from_json("scheme", definition["scheme"]))
    trainer = Trainer(Shape(**definition["shape"]), Schedule(**definition["schedule"]), corpus.load(folder),
                      definition["seed"], hooks)
    result = {"step": [], "loss": [], "held_out": [], "seen": [], "stopped": None, "stopped_step": None}
    try:
        while trainer.step < trainer.schedule.steps:
            hooks.is_looking, hooks.seen = trainer.is_look() or trainer.step + 1 == trainer.schedule.steps, {}
            loss = trainer.advance()
            if hooks.is_looking:
                hooks.is_looking = False
                result["step"].append(trainer.step)
                result["loss"].append(loss)
                result["held_out"].append(trainer.held_out_loss())
                result["seen"].append(hooks.seen)
    except NotFinite as stop:
        result["stopped"], result["stopped_step"] = str(stop), trainer.step + 1
    return result


def small_shape(reduced: bool) -> dict:
    """The values that are smaller with --reduced."""
    return {"layers": 2, "width": 64, "heads": 4, "ffn": 128} if reduced else {}


def schedule_of(reduced: bool) -> Schedule:
    return Schedule(steps=6, every=2, sequences=4, length=32, held_out=4) if reduced else Schedule(steps=200)


class Definitions:
    """Trainings of all cells, by name. `fog`: "published" or "adapted"."""

    def __init__(self, common: dict, reduced: bool, fog: str):
        self.common, self.reduced, self.fog, self.cells = common, reduced, fog, {}

    def shape(self, kind: str, **changes) -> Shape:
        return Shape(kind, **(FOG_SHAPES[self.fog] if kind == "fog" else {}), **changes)

    def delayed(self, kind: str, **changes) -> dict:
        """The FP8 scheme of the architecture: with "fog", attention's matmuls are FP8, too."""
        if kind == "fog":
            changes = {"attention": True} | FOG_SCHEMES[self.fog] | changes
        return scheme.fp8("delayed", **changes)

    def add(self, name: str, shape: Shape, products: dict, seed: int, **schedule) -> None:
        shape = dataclasses.replace(shape, **small_shape(self.reduced))
        self.cells[f"{name}, seed {seed}"] = self.common | {
            "shape": dataclasses.asdict(shape), "seed": seed, "scheme": products,
            "schedule": self.common["schedule"] | {"rate": RATES[shape.kind]} | schedule}

    def as_they_should_be(self, seed: int) -> None:
        for kind in ("llama", "fog"):
            self.add(f"{kind} bf16", self.shape(kind), BF16, seed)
            self.add(f"{kind} fp8", self.shape(kind), self.delayed(kind), seed)
        if not self.reduced:
            self.add("llama fp8, current scales", Shape("llama"), scheme.fp8("exact"), seed)
            self.add("llama fp8, blocks", Shape("llama"), scheme.fp8("block"), seed)

    def with_gelu(self, seed: int) -> None:
        gelu = self.shape("fog", activation="gelu")
        self.add("fog with GELU, bf16", gelu, BF16, seed)
        self.add("fog with GELU, fp8", gelu, self.delayed("fog"), seed)

    def forced(self, seed: int) -> None:
        """Both architectures from the same rate on, which doubles until they diverge."""
        steps, every = (12, 2) if self.reduced else (130, 2)
        doubling = {"steps": steps, "every": every, "rate": RATES["llama"],
                    "doubling": 1 if self.reduced else DOUBLING}
        for kind in ("llama", "fog"):
            self.add(f"{kind} fp8, doubling rate", self.shape(kind), self.delayed(kind), seed, **doubling)
            if seed == SEEDS[0]:
                self.add(f"{kind} bf16, doubling rate", self.shape(kind), BF16, seed, **doubling)
                self.add(f"{kind} fp8, doubling rate, no saturation", self.shape(kind),
                         self.delayed(kind, margin=1, saturates=False), seed, **doubling)


def definitions(common: dict, reduced: bool, fog: str) -> dict[str, dict]:
    """Definitions of all cells, by name. Cells that only illustrate have one seed."""
    made = Definitions(common, reduced, fog)
    for seed in SEEDS[:1] if reduced else SEEDS:
        made.as_they_should_be(seed)
        made.forced(seed)
    if not reduced:
        made.with_gelu(SEEDS[0])
    made.add("llama fp8, margin -6", Shape("llama"), scheme.fp8("delayed", margin=-6), SEEDS[0])
    return made.cells


def is_forced(name: str) -> bool:
    return any(word in name for word in FORCED)


def curve_of(name: str) -> str:
    """Settings that all seeds of a cell share."""
    return name.rsplit(", seed", 1)[0]


def rows_of(cell: Cell, result: dict):
    for index, step in enumerate(result["step"]):
        seen = result["seen"][index]
        of = {monitor: finite(monitors.value_of(seen, monitor)) for monitor in monitors.MONITORS}
        yield {"name": cell.name, "step": step, "loss": result["loss"][index],
               "held_out": finite(result["held_out"][index]), "largest_kurtosis": of["kurtosis"],
               "largest_rms": of["rms"], "saturated": of["saturated"], "flushed": of["flushed"]}


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def last_losses(results: dict[str, dict]) -> dict[str, list[float]]:
    """Held-out losses at the end, over all seeds of a curve."""
    curves: dict[str, list[float]] = {}
    for name, result in results.items():
        if result["held_out"] and not result["stopped"]:
            curves.setdefault(curve_of(name), []).append(finite(result["held_out"][-1]))
    return curves


def forewarned(results: dict[str, dict]) -> dict[str, dict]:
    """For each forced training: the step of divergence, and the step at which each monitor first
    exceeded all healthy FP8 trainings of its architecture."""
    known = {kind: monitors.ceilings([result for name, result in results.items() if curve_of(name) == f"{kind} fp8"])
             for kind in RATES}
    return {name: {"diverged": monitors.diverged_at(result), "stopped": result["stopped"],
                   "warned": monitors.warned_at(result, known[name.split()[0]])}
            for name, result in results.items() if is_forced(name)}


def kurtosis(results: dict[str, dict]) -> dict[str, dict[str, float]]:
    """The largest by place, over all seeds of each healthy curve."""
    curves: dict[str, list[dict]] = {}
    for name, result in results.items():
        if not is_forced(name):
            curves.setdefault(curve_of(name), []).append(result)
    return {name: monitors.largest_by_place("kurtosis", some) for name, some in curves.items()}


def summary_of(common: dict, results: dict[str, dict]) -> dict:
    healthy = {kind: [result for name, result in results.items() if curve_of(name) == f"{kind} fp8"] for kind in RATES}
    return {"held_out_at_the_end": last_losses(results), "settings": common, "rates": RATES,
            "ceilings": {kind: monitors.ceilings(some) for kind, some in healthy.items()},
            "false_alarms": {kind: monitors.false_alarms(some) for kind, some in healthy.items()},
            "forced": forewarned(results), "kurtosis": kurtosis(results),
            "stopped": {name: result["stopped"] for name, result in results.items() if result["stopped"]}}


def study(chosen: argparse.Namespace) -> None:
    text = corpus.prepare(chosen.output, chosen.text)
    schedule = schedule_of(chosen.reduced)
    common = {"schedule": dataclasses.asdict(schedule), "text": text.digest()}
    text.sequences(schedule.held_out, schedule.length)
    cells = [Cell(name, definition) for name, definition in definitions(common, chosen.reduced, chosen.fog).items()]
    results = fill(chosen.output, cells, functools.partial(train, chosen.output), chosen.threads, lambda result:
                   result["stopped"] or f"held-out loss {result['held_out'][-1]:.3f}")
    results = {cell.name: results[cell.name] for cell in cells}
    rows = [row for cell in cells for row in rows_of(cell, results[cell.name])]
    summary = summary_of(common, results)
    outcome.write(chosen.output, "products", rows, summary)
    print_tables(summary)
    import pictures
    pictures.products(chosen.output, rows, summary["forced"])
    stopped = [f"{name}: {why}" for name, why in summary["stopped"].items() if not is_forced(name)]
    if stopped:
        raise QualityError(f"{stopped[0]}; what was reached is kept in {chosen.output}. Use a lower rate")


def print_tables(summary: dict) -> None:
    print(f"\n{'final held-out loss':40}{'mean':>8}{'lowest':>9}{'highest':>9}{'seeds':>7}")
    for name, values in summary["held_out_at_the_end"].items():
        if not is_forced(name) or "margin" in name:
            print(f"{name:40}{np.mean(values):8.3f}{min(values):9.3f}{max(values):9.3f}{len(values):7}")
    places = list(next(iter(summary["kurtosis"].values())))
    print(f"\n{'largest kurtosis of any layer':40}" + "".join(f"{place:>12}" for place in places))
    for name, found in summary["kurtosis"].items():
        print(f"{name:40}" + "".join(f"{found[place]:12.1f}" for place in places))
    print(f"\n{'step in which it':48}{'diverged':>9}" + "".join(f"{name:>11}" for name in monitors.MONITORS) + " warned")
    for name, found in summary["forced"].items():
        print(f"{name:48}{found['diverged'] or '-':>9}"
              + "".join(f"{step or '-':>11}" for step in found["warned"].values()))
        if found["stopped"]:
            print(f"  {found['stopped']}")
    for kind, counts in summary["false_alarms"].items():
        print(f"false alarms in {kind}: {counts}")
