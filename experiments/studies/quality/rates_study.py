"""Trains both architectures in bf16 with several rates; the one with the least loss on validation
text is taken."""
import argparse
import dataclasses
import functools
import pathlib

import torch

import corpus
import outcome
from models import Shape
from precision import BF16, Precision
from products_study import FOG_SHAPES, schedule_of, small_shape
from store import Cell, fill
from training import SHORT, NotFinite, Schedule, Trainer

RATES = (1e-3, 2e-3, 4e-3, 8e-3)
SEED = 4  # disjoint from the seeds of reported results


def train(folder: pathlib.Path, definition: dict) -> dict:
    """The final loss on validation text, or the reason why it is missing."""
    torch.set_num_threads(1)
    trainer = Trainer(Shape(**definition["shape"]), Schedule(**definition["schedule"]), corpus.load(folder),
                      definition["seed"], Precision(BF16))
    try:
        while trainer.step < trainer.schedule.steps:
            trainer.advance()
    except NotFinite as stop:
        return {"validation": None, "stopped": str(stop)}
    return {"validation": trainer.validation_loss(), "stopped": None}


def study(chosen: argparse.Namespace) -> None:
    text = corpus.prepare(chosen.output, chosen.text)
    schedule = schedule_of(True) if chosen.reduced else SHORT
    text.validation(schedule.held_out, schedule.length)
    shapes = {"llama": Shape("llama", **small_shape(chosen.reduced)),
              "fog": Shape("fog", **FOG_SHAPES["published"], **small_shape(chosen.reduced))}
    cells = {(kind, rate): Cell(f"{kind} bf16, rate {rate:g}", {
        "shape": dataclasses.asdict(shape), "seed": SEED, "text": text.digest(),
        "schedule": dataclasses.asdict(dataclasses.replace(schedule, rate=rate))})
        for kind, shape in shapes.items() for rate in RATES}
    results = fill(chosen.output, list(cells.values()), functools.partial(train, chosen.output), chosen.threads,
                   lambda result: result["stopped"] or f"validation loss {result['validation']:.3f}")
    rows = [{"kind": kind, "rate": rate, **results[cell.name]} for (kind, rate), cell in cells.items()]
    best = {kind: min((row for row in rows if row["kind"] == kind and row["validation"] is not None),
                      key=lambda row: row["validation"])["rate"] for kind in shapes}
    settings = next(iter(cells.values())).definition
    outcome.write(chosen.output, "rates", rows, {"best": best, "seed": SEED, "settings": settings})
    for row in rows:
        result = row["stopped"] or f"validation loss {row['validation']:.4f}"
        print(f"{row['kind']}, rate {row['rate']:.0e}: {result}")
    for kind, rate in best.items():
        print(f"lowest loss of {kind} at rate {rate:g}")
