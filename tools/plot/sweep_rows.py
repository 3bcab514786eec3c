"""Rows of a sweep's results as the pictures of studies read them, with the columns of points.csv."""
import json
import math
import pathlib

import data
import quantities
import result
import sweep_file
from data import InputError, Row

# Columns of points.csv that are numbers of a run by another name, or within an object.
NUMBERS = {"chips": "chips", "time_s": "time_s", "speedup": "speedup", "lower_bound_s": "lower_bound_s",
           "wire_bytes_per_link": "wire_bytes_per_link", "compute_s": "compute_s", "allreduce_s": "allreduce_s",
           **{part: f"breakdown/{part}" for part in ("payload_s", "scales_s", "overhead_s", "bubbles_s")},
           **{error: f"numerics/{error}" for error in ("mse", "nmse", "sqnr_db", "mse_vs_baseline")}}
COLLECTIVE_KEYS = ("ring", "quantize", "format", "minishards", "microshards")
ELEMENT_BYTES = {"bf16": 2, "fp32": 4}


def read(paths: list[pathlib.Path], where: dict[str, list[str]]) -> list[Row]:
    """A row for each run of each point at these values of axes; points that failed are left out."""
    sweep = sweep_file.read(paths)
    sweep_file.check_where(sweep, where)
    chosen = [run for run in sweep.runs if run.label and sweep_file.is_at(run, where)]
    if not chosen:
        raise InputError(f"{sweep.source}: no point succeeded{' at ' + sweep_file.at_text(where) if where else ''}")
    _check_held(sweep, chosen)
    return [Row(run.path, run.line, _cells(run)) for run in chosen]


def _check_held(sweep: sweep_file.Sweep, runs: list[sweep_file.Run]) -> None:
    """Two runs that differ in an axis that no picture of a study shows would be drawn as one."""
    seen: dict[tuple, sweep_file.Run] = {}
    for run in runs:
        cells = _cells(run)
        shown = tuple(cells[name] for name in ("hardware", "topology", "tensor_bytes", "values", "label", "model",
                                               "phase", "tokens", "batch"))
        other = seen.setdefault(shown, run)
        if other is not run:
            differ = [axis for axis in run.axes if run.axes[axis] != other.axes.get(axis)]
            if differ:
                raise InputError(f"{sweep.source}: several points differ in {', '.join(differ)} only; "
                                 f"choose one with --where {differ[0]}=VALUE")


def _cells(run: sweep_file.Run) -> dict[str, str]:
    config = run.config
    if not config:
        raise InputError(f"{run.path}, line {run.line}: there is no 'config' in it")
    try:
        cells = {"hardware": config["hardware"], "topology": result.topology_text(config["topology"]),
                 "collective": result.COLLECTIVES[config["collective"]], "baseline": config["baseline"],
                 "dtype": config["tensor"]["dtype"], "tensor_bytes": _bytes(config["tensor"]),
                 "values": "files" if "files" in config["tensor"]["values"]
                 else config["tensor"]["values"]["distribution"],
                 "label": run.label, "algorithm": run.values.get("algorithm", ""), **_workload(config)}
        [collective] = [entry for entry in config["collectives"] if entry.get("label") == run.label]
    except (LookupError, TypeError, ValueError, AttributeError) as problem:
        raise InputError(f"{run.path}, line {run.line}: not a line of a sweep "
                         f"({type(problem).__name__}: {problem})") from None
    cells |= {key: str(collective.get(key, "")) for key in COLLECTIVE_KEYS}
    return cells | {column: run.values.get(name, "") for column, name in NUMBERS.items()}


def _bytes(tensor: dict) -> str:
    if "bytes" in tensor:
        return f"{quantities.parsed(tensor['bytes'], quantities.ALL_SIZE_UNITS):.0f}"
    return str(math.prod(tensor["shape"]) * ELEMENT_BYTES[tensor["dtype"]])


def _workload(config: dict) -> dict[str, str]:
    workload = config.get("workload", {})
    model = workload.get("model", "")
    length = workload.get("tokens", workload.get("context", ""))
    return {"model": model if isinstance(model, str) else json.dumps(model), "phase": workload.get("phase", ""),
            "tokens": str(length), "batch": str(workload.get("batch", ""))}
