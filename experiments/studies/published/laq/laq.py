#!/usr/bin/env python3
"""Lazily aggregated, quantized gradients on a convex problem: rounds, uploads and bits to a loss."""
import argparse
import json
import pathlib
import sys

try:
    import equarx
    import numpy as np
except ImportError as error:
    sys.exit(f"laq.py: error: {error}; build the package and set PYTHONPATH=build/release/python")

WORKERS, INPUTS, WEIGHTS = 10, 100, 50
PENALTY, RATE, GAP, FROM = 0.01, 0.02, 1e-6, 1e-2
METHODS = {"GD": {"bits": None, "weight": 0.0, "error_weight": 0.0}, "QGD": {"weight": 0.0, "error_weight": 0.0},
           "LAG": {"bits": None}, "LAQ": {}}


class Problem:
    """Logistic regression on the data of all workers; losses and gradients are sums over workers."""

    def __init__(self, seed: int):
        random = np.random.default_rng(seed)
        self.inputs = random.standard_normal((WORKERS, INPUTS, WEIGHTS)) * 0.9 ** np.arange(WORKERS)[:, None, None]
        odds = self.inputs @ random.standard_normal(WEIGHTS) / np.sqrt(WEIGHTS) * 2
        self.labels = np.where(random.random(odds.shape) < 1 / (1 + np.exp(-odds)), 1.0, -1.0)

    def loss(self, at: np.ndarray) -> float:
        margins = self.labels * (self.inputs @ at)
        return float(np.logaddexp(0, -margins).mean(1).sum() + WORKERS * PENALTY / 2 * at @ at)

    def gradients(self, at: np.ndarray) -> np.ndarray:
        """By worker."""
        pulls = -self.labels / (1 + np.exp(self.labels * (self.inputs @ at)))
        return np.einsum("mn,mni->mi", pulls, self.inputs) / INPUTS + PENALTY * at

    def minimum(self) -> float:
        at = np.zeros(WEIGHTS)
        for _ in range(50):
            chances = 1 / (1 + np.exp(-self.inputs @ at))
            curvature = np.einsum("mni,mn,mnj->ij", self.inputs, chances * (1 - chances), self.inputs) / INPUTS
            at = at - np.linalg.solve(curvature + WORKERS * PENALTY * np.eye(WEIGHTS), self.gradients(at).sum(0))
        return self.loss(at)


def descend(problem: Problem, options: dict, rounds: int) -> dict:
    """Losses above the minimum after each round, and uploads and bits up to it."""
    lazy, at, least = equarx.Lazy(RATE, **options), np.zeros(WEIGHTS), problem.minimum()
    made: dict = {"gap": [], "bits": []}
    for _ in range(rounds):
        at = at - RATE * lazy.step(problem.gradients(at), at)
        made["gap"].append(problem.loss(at) - least)
        made["bits"].append(lazy.bits)
    return made | {"uploads": np.cumsum(lazy.uploads).tolist()}


def straightness(gaps: np.ndarray) -> float:
    """R^2 of a line through the logarithms of the losses from FROM to GAP."""
    some = np.log10(gaps[(gaps <= FROM) & (gaps >= GAP)])
    return float(np.corrcoef(np.arange(len(some)), some)[0, 1] ** 2) if len(some) > 2 else 0.0


def costs(course: dict) -> dict:
    """Rounds, uploads and bits until the loss is within GAP of the minimum; None if it is never."""
    gaps = np.array(course["gap"])
    if gaps.min() > GAP:
        return {"rounds": None, "uploads": None, "bits": None, "r2": 0.0, "gap": float(gaps[-1])}
    last = int(np.argmax(gaps <= GAP))
    return {"rounds": last + 1, "uploads": course["uploads"][last], "bits": course["bits"][last],
            "r2": straightness(gaps[: last + 1]), "gap": float(gaps[-1])}


def less(one: dict, other: dict, what: str, factor: float = 1.0) -> bool:
    return one[what] is not None and (other[what] is None or one[what] < factor * other[what])


def claims(of: dict) -> dict[str, bool]:
    """For one seed."""
    return {"1 linear": of["LAQ"]["r2"] >= 0.99,
            "2 rounds": less(of["LAQ"], of["GD"], "rounds", 1.1),
            "3 uploads, GD": less(of["LAQ"], of["GD"], "uploads"),
            "4 uploads, QGD": less(of["LAQ"], of["QGD"], "uploads"),
            "5 bits": all(less(of["LAQ"], of[name], "bits") for name in ("GD", "QGD", "LAG")),
            "6 LAG": less(of["LAG"], of["GD"], "uploads")}


def mean(values: list) -> float | None:
    return None if None in values else float(np.mean(values))


def study(seeds: int, rounds: int) -> dict:
    by_seed, uploads = [], {}
    for seed in range(1, seeds + 1):
        courses = {name: descend(Problem(seed), options, rounds) for name, options in METHODS.items()}
        by_seed.append({name: costs(course) for name, course in courses.items()})
        uploads[seed] = np.diff(courses["LAQ"]["uploads"], prepend=0).tolist()
    methods = {name: {what: mean([one[name][what] for one in by_seed]) for what in by_seed[0][name]}
               for name in METHODS}
    held = [claims(one) for one in by_seed]
    verdicts = {claim: "hit" if all(one[claim] for one in held) else "miss" for claim in held[0]}
    ratios = {what: methods["LAQ"][what] / methods["GD"][what] if methods["LAQ"][what] and methods["GD"][what] else None
              for what in ("rounds", "uploads", "bits")}
    return {"methods": methods, "laq_over_gd": ratios, "claims": verdicts,
            "hits": sum(verdict == "hit" for verdict in verdicts.values()), "seeds": by_seed, "laq_uploads": uploads}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--reduced", action="store_true", help="one seed and few rounds: seconds")
    chosen = parser.parse_args()
    result = study(1, 60) if chosen.reduced else study(3, 5000)
    chosen.output.mkdir(parents=True, exist_ok=True)
    part = chosen.output / "results.json.part"
    part.write_text(json.dumps(result, indent=2) + "\n")
    part.replace(chosen.output / "results.json")
    print(f"{'':6}{'rounds':>9}{'uploads':>10}{'kbit':>10}{'R^2':>9}{'last gap':>11}")
    for name, row in result["methods"].items():
        shown = [f"{row[what] / scale:.0f}" if row[what] else "-" for what, scale in
                 (("rounds", 1), ("uploads", 1), ("bits", 1000))]
        print(f"{name:6}{shown[0]:>9}{shown[1]:>10}{shown[2]:>10}{row['r2']:9.4f}{row['gap']:11.1e}")
    for claim, verdict in result["claims"].items():
        print(f"{verdict:5} {claim}")


if __name__ == "__main__":
    main()
