"""Trains the llama model with products of several schemes, and compares final losses by seed."""
import argparse
import dataclasses
import functools
import pathlib

import numpy as np
import torch

import corpus
import outcome
import scheme
from models import Shape
from precision import Precision
from products_study import small_shape
from store import Cell, fill
from stored_claims import verdict, verdicts
from training import SHORT, NotFinite, Schedule, Trainer

SEEDS = (1, 2, 3)


@dataclasses.dataclass(frozen=True)
class Claim:
    """The loss with `better` is below (1 + `within`) times that with `worse`. A hit holds in every seed, a miss in
    none."""

    better: str
    worse: str
    source: str
    within: float = 0.0

    def text(self) -> str:
        how = f"at most {self.within:.1%} worse" if self.within else "better"
        return f"{self.better} {how} than {self.worse} ({self.source})"

    def gains(self, losses: dict[str, list[float]]) -> list[float]:
        """By seed, in nats."""
        return [(1 + self.within) * worse - better for better, worse in zip(losses[self.better], losses[self.worse])]


def without(name: str, step: str, operand: str, *keys: str) -> dict:
    """A shipped scheme without some keys of an operand."""
    given = scheme.given_json(name)
    given[step][operand] = {key: value for key, value in given[step][operand].items() if key not in keys}
    return given


def fp4_schemes() -> dict[str, dict]:
    return {"bf16": {}, "fp4": scheme.given_json("fp4"), "fp4-direct": scheme.given_json("fp4-direct"),
            "fp4, DGE only": without("fp4", "forward", "activations", "clamp", "compensated"),
            "fp4, OCC only": without("fp4", "forward", "weights", "derivative", "k", "at_most"),
            "nvfp4": scheme.given_json("nvfp4")}


def mask_schemes() -> dict[str, dict]:
    return {name: scheme.given_json(name) for name in ("e8m7", "e8m5", "e8m4", "e8m3", "e8m2")}


def pams_schemes() -> dict[str, dict]:
    """int4 by abs-max of the tensor is the plain alternative to a learnt range."""
    plain = scheme.given_json("pams4")
    plain["forward"]["activations"] = {"code": "int4", "scale": "exact"}
    return {"bf16": {}, "pams8": scheme.given_json("pams8"), "pams4": scheme.given_json("pams4"),
            "int4 by abs-max": plain}


FP4, MASKS, PAMS = "arXiv 2501.17116", "arXiv 2405.18710", "arXiv 2011.04212"
STUDIES = {
    "fp4": (fp4_schemes, [Claim("bf16", "fp4", FP4), Claim("fp4", "fp4-direct", FP4),
                          Claim("fp4, DGE only", "fp4-direct", FP4), Claim("fp4, OCC only", "fp4-direct", FP4),
                          Claim("nvfp4", "bf16", "arXiv 2509.25149", within=0.015)]),
    "masks": (mask_schemes, [Claim("e8m7", "e8m5", MASKS), Claim("e8m5", "e8m4", MASKS), Claim("e8m4", "e8m3", MASKS),
                             Claim("e8m3", "e8m2", MASKS)]),
    "pams": (pams_schemes, [Claim("pams4", "int4 by abs-max", PAMS), Claim("pams8", "pams4", PAMS)]),
}


def train(folder: pathlib.Path, definition: dict) -> dict:
    """Held-out losses at each evaluation, and the reason and step of an early stop."""
    torch.set_num_threads(1)
    shape = Shape(**definition["shape"])
    hooks = Precision(scheme.from_json("scheme", definition["scheme"]), shape.layers, definition["seed"])
    trainer = Trainer(shape, Schedule(**definition["schedule"]), corpus.load(folder), definition["seed"], hooks)
    result = {"step": [], "held_out": [], "stopped": None}
    try:
        while trainer.step < trainer.schedule.steps:
            trainer.advance()
            if trainer.is_look():
                result["step"].append(trainer.step)
                result["held_out"].append(trainer.held_out_loss())
    except NotFinite as stop:
        result["stopped"] = str(stop)
    return result


def schedule_of(reduced: bool) -> Schedule:
    return (Schedule(steps=6, every=3, sequences=4, length=32, held_out=4) if reduced
            else dataclasses.replace(SHORT, every=25))


def final(result: dict) -> float:
    """The last loss; infinite if the training stopped."""
    return float("inf") if result["stopped"] else result["held_out"][-1]


def claims_of(claims: list[Claim], losses: dict[str, list[float]]) -> list[dict]:
    rows = []
    for claim in claims:
        gains = claim.gains(losses)
        rows.append({"claim": claim.text(), "gains": gains, "worst": -min(gains), "verdict": verdict([gain > 0 for gain in gains])})
    return rows


def summary_of(chosen: str, losses: dict[str, list[float]]) -> dict:
    claims = claims_of(STUDIES[chosen][1], losses)
    base = next(iter(losses))
    return {"losses": {name: {"mean": float(np.mean(values)), "seeds": values,
                              "above_first": float(np.mean(np.subtract(values, losses[base])))}
                       for name, values in losses.items()},
            "claims": claims, "verdicts": verdicts(claims)}


def study(chosen: argparse.Namespace) -> None:
    made = STUDIES[chosen.study][0]() | {name: scheme.given_json(name) for name in chosen.scheme}
    for name, given in made.items():
        scheme.from_json(name, given)
    text = corpus.prepare(chosen.output, chosen.text)
    schedule = schedule_of(chosen.reduced)
    text.sequences(schedule.held_out, schedule.length)
    shape = dataclasses.replace(Shape("llama"), **small_shape(chosen.reduced))
    seeds = SEEDS[:1] if chosen.reduced else SEEDS
    common = {"shape": dataclasses.asdict(shape), "schedule": dataclasses.asdict(schedule), "text": text.digest()}
    cells = {(name, seed): Cell(f"{name}, seed {seed}", common | {"seed": seed, "scheme": scheme.arithmetic(given)})
             for seed in seeds for name, given in made.items()}
    results = fill(chosen.output, list(cells.values()), functools.partial(train, chosen.output), chosen.threads,
                   lambda result: result["stopped"] or f"held-out loss {result['held_out'][-1]:.3f}")
    losses = {name: [final(results[cells[name, seed].name]) for seed in seeds] for name in made}
    rows = [{"scheme": name, "seed": seed, "step": step, "held_out": loss} for (name, seed), cell in cells.items()
            for step, loss in zip(results[cell.name]["step"], results[cell.name]["held_out"])]
    summary = summary_of(chosen.study, losses)
    outcome.write(chosen.output, chosen.study, rows, summary | {"settings": cells[next(iter(cells))].definition})
    print_tables(summary)


def print_tables(summary: dict) -> None:
    print(f"\n{'final held-out loss':24}{'mean':>8}{'lowest':>9}{'highest':>9}{'above the first':>17}")
    for name, row in summary["losses"].items():
        print(f"{name:24}{row['mean']:8.3f}{min(row['seeds']):9.3f}{max(row['seeds']):9.3f}{row['above_first']:+17.4f}")
    print("\nclaims, with gains by seed")
    for row in summary["claims"]:
        print(f"  {row['verdict']:10}{row['claim']}: " + ", ".join(f"{gain:+.4f}" for gain in row["gains"]))
