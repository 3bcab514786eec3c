#!/usr/bin/env python3
"""Compares `equarx-sim import hlo` with reader.py, and both with figures by hand, on all HLO texts of the repository.

Usage: reader_test.py EQUARX_SIM [FILE...]. Texts state figures in a line "// By hand: 5 FLOPs, all-reduce 2 x 64 B", or
"// By hand: refused: " and a part of the message.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

import reader

ROOT = pathlib.Path(__file__).resolve().parents[3]


def imported(program, path, chips):
    command = [program, "import", "hlo", str(path), "--hardware", "tpu-v5e", "--topology", f"fully-connected:{chips}"]
    return subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)


def by_hand(text):
    stated = re.search(r"^// By hand: (.*)$", text, re.M)
    return stated[1] if stated else None


def sums(collectives):
    """{kind: {bytes: times}} without empty entries."""
    return {kind: {float(moved): float(times) for moved, times in sizes.items() if times}
            for kind, sizes in collectives.items() if any(sizes.values())}


def of_program(output):
    found = collections.defaultdict(collections.Counter)
    for one in output["collectives"]:
        found[one["kind"]][one["bytes"]] += one["times"]
    return output["module"]["flops"], sums(found)


def of_hand(stated):
    flops = re.search(r"(\d+) FLOPs", stated)
    found = collections.defaultdict(collections.Counter)
    for kind, times, moved in re.findall(r"([a-z\-]+) (\d+) x (\d+) B", stated):
        found[kind][int(moved)] += int(times)
    return int(flops[1]) if flops else 0, sums(found)


def differences(program, path):
    text = path.read_text()
    stated = by_hand(text)
    refused = stated and stated.startswith("refused: ")
    output = imported(program, path, 1 if refused else reader.Program(text).chips)
    if refused:
        reason = stated.removeprefix("refused: ")
        if output.returncode != 2 or reason not in output.stderr:
            return [f"not refused with '{reason}': {output.stderr or output.stdout[:100]}"]
        return []
    if output.returncode != 0:
        return [output.stderr]
    cost = reader.Program(text).cost()
    results = {"equarx-sim": of_program(json.loads(output.stdout)), "reader.py": (cost.flops, sums(cost.collectives))}
    if stated:
        results["by hand"] = of_hand(stated)
    expected = results["reader.py"]
    return [f"{name}: {result}, reader.py: {expected}" for name, result in results.items() if result != expected]


def main():
    program, *files = sys.argv[1:]
    paths = [pathlib.Path(name) for name in files] or sorted(
        [*(ROOT / "configs" / "programs").glob("*.hlo.txt"), *(ROOT / "tests" / "fixtures" / "hlo").iterdir()])
    failures = 0
    for path in paths:
        found = differences(program, path)
        print(f"{'differs' if found else 'equal'}: {path.name}", *found, sep="\n  ")
        failures += bool(found)
    print(f"{len(paths)} texts, {failures} differ")
    return 1 if failures or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
