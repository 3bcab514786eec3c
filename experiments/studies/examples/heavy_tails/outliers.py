#!/usr/bin/python3
"""Writes partial sums with outlier channels: normal values, but for a few columns that are far larger.

The file holds bfloat16 (as u2), a tensor for each chip, of the slice and shape that config.json beside this script
has. The columns are the same on all chips, as in a transformer's residual stream. The same arguments give the same
file.
"""
import argparse
import json
import math
import pathlib

import numpy

CONFIG = pathlib.Path(__file__).with_name("config.json")
SEED = 1


def bfloat16(values: numpy.ndarray) -> numpy.ndarray:
    """The upper halves of float32, rounded to nearest even."""
    bits = values.view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--outliers", type=int, default=5, help="columns that are larger (default: %(default)s)")
    parser.add_argument("--factor", type=float, default=50.0, help="how much larger (default: %(default)s)")
    given = parser.parse_args()

    config = json.loads(CONFIG.read_text(encoding="utf-8"))
    chips = math.prod(map(int, config["topology"]["slice"].split("x")))
    shape = config["tensor"]["shape"]
    random = numpy.random.default_rng(SEED)
    columns = random.choice(shape[-1], given.outliers, replace=False)
    tensors = numpy.empty((chips, *shape), dtype="<u2")
    for tensor in tensors:
        values = random.standard_normal(shape, dtype=numpy.float32)
        values[..., columns] *= given.factor
        tensor[:] = bfloat16(values)
    given.file.parent.mkdir(parents=True, exist_ok=True)
    numpy.save(given.file, tensors)
    print(given.file)


if __name__ == "__main__":
    main()
