#!/usr/bin/env python3
"""Simulates served models under published loads, and compares latencies and rates with the rows of rows.json.

Usage: study.py EQUARX_SIM [--fit] [--output FILE]. --fit prints the step_overhead at which the calibration row is
simulated as measured; otherwise the value in rows.json applies to all rows of vLLM. --output writes the rows as
`reproduce` writes its study.json.
"""
import argparse
import json
import pathlib
import subprocess
import sys

STUDY = json.loads((pathlib.Path(__file__).resolve().parent / "rows.json").read_text(encoding="utf-8"))
SECONDS = 600  # of each rate, as in the source
RATE = "output_tokens_per_s"
LEAST_STEP = 1e-6  # s, to which the overhead is fitted


def merged(config, change):
    """`config` with the keys of `change`, objects key by key."""
    if not isinstance(change, dict) or not isinstance(config, dict):
        return change
    return config | {key: merged(config.get(key), value) for key, value in change.items()}


def config_of(row, overhead):
    """The configuration of a row, without arrivals."""
    config = STUDY["bases"][row["base"]]
    for change in row.get("changes", []):
        config = merged(config, STUDY["changes"][change])
    serving = {"model": row["model"]} if "model" in row else {}
    scheduler = {"tokens": row["tokens"]} if "tokens" in row else {}
    if "slots" in row:
        scheduler["sequences"] = row["slots"]
    if row["base"].startswith("vllm"):
        scheduler["step_overhead"] = f"{overhead * 1e6:.0f} us"
    return merged(config, {"serving": serving | {"scheduler": scheduler}})


def loads(row):
    """Loads of a row, which follow each other."""
    if "rates" in row:
        return [{"requests_per_s": rate, "requests": int(rate * SECONDS)} for rate in row["rates"]]
    return [{"concurrency": row["concurrency"], "requests": 10 * row["concurrency"]}] if "concurrency" in row else [{}]


def serve(program, config):
    made = subprocess.run([program, "serve", "-", "--json"], input=json.dumps(config), capture_output=True, text=True,
                          check=False)
    return json.loads(made.stdout) if made.returncode == 0 else sys.exit(made.stderr)


def metric(result, path):
    for key in path.split("/"):
        result = result[key]
    return result


def simulated(program, row, overhead):
    """@return the metric of a row, its mean TTFT, both weighted by the requests of its loads, and the chips"""
    results = [serve(program, merged(config_of(row, overhead), {"serving": {"load": load}})) for load in loads(row)]
    requests = sum(result["requests"] for result in results)
    return [*(sum(metric(result, path) * result["requests"] for result in results) / requests
              for path in (row.get("metric", RATE), "ttft/mean_s")), results[0]["chips"]]


def fit(program):
    """@return the overhead of a step, by bisection: latencies grow with it"""
    row = next(row for row in STUDY["rows"] if row["id"] == STUDY["fitted"])
    low, high = 0.0, row["measured"]
    while high - low > LEAST_STEP:
        middle = (low + high) / 2
        low, high = (middle, high) if simulated(program, row, middle)[0] < row["measured"] else (low, middle)
    return low


def outcome(row, figure, tolerance):
    if row.get("role") == "calibration":
        return "fitted"
    return f"{tolerance:.0%}: " + ("yes" if abs(figure / row["measured"] - 1) <= tolerance else "**no**")


def what(row, shown):
    model = row.get("model") or STUDY["bases"][row["base"]]["serving"]["model"]
    return f"{row['origin']}, {model}, {shown['id']}"


def rows(program, overhead):
    """Prints a line per row and per ratio of two. @return them with their simulated figures"""
    print("| row | measured | simulated | simulated / measured | within | TTFT, mean |\n|---|---:|---:|---:|---|---:|")
    figures, results = {}, []
    for row in STUDY["rows"]:
        tolerance = STUDY["tolerances"][row["origin"]]
        figures[row["id"]], ttft, chips = simulated(program, row, overhead)
        pairs = [(row, figures[row["id"]])]
        if "over" in row:
            below = next(other for other in STUDY["rows"] if other["id"] == row["over"])
            pairs.append(({"id": f"{row['id']} / {row['over']}", "measured": row["measured"] / below["measured"]},
                          figures[row["id"]] / figures[row["over"]]))
        for shown, figure in pairs:
            results.append({"id": shown["id"], "what": what(row, shown), "role": row.get("role", "prediction"),
                            "metric": "speedup" if shown is not row else row.get("metric", RATE),
                            "expected": shown["measured"], "simulated": figure, "question": "served-load",
                            "origin": row["origin"], "chip": STUDY["bases"][row["base"]]["hardware"], "chips": chips})
            print(f"| {shown['id']} | {shown['measured']:.4g} | {figure:.4g} | {figure / shown['measured']:.3f} | "
                  f"{outcome(shown, figure, tolerance)} | {ttft * 1e3:.1f} ms |", flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    if arguments.fit:
        print(f"{fit(arguments.program):.6f} s")
        return
    results = rows(arguments.program, STUDY["step_overhead_s"])
    if arguments.output:
        pathlib.Path(arguments.output).write_text(json.dumps({"rows": results}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
