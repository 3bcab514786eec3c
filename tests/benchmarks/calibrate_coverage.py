"""Coverage of the intervals of `equarx-sim calibrate`: how often the truth is within two standard errors of the fit.

For each seed, gives a made-up chip known parameters, simulates the measurements of
configs/calibrations/made_up_chip.json on it, adds noise with their standard errors, and calibrates. A normal
distribution has a coverage of 95.4 %.
Usage: calibrate_coverage.py EQUARX_SIM [SEEDS]
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "configs" / "calibrations" / "made_up_chip.json"
TRUTH = {"collective_startup": "3 us", "hop_latency": "0.6 us", "link_efficiency": 0.91}
SECONDS = {"collective_startup": 3e-6, "hop_latency": 0.6e-6, "link_efficiency": 0.91}


def program(*words: str) -> dict:
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"us": 1e-6, "ms": 1e-3}[unit]


def true_times(simulator: str, measurements: list[dict], folder: pathlib.Path) -> list[float]:
    chip = program(simulator, "hardware", "tpu-v5e", "--json")
    chip.pop("calibration", None)  # refers to the values replaced below
    for key, value in TRUTH.items():
        chip["parameters"][key] = {"value": value, "class": "assumed", "source": "made up"}
    (folder / "truth.json").write_text(json.dumps(chip))
    times = []
    for measurement in measurements:
        words = [simulator, "run", str(EXAMPLE.parent / measurement["config"]), "--json", "--set", "/numerics=off",
                 "--set", f"/hardware={folder}/truth.json"]
        for pointer, value in measurement["set"].items():
            words += ["--set", f"{pointer}={value}"]
        times.append(program(*words)["runs"][0]["time_s"])
    return times


def main(simulator: str, seeds: int) -> None:
    example = json.loads(EXAMPLE.read_text())
    example.pop("given")  # the truth has these values exactly
    measurements = example["measurements"]
    for measurement in measurements:
        measurement["standard_error"] = seconds(measurement["standard_error"])
    within = dict.fromkeys(TRUTH, 0)
    chi_squared = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        times = true_times(simulator, measurements, folder)
        for measurement in measurements:
            measurement["config"] = str(EXAMPLE.parent / measurement["config"])
        for seed in range(seeds):
            noise = random.Random(seed)
            for measurement, time in zip(measurements, times):
                measurement["measured"] = noise.gauss(time, measurement["standard_error"])
            (folder / "measured.json").write_text(json.dumps(example))
            found = program(simulator, "calibrate", str(folder / "measured.json"), "--json")
            chi_squared += found["chi_squared"] / found["degrees_of_freedom"] / seeds
            for key, value in found["parameters"].items():
                within[key] += abs(value["value"] - SECONDS[key]) <= 2 * value["standard_error"]
    for key, count in within.items():
        print(f"{key}: {count} of {seeds} within two standard errors")
    print(f"chi^2 per degree of freedom: {chi_squared:.2f}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100)
