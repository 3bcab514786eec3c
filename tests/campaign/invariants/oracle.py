"""An oracle independent of the program: an int8 AllReduce in blocks, element by element in NumPy.

Covers `one-shot` and `two-shot`, whose order of sums does not depend on the machine
(docs/algorithms.md).
"""
import copy

import numpy

from desk import Desk
from invariants.results import expect

LEVELS = numpy.float32(127.0)


def quantized(values: numpy.ndarray, block: int) -> numpy.ndarray:
    """FP32 values after quantization: scale = amax / 127 of a block, codes to nearest even
    (docs/model.md, N1)."""
    decoded = numpy.empty_like(values)
    for begin in range(0, len(values), block):
        part = values[begin:begin + block]
        scale = numpy.float32(numpy.abs(part).max() / LEVELS)
        if scale == 0.0:
            decoded[begin:begin + block] = 0.0
            continue
        codes = numpy.clip(numpy.rint(part / scale), -127, 127).astype("f4")
        decoded[begin:begin + block] = codes * scale
    return decoded


def one_shot(inputs: numpy.ndarray, block: int) -> numpy.ndarray:
    """Every rank adds the codes of all ranks, in their order; its own term is quantized, too."""
    total = numpy.zeros(inputs.shape[1], "f4")
    for rank in inputs:
        total = (total + quantized(rank, block)).astype("f4")
    return total


def agrees(desk: Desk, content: dict, draw) -> None:
    """A separate machine, seeded by the case."""
    ranks, elements = draw.randint(2, 9), draw.randint(1, 700)
    block = draw.choice([1, 4, 32, 100, 1024])
    config = {"hardware": "tpu-v5e", "topology": {"fully-connected": ranks},
              "tensor": {"shape": [elements], "dtype": "fp32",
                         "values": {"seed": draw.randrange(10000),
                                    "distribution": draw.choice(["normal", "heavy-tailed", "uniform"])}},
              "collectives": [{"label": "one", "algorithm": "one-shot", "format": "int8", "layout": "contiguous",
                               "block": block,
                               "minishards": 1, "microshards": 1}], "engine": "direct"}
    folder = f"oracle{draw.randrange(1000)}"
    result = desk.result(copy.deepcopy(config), "--output-tensors", folder, "--output-inputs")
    expect(result is not None, "oracle", "the program refuses a plain case")
    where = desk.folder / folder
    inputs = numpy.stack([numpy.load(where / f"input_{i}.npy").reshape(-1) for i in range(ranks)])
    found = numpy.load(where / "one.npy").reshape(-1)
    expected = one_shot(inputs, block)
    wrong = int((found != expected).sum())
    expect(wrong == 0, "oracle", f"{wrong} of {elements} elements differ, ranks {ranks}, block {block}")
