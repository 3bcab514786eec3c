#!/usr/bin/env python3
"""Predicts layers, serving and programs of one H100, and compares them with the rows of rows.json.

Usage: study.py EQUARX_SIM [--strict] [--output FILE]. With --strict the exit code is 1 if a row
misses its tolerance and rows.json has no cause for it. --output writes the rows as `reproduce`
writes its study.json.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
STUDY = json.loads((FOLDER / "rows.json").read_text(encoding="utf-8"))
LAYERS = 4
# Shapes of the measured layers; a small vocabulary, as the head was not measured.
SHAPES = {"1.5B": {"d_model": 2048, "heads": 16, "kv_heads": 16, "ffn": 8192},
          "8B": {"d_model": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336}}
SHARED = {"description": "one layer, as measured", "source": "rows.json", "layers": LAYERS, "head_size": 128,
          "gated_ffn": True, "activation": "silu", "vocabulary": 128, "tied_embeddings": False,
          "largest_context": 8192, "post_norms": False, "qk_norms": False, "weights": "bf16"}
TRAINING = {"bf16": "bf16", "fp8": "transformer-engine"}
SERVING = {"bf16": "bf16", "fp8": "fp8", "int4": "weight-only-int4"}


def run(program, *arguments, config=None):
    made = subprocess.run([program, *map(str, arguments)], input=config, capture_output=True, text=True,
                          check=True)
    return json.loads(made.stdout)


def step(hardware, content):
    return {"hardware": hardware, "topology": {"fully-connected": 1}, "mesh": {"data": 1}, "step": content,
            "variants": [{"label": "plain"}]}


def layer_seconds(program, row, folder):
    """Time of the tasks of one layer in the middle of a step."""
    model = folder / "layer.json"
    model.write_text(json.dumps({"name": row["model"], **SHARED, **SHAPES[row["model"]]}), encoding="utf-8")
    # A layer alone has none of the overhead of a training framework.
    config = step({"based_on": "h100", "step_overhead": 1e-9}, {"training": {
        "model": str(model), "sequence": row["tokens"], "batch": row["batch"],
        "precision": TRAINING[row["precision"]], "transposed_casts": row["precision"] == "fp8"}})
    result = run(program, "run", "-", "--json", config=json.dumps(config))
    tasks = {task["name"]: task["end_s"] - task["start_s"] for task in result["runs"][0]["tasks"]}
    forward, backward = tasks[f"forward {LAYERS // 2}"], tasks[f"backward {LAYERS // 2}"]
    return forward + (backward if "backward" in row["passes"] else 0.0)


def serving_seconds(program, row):
    key = "tokens" if row["kind"] == "prefill" else "context"
    hardware = {"based_on": "h100", **STUDY["int4_kernel"]} if row["precision"] == "int4" else "h100"
    config = step(hardware, {"workload": {
        "model": "llama3-8b", "phase": row["kind"], key: row["positions"], "batch": row["batch"],
        "precision": SERVING[row["precision"]], "attention": {"method": "fused", "skips_future": True}}})
    return run(program, "run", "-", "--json", config=json.dumps(config))["runs"][0]["time_s"]


def program_seconds(program, row):
    path = FOLDER / "programs" / f"{row['what']}.hlo.txt"
    result = run(program, "import", "hlo", path, "--hardware", "h100", "--topology", "fully-connected:1", "--json")
    return result["variants"][0]["time_s"]


def simulated(program, row, folder):
    if row["kind"] == "layer":
        return layer_seconds(program, row, folder)
    return program_seconds(program, row) if row["kind"] == "program" else serving_seconds(program, row)


def table(program):
    """Prints all rows. @return them with their simulated figures, and the number of unknown misses"""
    print("| row | measured | simulated | simulated / measured | within |\n|---|---:|---:|---:|---|")
    unknown, errors, results = 0, {}, []
    with tempfile.TemporaryDirectory() as folder:
        for row in STUDY["rows"]:
            seconds = simulated(program, row, pathlib.Path(folder))
            ratio = seconds / row["measured"]
            results.append({"id": row["what"], "what": f"H100, {row['what']}", "metric": "time_s", "role": "prediction",
                            "expected": row["measured"], "simulated": seconds, "question": row["question"],
                            "origin": "this project's H100", "chip": "h100", "chips": 1})
            good = abs(ratio - 1) <= row["tolerance"]
            unknown += not good and "misses" not in row
            errors.setdefault("serving" if "positions" in row else row["kind"], []).append(abs(ratio - 1))
            print(f"| {row['what']} | {row['measured'] * 1e3:.4g} ms | {seconds * 1e3:.4g} ms | {ratio:.3f} | "
                  f"{row['tolerance']:.0%}: {'yes' if good else '**no**'} |")
    for kind, all_of_kind in errors.items():
        print(f"\n{kind}: {len(all_of_kind)} rows, median error {statistics.median(all_of_kind):.1%}, "
              f"worst {max(all_of_kind):.1%}")
    return results, unknown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    results, unknown = table(arguments.program)
    if arguments.output:
        pathlib.Path(arguments.output).write_text(json.dumps({"rows": results}, indent=1) + "\n", encoding="utf-8")
    return 1 if arguments.strict and unknown else 0


if __name__ == "__main__":
    sys.exit(main())
