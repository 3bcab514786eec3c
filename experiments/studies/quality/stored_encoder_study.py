"""Embeds three disjoint sets of sentences with the encoder's weights in stored formats."""
import argparse
import dataclasses
import functools
import math
import pathlib

import numpy as np
import torch

import corpus
import encoder_study
import outcome
from encoder_study import check_exact, cosines, prepare, ranks_of, sentences_of
from intervals import over_seeds
from models import Hooks
from sentence_encoder import Encoder
from store import Cell, fill
from stored_claims import by_method, by_name, claims, print_claims, verdicts
from stored_weights import ByToken, Method, methods, quantized, squared_gradients

SETS = (1, 2, 3)
PART = 2  # every second sentence of a set is evaluated, the others calibrate
LIMIT = 0.99  # of Spearman's correlation, in claims 8 and 9
SLOW = ("SliM-LLM", 2)  # a method that takes minutes, and the bits of its claim: no others are evaluated
SENSITIVE = (0.0005, 0.01)  # shares of weights


def evaluated_methods(reduced: bool) -> list[Method]:
    return [method for method in methods(reduced) if method.name != SLOW[0] or method.bits == SLOW[1]]


def of_set(sentences: list, number: int) -> tuple[list, list]:
    """Evaluated and calibration sentences of a set."""
    some = sentences[number - 1::len(SETS)]
    return some[::PART], [sentence for at, sentence in enumerate(some) if at % PART]


def loss(encoder: Encoder, example: tuple[list[int], torch.Tensor]) -> torch.Tensor:
    """A random projection of an embedding. The expectation of its squared gradients is the sum over all elements: the
    diagonal of the Hessian of 1 - cosine."""
    sentence, direction = example
    return (encoder.embed([sentence])[0] * direction).sum()


@functools.lru_cache(maxsize=1)
def importance(folder: pathlib.Path, number: int) -> list[dict[str, np.ndarray]]:
    """Squared gradients over the calibration sentences of a set."""
    encoder, tokens = encoder_study.model(folder)
    _, sentences = of_set(tokens, number)
    generator = torch.Generator().manual_seed(number)
    directions = torch.randn(len(sentences), encoder.weights["head_bias"].numel(), generator=generator)
    return squared_gradients(encoder, zip(sentences, directions), loss)


def neighbours(similarities: np.ndarray) -> np.ndarray:
    """The sentence most similar to each other than itself."""
    return np.where(np.eye(len(similarities), dtype=bool), -np.inf, similarities).argmax(1)


def order(exact: np.ndarray, got: np.ndarray) -> dict:
    """Spearman's correlation of the similarities of all pairs, and the share of nearest neighbours that remain."""
    before, after = (each.astype(np.float64) @ each.T.astype(np.float64) for each in (exact, got))
    pairs = np.triu_indices(len(exact), 1)
    ranks = ranks_of(before[pairs]), ranks_of(after[pairs])
    return {"spearman": float(np.corrcoef(*ranks)[0, 1]),
            "neighbours_kept": float((neighbours(before) == neighbours(after)).mean())}


def evaluate(folder: pathlib.Path, definition: dict) -> dict:
    torch.set_num_threads(1)
    encoder, tokens = encoder_study.model(folder)
    evaluated, calibration = of_set(tokens, definition["set"])
    method = Method(**definition["method"])
    weights = importance(folder, definition["set"]) if method.importance else None
    stored, result = quantized(encoder, method, lambda model, hooks: model.embed(calibration, hooks), weights)
    exact = encoder.embed(evaluated).numpy()
    got = stored.embed(evaluated, ByToken() if method.by_token else Hooks()).numpy()
    return result | cosines(exact, got) | order(exact, got)


def row_of(cell: Cell, result: dict) -> dict:
    """A row of one set."""
    method = cell.definition["method"]
    return {"name": cell.name, "method": method["name"], "bits": method["bits"], "set": cell.definition["set"],
            **{key: result[key] for key in ("bits_per_weight", "nmse")}, "turned": 1 - result["cosine_mean"],
            "turned_most": 1 - result["cosine_least"], **{key: result[key] for key in ("spearman", "neighbours_kept")}}


