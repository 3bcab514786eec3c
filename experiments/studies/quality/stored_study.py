"""Trains a model from three seeds, and evaluates it with weights in stored formats."""
import argparse
import dataclasses
import functools
import json
import math
import pathlib

import numpy as np
import torch

import corpus
import outcome
from inference_study import exact, model_cell, train
from intervals import over_seeds, over_sequences
from models import Hooks, Model, Shape, losses
from store import Cell, fill
from stored_claims import by_method, by_name, claims, print_claims, verdicts
from stored_weights import ByToken, Method, methods, quantized, squared_gradients
from training import Schedule

SEEDS = (1, 2, 3)
LIMIT = 0.01  # of the growth of perplexity, in claims 8 and 9


@functools.lru_cache(maxsize=1)
def calibration(folder: pathlib.Path, definition: str, count: int) -> tuple[torch.Tensor, list]:
    """Sequences of the training text, and squared gradients of the model of a definition, given as JSON."""
    settings = json.loads(definition)
    generator = torch.Generator().manual_seed(2000 + settings["seed"])
    sequences = corpus.load(folder).batch(generator, count, settings["schedule"]["length"])
    return sequences, squared_gradients(exact(folder, definition).model, sequences, loss)


def loss(model: Model, sequence: torch.Tensor) -> torch.Tensor:
    """In nats."""
    return losses(model(sequence[None, :-1]), sequence[None, 1:]).sum()


def evaluate(folder: pathlib.Path, definition: dict) -> dict:
    """Per sequence: negative log-likelihood of it and of the exact model, share of equal choices, and the
    Kullback-Leibler divergence from the exact model, in nats per character."""
    torch.set_num_threads(1)
    known = exact(folder, json.dumps(definition["model"]))
    method = Method(**definition["method"])
    sequences, importance = calibration(folder, json.dumps(definition["model"]), definition["calibration"])
    model, result = quantized(known.model, method, lambda model, hooks: model(sequences[:, :-1], hooks), importance)
    result |= {"nll": [], "exact_nll": [], "top1": [], "kl": []}
    hooks = ByToken() if method.by_token else Hooks()
    with torch.no_grad():
        for batch, right in zip(known.batches, known.logits):
            got = model(batch[:, :-1], hooks).log_softmax(-1)
            for name, logits in (("exact_nll", right), ("nll", got)):
                result[name] += (-logits.gather(-1, batch[:, 1:, None])[..., 0]).mean(1).tolist()
            result["top1"] += (right.argmax(-1) == got.argmax(-1)).float().mean(1).tolist()
            result["kl"] += (right.exp() * (right - got)).sum(-1).mean(1).tolist()
    return result


def row_of(cell: Cell, result: dict) -> dict:
    """A row of one seed; intervals are paired by sequence."""
    change, half = over_sequences(np.subtract(result["nll"], result["exact_nll"]))
    method = cell.definition["method"]
    return {"name": cell.name, "method": method["name"], "bits": method["bits"],
            "seed": cell.definition["model"]["seed"], "bits_per_weight": result["bits_per_weight"],
            "nmse": result["nmse"], "perplexity": math.exp(np.mean(result["nll"])),
            "perplexity_change": math.expm1(change), "change_low": math.expm1(change - half),
            "change_high": math.expm1(change + half), "top1_agreement": float(np.mean(result["top1"])),
            "kl_nats": float(np.mean(result["kl"]))}


def summary_of(rows: list[dict]) -> list[dict]:
    """A row for each method: means over seeds, and 95 % intervals of perplexity."""
    made = []
    for (method, bits), some in by_method(rows).items():
        growth, half = over_seeds([log_growth(row) for row in some])
        made.append({"method": method, "bits": bits, "bits_per_weight": some[0]["bits_per_weight"],
                     "nmse": float(np.mean([row["nmse"] for row in some])), "perplexity_change": math.expm1(growth),
                     "change_low": math.expm1(growth - half), "change_high": math.expm1(growth + half),
                     "top1_agreement": float(np.mean([row["top1_agreement"] for row in some])),
                     "kl_nats": float(np.mean([row["kl_nats"] for row in some]))})
    return made


def log_growth(row: dict) -> float:
    """Growth of log-perplexity."""
    return math.log1p(row["perplexity_change"])


def settings_of(reduced: bool, digest: str) -> dict:
    shape = Shape(layers=2, width=64, ffn=128) if reduced else Shape()
    schedule = Schedule(steps=20, held_out=4) if reduced else Schedule(steps=400)
    return {"shape": dataclasses.asdict(shape), "schedule": dataclasses.asdict(schedule),
            "sequences": 8 if reduced else 128, "text": digest}


def study(chosen: argparse.Namespace) -> None:
    text = corpus.prepare(chosen.output, chosen.text)
    common = settings_of(chosen.reduced, text.digest())
    text.sequences(common["sequences"], common["schedule"]["length"])
    models = {seed: common | {"seed": seed} for seed in (SEEDS[:1] if chosen.reduced else SEEDS)}
    trained = [dataclasses.replace(model_cell(model), name=f"model of seed {seed}") for seed, model in models.items()]
    fill(chosen.output, trained, functools.partial(train, chosen.output), chosen.threads,
         lambda result: f"held-out loss {result['held_out']:.3f}")
    cells = [Cell(f"{method.name}, {method.bits} bits, seed {seed}",
                  {"model": model, "method": dataclasses.asdict(method), "calibration": 4 if chosen.reduced else 64})
             for seed, model in models.items() for method in methods(chosen.reduced)]
    results = fill(chosen.output, cells, functools.partial(evaluate, chosen.output), chosen.threads,
                   lambda result: f"{result['bits_per_weight']:.2f} bits, KL {np.mean(result['kl']):.1e}")
    rows = [row_of(cell, results[cell.name]) for cell in cells]
    exact_perplexity = {cell.definition["model"]["seed"]: math.exp(np.mean(results[cell.name]["exact_nll"]))
                        for cell in cells}
    found = claims(rows, log_growth, f"perplexity grows by less than {LIMIT:.0%}",
                   lambda row: math.log1p(LIMIT) - log_growth(row))
    summary = {"exact_perplexity": exact_perplexity, "methods": by_name(summary_of(rows)), "claims": found,
               "verdicts": verdicts(found), "settings": common}
    outcome.write(chosen.output, "stored", rows, summary)
    print_tables(summary)
    import pictures
    pictures.stored(chosen.output, list(summary["methods"].values()))


def print_tables(summary: dict) -> None:
    print("\nexact perplexity per character: "
          + ", ".join(f"{value:.3f}" for value in summary["exact_perplexity"].values()))
    print(f"{'':40}{'bits':>6}{'of weight':>10}{'NMSE':>10}{'perplexity':>12}{'95 % interval':>24}{'top-1':>9}"
          f"{'KL, nats':>11}")
    for row in sorted(summary["methods"].values(), key=lambda row: (row["bits"], row["perplexity_change"])):
        print(f"{row['method']:40}{row['bits']:6}{row['bits_per_weight']:10.2f}{row['nmse']:10.1e}"
              f"{row['perplexity_change']:+12.2%}{row['change_low']:+14.2%} to{row['change_high']:+8.2%}"
              f"{row['top1_agreement']:9.2%}{row['kl_nats']:11.1e}")
    print_claims(summary["claims"])
