"""Two architectures, trained with products of bf16 and of FP8; and trainings that are forced to diverge."""
import argparse
import dataclasses
import functools
import pathlib

import numpy as np
import torch

import corpus
import outcome
from fp8 import Precision, Recipe
from models import Shape
from store import Cell, QualityError, fill
from training import NotFinite, Schedule, Trainer

SEEDS = (1, 2, 3)
DELAYED = Recipe("delayed")


def train(folder: pathlib.Path, definition: dict) -> dict:
    """Losses and monitors at each look, and why it stopped if it did."""
    torch.set_num_threads(1)
    hooks = Precision(Recipe(**definition["recipe"]))
    trainer = Trainer(Shape(**definition["shape"]), Schedule(**definition["schedule"]), corpus.load(folder),
                      definition["seed"], hooks)
    result = {"step": [], "loss": [], "held_out": [], "seen": [], "stopped": None}
    try:
        while trainer.step < trainer.schedule.steps:
            hooks.is_looking, hooks.seen = trainer.is_look(), {}
            loss = trainer.advance()
            if hooks.is_looking:
                hooks.is_looking = False
                result["step"].append(trainer.step)
                result["loss"].append(loss)
                result["held_out"].append(trainer.held_out_loss())
                result["seen"].append(hooks.seen)
    except NotFinite as stop:
        result["stopped"] = str(stop)
    return result


def definitions(common: dict, reduced: bool) -> dict[str, dict]:
    """By name. The forced ones have one seed: they show what diverging looks like."""
    small = {"layers": 2, "width": 64, "heads": 4, "ffn": 128} if reduced else {}
    cells = {}

    def add(name: str, kind: str, recipe: Recipe, seed: int, rate: float | None = None) -> None:
        schedule = common["schedule"] | ({"rate": rate} if rate else {})
        cells[f"{name}, seed {seed}"] = common | {"shape": dataclasses.asdict(Shape(kind, **small)), "seed": seed,
                                                   "recipe": dataclasses.asdict(recipe), "schedule": schedule}

    for seed in SEEDS[:1] if reduced else SEEDS:
        for kind in ("llama", "fog"):
            add(f"{kind} bf16", kind, Recipe(), seed)
            add(f"{kind} fp8", kind, dataclasses.replace(DELAYED, attention=kind == "fog"), seed)
    if not reduced:
        add("llama fp8, current scales", "llama", Recipe("current"), 1)
        add("llama fp8, blocks", "llama", Recipe("block"), 1)
    add("llama fp8, margin -6", "llama", dataclasses.replace(DELAYED, margin=-6), 1)
    for kind in ("llama", "fog"):
        recipe = dataclasses.replace(DELAYED, attention=kind == "fog")
        add(f"{kind} fp8, rate x 15", kind, recipe, 1, rate=15 * Schedule().rate)
    return cells


def rows_of(cell: Cell, result: dict):
    for index, step in enumerate(result["step"]):
        seen = result["seen"][index]
        kurtosis = [value for name, value in seen.items() if name.startswith("kurtosis") and name.endswith("qkv_input")]
        yield {"name": cell.name, "step": step, "loss": result["loss"][index], "held_out": result["held_out"][index],
               "largest_kurtosis_qkv_input": max(kurtosis),
               "largest_kurtosis": max(value for name, value in seen.items() if name.startswith("kurtosis")),
               "saturated": mean_of(seen, "saturated"), "flushed": mean_of(seen, "flushed")}


def mean_of(seen: dict, what: str) -> float:
    values = [value for name, value in seen.items() if name.startswith(what)]
    return float(np.mean(values)) if values else 0.0


def last_losses(results: dict[str, dict]) -> dict[str, list[float]]:
    """Held-out losses at the end, of all seeds of a curve."""
    curves: dict[str, list[float]] = {}
    for name, result in results.items():
        if result["held_out"]:
            curves.setdefault(name.rsplit(", seed", 1)[0], []).append(result["held_out"][-1])
    return curves


def study(chosen: argparse.Namespace) -> None:
    text = corpus.prepare(chosen.output, chosen.text)
    schedule = Schedule(steps=6, every=2, sequences=4, length=32, held_out=4) if chosen.reduced else \
        Schedule(steps=200, every=5)
    common = {"schedule": dataclasses.asdict(schedule), "text": text.digest()}
    text.sequences(schedule.held_out, schedule.length)
    cells = [Cell(name, definition) for name, definition in definitions(common, chosen.reduced).items()]
    results = fill(chosen.output, cells, functools.partial(train, chosen.output), chosen.threads, lambda result:
                   result["stopped"] or f"held-out loss {result['held_out'][-1]:.3f}")
    rows = [row for cell in cells for row in rows_of(cell, results[cell.name])]
    ends = last_losses(results)
    outcome.write(chosen.output, "products", rows, {"held_out_at_the_end": ends, "settings": common,
                  "stopped": {name: result["stopped"] for name, result in results.items() if result["stopped"]}})
    print(f"\n{'held-out loss at the end':34}{'mean':>8}{'lowest':>9}{'highest':>9}")
    for name, values in ends.items():
        print(f"{name:34}{np.mean(values):8.3f}{min(values):9.3f}{max(values):9.3f}")
    import pictures
    pictures.products(chosen.output, rows)
    stopped = [f"{name}: {result['stopped']}" for name, result in results.items()
               if result["stopped"] and "rate x" not in name and "margin" not in name]
    if stopped:
        raise QualityError(f"{stopped[0]}; what was reached is kept in {chosen.output}. Use a lower rate")
