#!/usr/bin/env python3
"""Seconds of a training step by the scheme of its products, over a step in bf16, measured in turns.

Usage: PYTHONPATH=build/release/python OPENBLAS_NUM_THREADS=2 /usr/bin/python3 tests/benchmarks/training_step.py \\
         [--rounds N] [--threads N] [SCHEME...]
The model of 26 million weights of outliers.py --size large, with 2,048 characters a step.
"""
import argparse
import dataclasses
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "experiments" / "studies" / "quality"))

import torch  # noqa: E402

import corpus  # noqa: E402
import outliers_study  # noqa: E402
import scheme  # noqa: E402
from models import Shape  # noqa: E402
from precision import Precision  # noqa: E402
from training import Trainer  # noqa: E402


def trainers(names: list[str], device: str) -> dict[str, Trainer]:
    size = outliers_study.SIZES["large"]
    shape = Shape("llama", **size.shape)
    schedule = dataclasses.replace(size.schedule, sequences=8)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "words.txt").write_text("words of a text that is long enough " * 20_000)
        text = corpus.prepare(folder, folder / "words.txt")
    made = {"bf16": scheme.from_json("bf16", {})} | {name: scheme.load(name) for name in names}
    return {name: Trainer(shape, schedule, text, 1, Precision(given, shape.layers, device=device), device)
            for name, given in made.items()}


def seconds(trainer: Trainer) -> float:
    begin = time.perf_counter()
    trainer.advance()  # returns a number, so that a GPU has ended
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="steps of each scheme (5)")
    parser.add_argument("--threads", type=int, default=2, help="of PyTorch (2)")
    parser.add_argument("schemes", nargs="*", metavar="SCHEME", default=["fp8", "fog", "fp4", "nvfp4", "e8m3"])
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    device = outliers_study.device_of("auto")
    made = trainers(chosen.schemes, device)
    for trainer in made.values():
        trainer.advance()
    times: dict[str, list[float]] = {name: [] for name in made}
    for _ in range(chosen.rounds):
        for name, trainer in made.items():
            times[name].append(seconds(trainer))
    base = statistics.median(times["bf16"])
    for name, each in times.items():
        print(f"{name:12}{statistics.median(each):9.3f} s{statistics.median(each) / base:8.2f} x bf16")


if __name__ == "__main__":
    main()
