#!/usr/bin/env python3
"""Figures on AllReduces of block-scaled formats (NVIDIA/nccl issue 2199), as on docs/block_scaled_allreduce.md.

Usage: study.py QUESTION [--program EQUARX_SIM], with QUESTION alignment, ranks, layout, rounding or range. Needs NumPy,
and the Python package next to the program.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy

RANKS = 8
ELEMENTS = 1 << 17
ACTIVATIONS = pathlib.Path("tests/fixtures/activations/layer1_ranks8_tokens32.npy")
MXFP8, MXFP4, NVFP4 = "mxfp8-e4m3", "mxfp4", "nvfp4"
BLOCKS = {MXFP8: 32, MXFP4: 32, NVFP4: 16, "nvfp4-block": 16}
INT8 = {"format": "int8", "layout": "contiguous", "block": 128}
FORMATS = [{"format": MXFP8}, {"format": MXFP4}, {"format": NVFP4}, INT8]
ALGORITHMS = {"one-shot": "one-shot", "two-shot": "two-shot", "ring": "equarx"}
CLOSE = 0.1
EXPONENTS = numpy.arange(-120, 121)
GROUP = 128


class Simulator:
    """Runs equarx-sim."""

    def __init__(self, program):
        self.program = shutil.which(program) or sys.exit(f"study.py: there is no {program}; give --program")
        sys.path.insert(0, str(pathlib.Path(self.program).resolve().parent / "python"))
        import equarx
        self.quantize = equarx.quantize

    def call(self, *arguments, ranks, tensor, collectives, **keys):
        config = {"hardware": "h100", "topology": {"switch": ranks}, "tensor": tensor, "collectives": collectives,
                  **keys}
        made = subprocess.run([self.program, arguments[0], "-", *arguments[1:]], input=json.dumps(config),
                              capture_output=True, text=True, check=False)
        return made.stdout if made.returncode == 0 else sys.exit(made.stderr)

    def contract(self, **config):
        return json.loads(self.call("contract", "--quick", "--json", **config))["collectives"]

    def runs(self, **config):
        return json.loads(self.call("run", "--json", **config))["runs"]


def write(rows):
    """Writes a table; the first row has the headings. Columns after the first are right-aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first, *others = (cell.ljust(width) if column == 0 else cell.rjust(width)
                          for column, (cell, width) in enumerate(zip(row, widths)))
        print("  ".join([first, *others]).rstrip())


def normal_values():
    random = numpy.random.default_rng(1)
    return random.standard_normal((RANKS, ELEMENTS)).astype(numpy.float32)


def alignment(simulator):
    """Scales of a block on all ranks, and the NMSE of one quantization with own and with common scales.

    A block of all ranks' values next to each other has their common scale.
    """
    activations = numpy.load(ACTIVATIONS).reshape(RANKS, -1)
    rows = [["values", "format", "scales differ", "own scales", "common scale"]]
    for name, tensors in (("normal", normal_values()), ("activations", activations)):
        for format_name, block in BLOCKS.items():
            scales = numpy.array([simulator.quantize(tensor, format=format_name).scales for tensor in tensors])
            differ = numpy.mean((scales != scales[0]).any(axis=0))
            together = numpy.ascontiguousarray(tensors.reshape(RANKS, -1, block).swapaxes(0, 1))
            own, common = (simulator.quantize(together, format=format_name, block=size).nmse
                           for size in (block, RANKS * block))
            rows.append([name, format_name, f"{100 * differ:.1f} %", f"{own:.3g}", f"{common:.3g}"])
    write(rows)


def format_text(one):
    return f"{one['format']}, blocks of {one['block']}" if "block" in one else one["format"]


def ranks(simulator):
    """NMSE on 2 to 64 ranks, with the expected one."""
    counts = [2, 4, 8, 16, 32, 64]
    collectives = [{"algorithm": algorithm, **one, "label": f"{name} {format_text(one)}"}
                   for one in FORMATS for name, algorithm in ALGORITHMS.items()]
    found = {count: simulator.contract(ranks=count, tensor={"shape": [ELEMENTS], "dtype": "fp32"},
                                       collectives=collectives) for count in counts}
    rows = [["NMSE, by ranks", *map(str, counts)]]
    for number, collective in enumerate(collectives):
        own = [found[count][number] for count in counts]
        rows.append([collective["label"], *(f"{one['nmse']:.2e}" for one in own)])
        rows.append(["  expected", *(f"{one['expected_nmse']:.2e}" for one in own)])
    write(rows)


