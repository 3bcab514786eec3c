"""Made-up lines of results.jsonl, for tests of pictures."""
import itertools
import json
import pathlib

SIZES = ["64 KiB", "1500 kB", "16 MiB"]
SLICES = ["2x2", "4x2"]


def line(point: int, axes: dict, label: str, speedup: float, **changes) -> dict:
    """A line; `changes`: of its configuration."""
    time = 1e-4 / speedup
    config = {"hardware": "tpu-v5e", "topology": {"slice": axes.get("/topology/slice", "4x2")},
              "tensor": {"bytes": axes.get("/tensor/bytes", "1 MiB"), "dtype": "bf16",
                         "values": {"distribution": "normal", "seed": 1}},
              "collective": "all-reduce", "baseline": "plain",
              "collectives": [{"label": "plain", "algorithm": "ring", "ring": "full-loop", "format": "bf16"},
                              {"label": "quick", "algorithm": "equarx", "ring": "full-loop",
                               "quantize": "both", "format": "int8"}]}
    down, across = map(int, config["topology"]["slice"].split("x"))
    parts = {"payload_s": 0.75 * time, "scales_s": 0.0, "sync_s": 0.0, "startup_s": 0.05 * time,
             "idle_s": 0.2 * time}
    return {"point": point, "key": f"{point:016x}", "version": "9.8.7", "axes": axes, "config": config | changes,
            "run": {"label": label, "algorithm": "ring" if label == "plain" else "equarx", "time_s": time,
                    "speedup": speedup, "lower_bound_s": time / 2, "wire_bytes_per_link": 1000,
                    "chips": down * across, "breakdown": parts,
                    "numerics": {"mse": 1e-4, "nmse": 1e-5, "sqnr_db": 50.0, "mse_vs_baseline": 2e-4}}}


def lines(axes=None, **changes) -> list[dict]:
    """Two collectives at each combination of the axes."""
    axes = axes or {"/topology/slice": SLICES, "/tensor/bytes": SIZES}
    points = [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
    return [line(point, at, label, speedup, **changes) for point, at in enumerate(points)
            for label, speedup in (("plain", 1.0), ("quick", 1.5 + point))]


def failed(entry: dict) -> dict:
    """The line of that point as a failure."""
    return {name: value for name, value in entry.items() if name not in ("run", "config")} | {"error": "too large"}


def too_large(entry: dict) -> dict:
    """The line of that point if it needed more HBM than a chip has."""
    return {name: value for name, value in entry.items() if name not in ("run", "config")} | {
        "status": "does not fit", "needs_bytes": 1e11, "reason": "too large"}


def write(path: pathlib.Path, entries: list[dict]) -> pathlib.Path:
    """Writes the lines."""
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path
