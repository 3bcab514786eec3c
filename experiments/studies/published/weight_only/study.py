#!/usr/bin/env python3
"""Predicts speedups and times of weight-only products on an A100, and compares them with the rows of rows.json.

Usage: study.py EQUARX_SIM [--output FILE]. --output writes the rows as `reproduce` writes its study.json.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

STUDY = json.loads((pathlib.Path(__file__).resolve().parent / "rows.json").read_text(encoding="utf-8"))
HARDWARE = "a100"


def run(program, *arguments, config=None):
    made = subprocess.run([program, *map(str, arguments)], input=config, capture_output=True, text=True, check=False)
    return made.stdout if made.returncode == 0 else sys.exit(made.stderr)


def layers_seconds(program, layers, tokens, scheme, folder):
    """Time of the GEMMs of some layers, one after the other."""
    gemms, results = folder / "gemms.jsonl", folder / "times.json"
    gemms.write_text("".join(json.dumps({"kernel": "gemm", "m": tokens, "k": inputs, "n": outputs,
                                         "precision": STUDY["schemes"][scheme]}) + "\n"
                             for inputs, outputs in STUDY["layers"][layers]), encoding="utf-8")
    run(program, "kernels", gemms, "--hardware", HARDWARE, "-o", results)
    return sum(row["simulated"] for row in json.loads(results.read_text(encoding="utf-8"))["rows"])


def generation_seconds(program, row):
    """Time of the tokens after the first, each with the context in the middle of the generation."""
    config = {"hardware": HARDWARE, "topology": {"fully-connected": 1}, "mesh": {"data": 1},
              "step": {"workload": {"model": row["model"], "phase": "decode", "context": row["tokens"] // 2 + 1,
                                    "precision": STUDY["schemes"][row["scheme"]], "attention": {"method": "fused"}}},
              "variants": [{"label": "plain"}]}
    step = json.loads(run(program, "run", "-", "--json", config=json.dumps(config)))["runs"][0]
    return row["tokens"] * step["time_s"]


def simulated(program, row, folder):
    if row["kind"] == "generation":
        return generation_seconds(program, row)
    plain, few = (layers_seconds(program, row["layers"], row["tokens"], scheme, folder)
                  for scheme in ("FP16", row["scheme"]))
    return plain / few


def what(row):
    if row["kind"] == "generation":
        return f"{row['model']}, {row['scheme']}, {row['tokens']} tokens, vLLM: time"
    return f"{row['layers']}, {row['scheme']}, {row['tokens']} rows: speedup over FP16"


def table(program):
    """Prints all rows. @return them with their simulated figures"""
    print("| row | measured | simulated | simulated / measured | within |\n|---|---:|---:|---:|---|")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for row in STUDY["rows"]:
            figure = simulated(program, row, pathlib.Path(folder))
            ratio = figure / row["measured"]
            is_kernel = row["kind"] == "speedup"
            results.append({"id": what(row), "what": f"A100, {what(row)}", "role": "prediction",
                            "metric": "speedup" if is_kernel else "time_s", "expected": row["measured"],
                            "simulated": figure, "question": "kernel" if is_kernel else "serving",
                            "origin": "Marlin" if row["scheme"] == "Marlin" else "FLUTE",
                            "chip": HARDWARE, "chips": 1})
            print(f"| {what(row)} | {row['measured']:.3g} | {figure:.3g} | {ratio:.2f} | "
                  f"{row['tolerance']:.0%}: {'yes' if abs(ratio - 1) <= row['tolerance'] else '**no**'} |")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    results = table(arguments.program)
    if arguments.output:
        pathlib.Path(arguments.output).write_text(json.dumps({"rows": results}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