def layout(simulator):
    """Bytes over the busiest link direction, and how many exceed codes and scales of full blocks."""
    sizes = [1 << 18, (1 << 18) + 1, 8191, 1000]
    sent = {"one-shot": RANKS - 1, "two-shot": 2 * (RANKS - 1) / RANKS, "ring": 2 * (RANKS - 1) / RANKS}
    rows = [["extra bytes of all, by elements", "bits per element", *map(str, sizes)]]
    for one in FORMATS:
        bits = simulator.quantize(normal_values()[0], **one).bits_per_element
        for name, algorithm in ALGORITHMS.items():
            row = [f"{name} {format_text(one)}", f"{bits:.4g}"]
            for size in sizes:
                [run] = simulator.runs(ranks=RANKS, tensor={"shape": [size], "dtype": "bf16"}, numerics=False,
                                       collectives=[{"algorithm": algorithm, **one}])
                needed = sent[name] * size * bits / 8
                row.append(f"{run['wire_bytes_per_link'] - needed:.0f} of {run['wire_bytes_per_link']}")
            rows.append(row)
    write(rows)


def rounding(simulator):
    """Clipped codes and NMSE by the choice of powers of two, of one AllReduce of few and one of many roundings."""
    formats = [{"format": name, "scale_rounding": choice, "label": f"{name}, {choice}"}
               for name in (MXFP8, MXFP4) for choice in ("floor", "even", "up")]
    formats += [{**one, "label": format_text(one)} for one in ({"format": NVFP4}, INT8)]
    rows = [["", "clipped", "flushed to zero", "NMSE", "expected"]]
    for title, algorithm, count, tensor in (
            ("two-shot, 8 ranks, activations:", "two-shot", RANKS, {"values": {"files": [str(ACTIVATIONS)]}}),
            ("ring, 64 ranks, normal values:", "equarx", 64, {"shape": [ELEMENTS], "dtype": "fp32"})):
        rows.append([title, "", "", "", ""])
        for one in simulator.contract(ranks=count, tensor=tensor,
                                      collectives=[{"algorithm": algorithm, **entry} for entry in formats]):
            shares = (one["range"][key] for key in ("clipped_fraction", "flushed_fraction"))
            expected = one["expected_nmse"]
            rows.append([f"  {one['label']}", *(f"{100 * share:.3g} %" for share in shares), f"{one['nmse']:.3g}",
                         "-" if expected is None else f"{expected:.3g}"])
    write(rows)


def write_powers(path):
    """The same tensor for all ranks: the powers of two of EXPONENTS in every shard, GROUP times each."""
    shard = numpy.repeat(numpy.exp2(EXPONENTS.astype(numpy.float64)).astype(numpy.float32), GROUP)
    numpy.save(path, numpy.tile(shard, (RANKS, RANKS)))


def kept(simulator, collective, path):
    """The least and the largest sum whose error is below CLOSE everywhere."""
    out = path.parent / "out"
    tensor = {"values": {"files": [str(path)]}}
    simulator.call("run", "--output-tensors", str(out), ranks=RANKS, tensor=tensor, collectives=[collective])
    found = [numpy.load(path).ravel() for path in sorted(out.rglob("*.npy"))]
    shutil.rmtree(out)
    result = next(values for values in found if values.dtype != numpy.float64)
    exact = RANKS * numpy.exp2(EXPONENTS.astype(numpy.float64))
    errors = result.reshape(RANKS, EXPONENTS.size, GROUP) / exact[:, None] - 1
    close = EXPONENTS[(numpy.abs(errors) < CLOSE).all(axis=(0, 2))] + int(numpy.log2(RANKS))
    return f"2^{close.min()}", f"2^{close.max()}"


def range_of_sums(simulator):
    """Sums that a two-shot AllReduce keeps, if all occur in one tensor."""
    rows = [["two-shot", "least sum", "largest sum"]]
    collectives = [{"format": name} for name in BLOCKS] + [INT8, {"cast_to": "fp8-e4m3"}, {"format": "bf16"}]
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name, "powers.npy")
        write_powers(path)
        for one in collectives:
            label = format_text(one) if "format" in one else "fp8-e4m3 without scales"
            rows.append([label, *kept(simulator, {"algorithm": "two-shot", **one}, path)])
    write(rows)


QUESTIONS = {"alignment": alignment, "ranks": ranks, "layout": layout, "rounding": rounding, "range": range_of_sums}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("--program", default="equarx-sim")
    arguments = parser.parse_args()
    QUESTIONS[arguments.question](Simulator(arguments.program))


if __name__ == "__main__":
    main()
