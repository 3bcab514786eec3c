#!/usr/bin/env python3
"""Computes the AllReduces of reports about bits, and compares them with rows.json.

Usage: study.py EQUARX_SIM [--strict]. With --strict the exit code is 1 if a row misses its tolerance
and rows.json has no cause for it. Needs NumPy.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

FOLDER = pathlib.Path(__file__).resolve().parent
STUDY = json.loads((FOLDER / "rows.json").read_text(encoding="utf-8"))
COLUMNS = 5120
ONE_STAGE = {"algorithm": "one-shot", "arithmetic": "vllm-one-shot", "label": "one stage"}
TWO_STAGES = {"algorithm": "two-shot", "arithmetic": "vllm-two-shot", "label": "two stages"}


def to_bf16(values):
    """Rounds float32 to bfloat16, ties to even, as bits."""
    bits = values.astype(numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)


class Simulator:
    """Runs equarx-sim on tensors in a folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def call(self, *arguments, config=None):
        made = subprocess.run([self.program, *map(str, arguments)], input=config and json.dumps(config),
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise SystemExit(made.stderr)
        return made.stdout

    def config(self, ranks, tensor, collectives):
        return {"hardware": "h100", "topology": {"switch": ranks}, "tensor": tensor, "collectives": collectives}

    def contract(self, ranks, tensor, *collectives):
        """The contracts of some collectives."""
        text = self.call("contract", "-", "--quick", "--json", config=self.config(ranks, tensor, collectives))
        return json.loads(text)["collectives"]

    def result(self, ranks, tensor, collective, dtype):
        """The result of one collective."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            self.call("run", "-", "--output-tensors", out, config=self.config(ranks, tensor, [collective]))
            found = [numpy.load(path) for path in pathlib.Path(out).rglob("*.npy")]
            values = next(one for one in found if one.dtype != numpy.float64)  # the exact sum is FP64
            return values.view(dtype).ravel()

    def files(self, name, tensors):
        """Writes one file per rank. @return the tensor of a configuration"""
        paths = []
        for rank, values in enumerate(tensors):
            paths.append(str(self.folder / f"{name}_{rank}.npy"))
            numpy.save(paths[-1], values)
        return {"values": {"files": paths}}


def share(one, other):
    """Share of common elements with other bits."""
    size = min(len(one), len(other))
    return float(numpy.mean(one[:size] != other[:size]))


def spread_inputs(rows, ranks=4):
    """The inputs of vLLM's report: N(0,1) x (0.1 + 0.05 rank), the same rows for any number of them."""
    tensors = []
    for rank in range(ranks):
        random = numpy.random.default_rng(rank)
        tensors.append(((0.1 + 0.05 * rank) * random.standard_normal((rows, COLUMNS))).astype(numpy.float32))
    return tensors


def sizes_bf16_ring(simulator):
    ring = {"algorithm": "ring", "arithmetic": "nccl-ring"}
    results = [simulator.result(4, {"shape": [rows, COLUMNS], "dtype": "bf16"}, ring, numpy.uint16)
               for rows in (1664, 2048)]
    return share(*results)


def stages(simulator, bits):
    """An eighth of the rows, in the same proportions."""
    inputs = [values if bits is numpy.uint32 else to_bf16(values) for values in spread_inputs(256)]
    tensor = simulator.files(f"stages_{bits.__name__}", inputs)
    contracts = simulator.contract(4, tensor, ONE_STAGE, TWO_STAGES)
    return contracts[0]["against"][1]["differing_share"]


def seam(simulator, collective):
    results = []
    for rows in (208, 256):
        tensor = simulator.files(f"seam_{rows}", spread_inputs(256)[0:4] if rows == 256 else
                                 [values[:rows] for values in spread_inputs(256)])
        results.append(simulator.result(4, tensor, collective, numpy.uint32))
    return share(*results)


def residual_bf16(simulator):
    fused = [{"algorithm": "one-shot", "arithmetic": name, "label": name}
             for name in ("aiter-fused-fp32", "aiter-fused")]
    contracts = simulator.contract(4, {"shape": [256, COLUMNS], "dtype": "bf16"}, *fused)
    return contracts[0]["against"][1]["differing_share"]


def roundings(simulator, preset):
    path = simulator.contract(8, {"shape": [64, COLUMNS], "dtype": "bf16"},
                              {"algorithm": "one-shot", "arithmetic": preset})[0]["path"]
    return sum(step["count"] for step in path["steps"] if step["format"] == "bf16")


def quickreduce(simulator, name, inputs):
    tensor = simulator.files(name, [to_bf16(values) for values in inputs])
    result = simulator.result(2, tensor, {"algorithm": "quickreduce", "format": "quickreduce-int8"}, numpy.uint16)
    return (result.astype(numpy.uint32) << 16).view(numpy.float32)


def quickreduce_inf(simulator):
    random = numpy.random.default_rng(5)
    inputs = [random.standard_normal(32768).astype(numpy.float32) for _ in range(2)]
    inputs[0][1000] = 1e30
    return int(numpy.sum(~numpy.isfinite(quickreduce(simulator, "inf", inputs))))


def quickreduce_low(simulator):
    """Gain: the projection of the result on the exact sum."""
    random = numpy.random.default_rng(6)
    inputs = [(1e-3 * random.uniform(-1.0, 1.0, 32768)).astype(numpy.float32) for _ in range(2)]
    exact = numpy.sum([(to_bf16(values).astype(numpy.uint32) << 16).view(numpy.float32) for values in inputs], axis=0)
    result = quickreduce(simulator, "low", inputs)
    return float(numpy.dot(result, exact) / numpy.dot(exact, exact))


def owner(simulator, keeps):
    contract = simulator.contract(8, {"shape": [64, COLUMNS], "dtype": "bf16"},
                                  {"algorithm": "two-shot", "format": "fp8-e4m3", "arithmetic": {"owner": keeps}})
    return int(contract[0]["ranks_identical"])


def nvls_exact(simulator):
    terms = [1e8, 1.0, -1e8, 1.0]
    tensor = simulator.files("nvls", [numpy.full(1024, term, numpy.float32) for term in terms])
    result = simulator.result(4, tensor, {"algorithm": "nvls", "arithmetic": "nccl-nvls"}, numpy.float32)
    return float(result[0])


def mx_957(simulator):
    path, out = simulator.folder / "mx.npy", simulator.folder / "decoded.npy"
    values = numpy.ones(32, numpy.float32)
    values[3] = 957.0
    numpy.save(path, values)
    simulator.call("quantize", path, "--format", "mxfp8-e4m3", "--output", out)
    return float(numpy.load(out)[3])


FIGURES = {
    "sizes-bf16-ring": sizes_bf16_ring,
    "stages-fp32": lambda simulator: stages(simulator, numpy.uint32),
    "stages-bf16": lambda simulator: stages(simulator, numpy.uint16),
    "seam-fp32": lambda simulator: seam(simulator, TWO_STAGES),
    "seam-one-stage-fp32": lambda simulator: seam(simulator, ONE_STAGE),
    "residual-bf16": residual_bf16,
    "roundings-trtllm": lambda simulator: roundings(simulator, "trtllm-one-shot"),
    "roundings-fp32": lambda simulator: roundings(simulator, "sglang-one-shot"),
    "quickreduce-inf": quickreduce_inf,
    "quickreduce-low": quickreduce_low,
    "owner-differs": lambda simulator: owner(simulator, "summed"),
    "owner-fixed": lambda simulator: owner(simulator, "sent"),
    "nvls-exact": nvls_exact,
    "mx-957": mx_957,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="path of equarx-sim")
    parser.add_argument("--strict", action="store_true", help="exit code 1 for a miss without a cause")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    unknown = 0
    print("| row | reported | computed | |\n|---|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(program, folder)
        for row in STUDY["rows"]:
            computed = FIGURES[row["id"]](simulator)
            hit = abs(computed - row["expected"]) <= row["tolerance"]
            unknown += not hit and "cause" not in row
            print(f"| {row['what']} | {row['expected']:.4g} | {computed:.4g} | {'hit' if hit else '**miss**'} |")
    return 1 if arguments.strict and unknown else 0


if __name__ == "__main__":
    sys.exit(main())
