"""Embeds sentences as tensor parallelism computes them, with the AllReduces of every format: the
angle by which embeddings turn, and the number of sentence pairs that change their rank by
similarity."""
import argparse
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import torch

import corpus
import outcome
from inference_study import ways
from sentence_encoder import Encoder
from store import Cell, QualityError, fill, write_whole
from tensor_parallel import Parallel, Way, check_divides

TOOL = pathlib.Path(__file__).resolve().parents[3] / "tools" / "activations" / "encoder.sh"
SHORTEST, LONGEST = 40, 200  # characters of a sentence
PAIRS = 1000
TOLERANCE = 1e-5  # of the exact path against the packaged graph


def sentences_of(text: str, count: int) -> list[str]:
    """Whole sentences, spread over a text. @raises QualityError if it has too few"""
    found = [sentence for sentence in re.findall(r"[A-Z][^.!?]*[.!?]", text) if SHORTEST <= len(sentence) <= LONGEST]
    found = list(dict.fromkeys(found))
    if len(found) < count:
        raise QualityError(f"the text has {len(found)} sentences of {SHORTEST} to {LONGEST} characters, and {count} are "
                           "needed; use a longer one")
    return found[:: len(found) // count][:count]


def pairs_of(count: int) -> np.ndarray:
    """[PAIRS, 2]: different pairs of different sentences, the same in every run."""
    first, second = np.triu_indices(count, 1)
    if len(first) < PAIRS:
        raise QualityError(f"{count} sentences have {len(first)} pairs, and {PAIRS} are needed")
    chosen = np.random.default_rng(1).choice(len(first), PAIRS, replace=False)
    return np.stack((first[chosen], second[chosen]), 1)


def similarities(embeddings: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    return (embeddings[pairs[:, 0]] * embeddings[pairs[:, 1]]).sum(1)


def ranks_of(values: np.ndarray) -> np.ndarray:
    """The rank of each value, 0 for the largest; equal values keep their order."""
    ranks = np.empty(len(values), int)
    ranks[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return ranks


def cosines(exact: np.ndarray, got: np.ndarray) -> dict:
    """Mean and least cosine of embeddings [sentences, width] to exact ones."""
    exact, got = exact.astype(np.float64), got.astype(np.float64)
    cosine = (exact * got).sum(1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(got, axis=1)
    return {"cosine_mean": float(cosine.mean()), "cosine_least": float(cosine.min())}


def compared(exact: np.ndarray, got: np.ndarray) -> dict:
    """Reported errors of embeddings [sentences, width] against exact ones."""
    exact, got = exact.astype(np.float64), got.astype(np.float64)
    pairs = pairs_of(len(exact))
    moved = np.abs(ranks_of(similarities(exact, pairs)) - ranks_of(similarities(got, pairs)))
    return {**cosines(exact, got), "pairs_moved": int((moved > 0).sum()), "places_mean": float(moved.mean()),
            "places_most": int(moved.max())}


def prepare(folder: pathlib.Path, sentences: list[str], embedded: int | None = None) -> None:
    """Gets the model, and its own embeddings of the first sentences (`embedded`: all), once for these sentences.
    `folder`/encoder exists only if complete: a killed tool leaves partial files in a different folder."""
    text = "\n".join(sentences) + "\n"
    made, part = folder / "encoder", folder / f"encoder.part{os.getpid()}"
    if (made / "sentences.txt").is_file() and (made / "sentences.txt").read_text() == text:
        return
    for killed in folder.glob("encoder.part*"):
        shutil.rmtree(killed, ignore_errors=True)
    write_whole(part / "sentences.txt", text)
    count = str(len(sentences) if embedded is None else embedded)
    if subprocess.run(["bash", TOOL, part, part / "sentences.txt", count], check=False).returncode:
        raise QualityError("the model could not be read; tools/activations/README.md lists its requirements")
    shutil.rmtree(made, ignore_errors=True)
    part.rename(made)


@functools.lru_cache(maxsize=1)
def model(folder: pathlib.Path) -> tuple[Encoder, list[list[int]]]:
    """Each process reads it once."""
    return (Encoder.load(folder / "encoder" / "weights"), json.loads((folder / "encoder" / "tokens.json").read_text()))


def check_exact(folder: pathlib.Path) -> float:
    """The largest difference between embeddings computed here and by the packaged graph. @raises
    QualityError if the models differ"""
    encoder, tokens = model(folder)
    packaged = np.load(folder / "encoder" / "embeddings.npy")
    off = float(np.abs(encoder.embed(tokens[:len(packaged)]).numpy() - packaged).max())
    if not off <= TOLERANCE:
        raise QualityError(f"embeddings are {off:.1e} off those of the packaged model, allowed is {TOLERANCE}")
    return off


def evaluate(folder: pathlib.Path, definition: dict) -> dict:
    torch.set_num_threads(1)
    encoder, tokens = model(folder)
    hooks = Parallel(encoder.dimensions, definition["ranks"], Way(**definition["way"]))
    got = encoder.embed(tokens, hooks).numpy()
    exact = encoder.embed(tokens).numpy()
    return {"nmse": hooks.nmse(), "nmse_by_place": {where: values[0] for where, values in hooks.errors.items()},
            "tails": hooks.tails, **compared(exact, got)}


def study(chosen: argparse.Namespace) -> None:
    count = 60 if chosen.reduced else 400
    corpus.prepare(chosen.output, chosen.text)
    sentences = sentences_of((chosen.output / "text.txt").read_text(), count)
    prepare(chosen.output, sentences)
    off = check_exact(chosen.output)
    print(f"{count} sentences; the exact path is {off:.1e} off the packaged model", flush=True)
    digest = outcome.digest("\n".join(sentences))
    dimensions = model(chosen.output)[0].dimensions
    cells = []
    for ranks in (2, 8) if chosen.reduced else (2, 4, 8, 16):
        check_divides(dimensions, ranks)
        for way in ways():
            if not chosen.reduced or way.name in ("fp32", "int8 by 128", "int4 by 128"):
                cells.append(Cell(f"{way.name} over {ranks}", {"way": dataclasses.asdict(way), "ranks": ranks,
                                                              "sentences": digest}))
    results = fill(chosen.output, cells, functools.partial(evaluate, chosen.output), chosen.threads,
                   lambda result: f"NMSE {result['nmse']:.1e}, {result['pairs_moved']} of {PAIRS} pairs moved")
    rows = [{"name": cell.name, "way": cell.definition["way"]["name"], "ranks": cell.definition["ranks"],
             **{key: value for key, value in results[cell.name].items() if not isinstance(value, dict)}}
            for cell in cells]
    outcome.write(chosen.output, "encoder", rows, {
        "sentences": count, "pairs": PAIRS, "off_packaged_model": off, "tails": results[cells[-1].name]["tails"]})
    print_table(rows)
    import pictures
    pictures.encoder(chosen.output, rows)


def print_table(rows: list[dict]) -> None:
    print(f"\n{'':28}{'ranks':>6}{'NMSE':>10}{'1 - cosine':>12}{'at most':>10}{'pairs moved':>13}{'places':>8}"
          f"{'at most':>9}")
    for row in rows:
        print(f"{row['way']:28}{row['ranks']:6}{row['nmse']:10.1e}{1 - row['cosine_mean']:12.1e}"
              f"{1 - row['cosine_least']:10.1e}{row['pairs_moved']:13}{row['places_mean']:8.2f}{row['places_most']:9}")