def log_turned(row: dict) -> float:
    """Logarithm of the mean 1 - cosine."""
    return math.log(row["turned"])


def summary_of(rows: list[dict]) -> list[dict]:
    """A row for each method: geometric means over sets of 1 - cosine with 95 % intervals, means of others."""
    made = []
    for (method, bits), some in by_method(rows).items():
        turned, half = over_seeds([log_turned(row) for row in some])
        means = {key: float(np.mean([row[key] for row in some]))
                 for key in ("bits_per_weight", "nmse", "spearman", "neighbours_kept")}
        made.append({"method": method, "bits": bits, **means, "turned": math.exp(turned),
                     "turned_low": math.exp(turned - half), "turned_high": math.exp(turned + half)})
    return made


def tails(folder: pathlib.Path) -> dict[str, dict]:
    """Tails of each matrix: kurtosis, largest weight by the standard deviation, and shares of the squared gradients
    (set 1) in the most sensitive weights."""
    found = {}
    for layer, (block, squares) in enumerate(zip(encoder_study.model(folder)[0].matrices(), importance(folder, 1))):
        for name, matrix in block.items():
            weights = matrix.double().numpy()
            sorted_squares = np.sort(squares[name].astype(np.float64), None)[::-1]
            shares = {f"{share:.2%}": float(sorted_squares[:round(share * weights.size)].sum() / sorted_squares.sum())
                      for share in SENSITIVE}
            found[f"{layer}/{name}"] = {"kurtosis": float((weights**4).mean() / (weights**2).mean()**2),
                                        "largest": float(np.abs(weights).max() / weights.std()), "sensitive": shares}
    return found


def study(chosen: argparse.Namespace) -> None:
    count = 180 if chosen.reduced else 900
    corpus.prepare(chosen.output, chosen.text)
    sentences = sentences_of((chosen.output / "text.txt").read_text(), count)
    prepare(chosen.output, sentences, 60)
    off = check_exact(chosen.output)
    sets = SETS[:1] if chosen.reduced else SETS
    print(f"{len(sets)} sets of {count // len(SETS)} sentences; the exact path is {off:.1e} off the packaged model",
          flush=True)
    digest = outcome.digest("\n".join(sentences))
    cells = [Cell(f"{method.name}, {method.bits} bits, set {number}",
                  {"method": dataclasses.asdict(method), "set": number, "sentences": digest})
             for number in sets for method in evaluated_methods(chosen.reduced)]
    results = fill(chosen.output, cells, functools.partial(evaluate, chosen.output), chosen.threads,
                   lambda result: f"{result['bits_per_weight']:.2f} bits, 1 - cosine {1 - result['cosine_mean']:.1e}")
    rows = [row_of(cell, results[cell.name]) for cell in cells]
    found = claims(rows, log_turned, f"Spearman's correlation of similarities of at least {LIMIT}",
                   lambda row: row["spearman"] - LIMIT)
    summary = {"sentences": count, "off_packaged_model": off, "weights": tails(chosen.output),
               "methods": by_name(summary_of(rows)), "claims": found, "verdicts": verdicts(found)}
    outcome.write(chosen.output, "stored_encoder", rows, summary)
    print_tables(summary)
    import pictures
    pictures.stored_encoder(chosen.output, list(summary["methods"].values()))


def print_tables(summary: dict) -> None:
    print(f"\n{'':40}{'bits':>6}{'of weight':>10}{'NMSE':>10}{'1 - cosine':>12}{'95 % interval':>20}{'Spearman':>10}"
          f"{'neighbours':>12}")
    for row in sorted(summary["methods"].values(), key=lambda row: (row["bits"], row["turned"])):
        print(f"{row['method']:40}{row['bits']:6}{row['bits_per_weight']:10.2f}{row['nmse']:10.1e}{row['turned']:12.1e}"
              f"{row['turned_low']:10.1e} to{row['turned_high']:7.1e}{row['spearman']:10.4f}"
              f"{row['neighbours_kept']:12.1%}")
    print_claims(summary["claims"])
