"""Made-up results of a study, for tests of pictures."""
import csv
import json
import pathlib

from read.point_cells import COLLECTIVE_KEYS, NUMBERS

SIZES = [2**exponent for exponent in range(12, 29)]
SLICES = {"slice 2x2": 4, "slice 4x2": 8, "slice 4x4": 16}
BANDWIDTH = 45e9
STEP_S = 0.4e-6
OVERHEAD_S = 0.5e-6
SIX_BYTES = 32 * 2**20
# Columns of phases of a transformer.
WORKLOAD = ["model", "phase", "tokens", "batch", "compute_s", "matrix_s", "attention_s", "elementwise_s",
            "allreduce_s"]
TOKENS = [512, 1024, 2048, 4096, 8192, 16384]
VERSION = "9.8.7"
# Share of the bytes of the baseline, and errors, by configuration.
SIX = {
    ("full-loop", "both"): (0.516, 0.00163, 0.00153),
    ("full-loop", "reduce-scatter"): (0.758, 0.00127, 0.00121),
    ("full-loop", "all-gather"): (0.758, 0.00036, 0.00028),
    ("semi-loop", "both"): (0.58, 0.00102, 0.00096),
    ("semi-loop", "reduce-scatter"): (0.822, 0.00068, 0.00062),
    ("semi-loop", "all-gather"): (0.822, 0.00035, 0.00027),
}


def point(experiment: str, topology: str, size: int, label: str, share: float, sync_s: float) -> dict:
    """Cells of a run without numerics."""
    chips = SLICES[topology]
    baseline = 2 * (chips - 1) * (STEP_S + size / (2 * chips * BANDWIDTH))
    payload = 2 * (chips - 1) * share * size / (2 * chips * BANDWIDTH)
    scales = 0.0 if label == "bf16" else payload / 32
    overhead = 2 * (chips - 1) * sync_s
    bubbles = 2 * (chips - 1) * STEP_S
    startup = 2e-6
    time = payload + scales + overhead + startup + bubbles
    return {
        "experiment": experiment, "hardware": "tpu-v5e", "topology": topology, "chips": chips,
        "tensor_bytes": size, "values": "normal", "label": label, "algorithm": "ring" if label == "bf16" else "equarx",
        "ring": "" if label == "bf16" else "semi-loop" if "semi-loop" in label else "full-loop",
        "quantize": "" if label == "bf16" else "both", "format": "bf16" if label == "bf16" else "int8", "minishards": 8,
        "microshards": 8, "time_s": time, "speedup": baseline / time, "lower_bound_s": payload + scales,
        "wire_bytes_per_link": payload * BANDWIDTH, "payload_s": payload, "scales_s": scales,
        "sync_s": overhead, "startup_s": startup, "idle_s": bubbles, "mse": "", "nmse": "", "sqnr_db": "",
        "mse_vs_baseline": "", **dict.fromkeys(WORKLOAD, "")}


def sizes() -> list[dict]:
    """The experiment `sizes`."""
    shares = {"bf16": (1, 0), "full-loop": (0.516, OVERHEAD_S), "semi-loop": (0.58, OVERHEAD_S)}
    return [point("sizes", topology, size, label, share, overhead)
            for topology in SLICES for size in SIZES for label, (share, overhead) in shares.items()]


def six(experiment: str = "six", number_format: str = "int8", worse: float = 1) -> list[dict]:
    """The baseline and six configurations, with the errors of int8 times `worse`."""
    rows = [dict(point(experiment, "slice 4x2", SIX_BYTES, "bf16", 1, 0), mse=0.000108, mse_vs_baseline=0,
                 ring="")]
    for (ring, quantize), (share, against_baseline, against_exact) in SIX.items():
        label = f"{ring} {quantize}" + ("" if number_format == "int8" else f" {number_format}")
        row = point(experiment, "slice 4x2", SIX_BYTES, label, share, OVERHEAD_S)
        rows.append(dict(row, ring=ring, quantize=quantize, format=number_format,
                         mse_vs_baseline=against_baseline * worse, mse=against_exact * worse))
    return rows


def formats() -> list[dict]:
    """The experiment `formats`: many points, some nearly identical."""
    naive = dict(point("formats", "slice 4x2", SIX_BYTES, "naive fp8-e4m3", 0.5, 0), algorithm="ring",
                 format="fp8-e4m3", mse=0.031, mse_vs_baseline=0.0311)
    return [*six("formats"), *six("formats", "fp8-e4m3", 4)[1:], *six("formats", "fp8-e5m2", 15)[1:], naive]


def activations() -> list[dict]:
    """The experiment `activations`: SQNR of each label on Gaussian and on real values."""
    decibels = {"fp32": (145, 146), "bf16": (49, 49.3), "int8": (37.25, 28.75), "fp8-e4m3": (25, 28.5),
                "int4": (2.5, -4)}
    rows = []
    for kind, values in enumerate(["normal", "files"]):
        for label, sqnr in decibels.items():
            row = point("activations", "slice 4x2", 2**16, label, 0.5, OVERHEAD_S)
            rows.append(dict(row, values=values, format=label, mse=1e-3, sqnr_db=sqnr[kind],
                             mse_vs_baseline=0 if label == "fp32" else 1e-3))
    return rows


