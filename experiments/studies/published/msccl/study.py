#!/usr/bin/env python3
"""Simulates the measured rows of rows.json, and reports which are within their tolerance.

Usage: study.py EQUARX_SIM [--fit] [--strict]. --fit fits thread_block_rate and kernel_startup to
the rows whose role is calibration, and to no others. With --strict the exit code is 1 if a row
misses and rows.json has no cause for it.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import allpairs

STUDY = json.loads((FOLDER / "rows.json").read_text(encoding="utf-8"))
MICROSECONDS = 1e6


class Simulator:
    """Simulated times of the rows, on a chip with some parameters changed."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        for instances in sorted({row["instances"] for row in STUDY["rows"]}):
            text = allpairs.schedule(STUDY["gpus"], instances, STUDY["protocol"])
            self.path(instances).write_text(text, encoding="utf-8")

    def path(self, instances):
        return self.folder / f"x{instances}.xml"

    def microseconds(self, row, hardware=STUDY["hardware"]):
        made = subprocess.run(
            [self.program, "import", "msccl", str(self.path(row["instances"])), "--hardware", str(hardware),
             "--topology", STUDY["topology"], "--bytes", row["bytes"], "--buffer", STUDY["buffer"], "--json"],
            capture_output=True, text=True, check=True)
        return json.loads(made.stdout)["time_s"] * MICROSECONDS

    def changed(self, rate, startup):
        """A chip with these parameters, in B/s and s."""
        path = self.folder / "changed.json"
        path.write_text(json.dumps({"based_on": STUDY["hardware"], "thread_block_rate": f"{rate / 1e9} GB/s",
                                    "kernel_startup": f"{startup * MICROSECONDS} us"}), encoding="utf-8")
        return path


def measured(row):
    return float(row["measured"].split()[0])


def misfit(simulator, rate, startup):
    """Sum of squared relative errors of the rows used for fitting."""
    hardware = simulator.changed(rate, startup)
    return sum(math.log(simulator.microseconds(row, hardware) / measured(row)) ** 2
               for row in STUDY["rows"] if row["role"] == "calibration")


def fit(simulator):
    """The best rate and startup, by halving the steps around the best so far."""
    best, step = [20e9, 15e-6], [8e9, 6e-6]
    error = misfit(simulator, *best)
    while step[0] / best[0] > 1e-3:
        tried = [(error, best)]
        for axis in (0, 1):
            for sign in (1, -1):
                point = list(best)
                point[axis] += sign * step[axis]
                tried.append((misfit(simulator, *point), point))
        smallest, point = min(tried)
        if smallest < error:
            error, best = smallest, point
        else:
            step = [half / 2 for half in step]
    print(f"thread_block_rate {best[0] / 1e9:.3f} GB/s, kernel_startup {best[1] * MICROSECONDS:.3f} us, "
          f"rms of relative errors {math.sqrt(error / 4):.4f}")


def table(simulator):
    """Prints all rows. @return the number of misses without a known cause"""
    print("| instances | bytes | measured | simulated | simulated / measured | role | within 15 % |")
    print("|---:|---:|---:|---:|---:|---|---|")
    unknown = within = predictions = 0
    for row in STUDY["rows"]:
        simulated = simulator.microseconds(row)
        ratio = simulated / measured(row)
        good = abs(ratio - 1) <= STUDY["tolerance"]
        predictions += row["role"] == "prediction"
        within += good and row["role"] == "prediction"
        unknown += not good and "misses" not in row
        print(f"| {row['instances']} | {row['bytes']} | {row['measured']} | {simulated:.1f} us | {ratio:.3f} | "
              f"{row['role']} | {'yes' if good else '**no**'} |")
    print(f"\n{within} of {predictions} predictions are within {STUDY['tolerance'] * 100:.0f} %.")
    return unknown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--strict", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(arguments.program, folder)
        if arguments.fit:
            return fit(simulator)
        unknown = table(simulator)
        return 1 if arguments.strict and unknown else 0


if __name__ == "__main__":
    sys.exit(main())
