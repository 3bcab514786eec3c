"""Trains the FOG architecture in bf16 with several rates; the one with the least loss on validation
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
from products_study import schedule_of, small_shape
from store import Cell, fill
from training import NotFinite, Schedule, Trainer

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
    schedule = schedule_of(chosen.reduced)
    text.validation(schedule.held_out, schedule.length)
    cells = [Cell(f"fog bf16, rate {rate:g}", {
        "shape": dataclasses.asdict(Shape("fog", **small_shape(chosen.reduced))), "seed": SEED, "text": text.digest(),
        "schedule": dataclasses.asdict(dataclasses.replace(schedule, rate=rate))}) for rate in RATES]
    results = fill(chosen.output, cells, functools.partial(train, chosen.output), chosen.threads, lambda result:
                   result["stopped"] or f"validation loss {result['validation']:.3f}")
    rows = [{"rate": rate, **results[cell.name]} for rate, cell in zip(RATES, cells)]
    best = min((row for row in rows if row["validation"] is not None), key=lambda row: row["validation"])
    outcome.write(chosen.output, "rates", rows, {"best": best["rate"], "seed": SEED, "settings": cells[0].definition})
    for row in rows:
        print(f"rate {row['rate']:.0e}: " + (row["stopped"] or f"validation loss {row['validation']:.4f}"))
    print(f"lowest loss at rate {best['rate']:g}")