def prefill(model: str, topology: str, matrix_ms: float, allreduce_ms: float) -> list[dict]:
    """Prefills of a model; the attention time of 1024 tokens grows with the number of tokens."""
    rows = []
    for tokens in TOKENS:
        parts = {"matrix_s": matrix_ms, "attention_s": 0.2 * tokens / 1024, "elementwise_s": 0.3 * matrix_ms}
        compute = sum(parts.values())
        for label, share in {"bf16": 1.0, "full-loop": 0.56, "semi-loop": 0.58}.items():
            time = compute + share * allreduce_ms
            scale = 1e-3 * tokens / 1024
            rows.append({**point(f"prefill {model}", topology, 2**20, label, 0.5, OVERHEAD_S),
                         "model": model, "phase": "prefill", "tokens": tokens, "batch": 1,
                         "compute_s": scale * compute, "allreduce_s": scale * share * allreduce_ms,
                         **{part: scale * value for part, value in parts.items()},
                         "time_s": scale * time, "speedup": (compute + allreduce_ms) / time})
    return rows


def prefills() -> list[dict]:
    """Two models, and a decode phase, which pictures of prefills omit."""
    decode = dict(prefill("gemma3-27b", "slice 4x4", 20, 30)[0], experiment="decode", phase="decode", tokens=4096)
    return [*prefill("gemma3-27b", "slice 4x4", 20, 30), decode, *prefill("gemma3-12b", "slice 2x2", 36, 13)]


def paper_row(what: str, metric: str, paper: float, simulated: float, tolerance: float, **others) -> dict:
    """A row of rows.csv: by default a prediction within its tolerance."""
    row = {"id": f"{what} {metric}", "what": what, "metric": metric, "expected": paper, "simulated": simulated,
           "ratio": simulated / paper, "role": "prediction", "tolerance": tolerance, "within": "true",
           "source": "made up", "kind": "value"}
    return {**row, **others}


def paper_rows() -> list[dict]:
    """rows.csv: values within and outside their tolerance, an upper bound, and a calibration."""
    full, semi, gather = (f"4x2, 4096 x 4096 bf16, {which}" for which in
                          ["full-loop, both phases", "semi-loop, both phases", "AllGather only"])
    return [
        paper_row("AllReduce of f32 on a real v5e 2x4 slice, 100 MiB per chip", "time_s",
                  2105.1e-6, 2105.3e-6, 0.01, role="calibration"),
        paper_row("ring of 8: 2 (N-1) (a + S/W)", "time_s", 3e-4, 3e-4, 1e-5, role="closed form"),
        paper_row(full, "speedup", 1.8, 1.92, 0.1),
        paper_row(full, "mse_vs_baseline", 0.0014, 0.00163, 0.25),
        paper_row(semi, "speedup", 1.6, 1.71, 0.1),
        paper_row(semi, "mse_vs_baseline", 0.001, 0.00102, 0.25),
        paper_row(gather, "speedup", 1.3, 1.31, 0.1),
        paper_row(gather, "mse_vs_baseline", 0.0003, 0.00042, 0.25, within="false"),
        paper_row("4x2, below 2 MiB: no gain", "speedup", 1.0, 0.88, 0.05, kind="at most"),
    ]


def write(path: pathlib.Path, rows: list[dict]) -> None:
    """Writes a table with its header."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def line(number: int, row: dict) -> dict:
    """A row as a line of results.jsonl, without empty cells."""
    run = {}
    for column, name in NUMBERS.items():
        if row.get(column, "") != "":
            *within, last = name.split("/")
            (run.setdefault(within[0], {}) if within else run)[last] = row[column]
    if "calibrated" in row:
        run["calibrated"] = row["calibrated"]
    kind, size = row["topology"].split()
    values = {"files": ["a.npy"]} if row["values"] == "files" else {"distribution": row["values"]}
    collective = {key: row[key] for key in COLLECTIVE_KEYS}
    config = {"hardware": row["hardware"], "topology": {kind: size}, "collective": "all-reduce", "baseline": "bf16",
              "tensor": {"bytes": f"{row['tensor_bytes']} B", "dtype": "bf16", "values": values},
              "collectives": [{"label": row["label"], **collective}]}
    if row["label"] != "bf16":
        config["collectives"].append({"label": "bf16", "format": "bf16"})
    if row["model"]:
        config["workload"] = {key: row[key] for key in ("model", "phase", "tokens", "batch")}
    return {"point": number, "key": f"{number:016x}", "version": VERSION, "experiment": row["experiment"], "axes": {},
            "run": {"label": row["label"], "algorithm": row["algorithm"], **run}, "config": config}


def write_points(path: pathlib.Path, rows: list[dict]) -> None:
    """Writes rows as the lines of results.jsonl."""
    path.write_text("".join(json.dumps(line(number, row)) + "\n" for number, row in enumerate(rows)))


def write_study(folder: pathlib.Path) -> None:
    """Writes results.jsonl and rows.csv."""
    write_points(folder / "results.jsonl", sizes() + six() + formats() + activations() + prefills())
    write(folder / "rows.csv", paper_rows())
