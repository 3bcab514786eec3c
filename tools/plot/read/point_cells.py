"""Cells of a run and its configuration, by name."""
import json
import math

from read.errors import InputError
from words import names, quantities

# Paths of numbers in a run, by the name of their cell.
NUMBERS = {"chips": "chips", "time_s": "time_s", "speedup": "speedup", "lower_bound_s": "lower_bound_s",
           "wire_bytes_per_link": "wire_bytes_per_link", "compute_s": "compute_s", "allreduce_s": "exposed_s",
           "matrix_s": "matrix_s", "attention_s": "attention_s", "elementwise_s": "elementwise_s",
           **{part: f"breakdown/{part}"
              for part in ("payload_s", "scales_s", "sync_s", "startup_s", "idle_s")},
           **{end: f"uncertainty/{end}" for end in ("time_low_s", "time_high_s", "speedup_low", "speedup_high")},
           **{error: f"numerics/{error}" for error in ("mse", "nmse", "sqnr_db", "mse_vs_baseline")}}
COLLECTIVE_KEYS = ("ring", "quantize", "format", "minishards", "microshards")
ELEMENT_BYTES = {"bf16": 2, "fp32": 4}


def of(experiment: str, label: str, values: dict[str, str], config: dict) -> dict[str, str]:
    """The cells of a run; empty where a value is missing.

    Raises LookupError, TypeError, ValueError or AttributeError if the configuration is not a resolved one.
    """
    if "step" in config:
        raise InputError("results of steps have no tensor; 'plot paper' draws rows.csv of a study, 'plot step' a "
                         "result of 'equarx-sim run CONFIG --json'")
    tensor = config["tensor"]
    cells = {"experiment": experiment, "hardware": names.chip_text(config["hardware"]),
             "topology": names.topology_text(config["topology"]),
             "collective": names.COLLECTIVES[config["collective"]], "baseline": config["baseline"],
             "dtype": tensor["dtype"], "tensor_bytes": tensor_bytes(tensor),
             "values": "files" if "files" in tensor["values"] else tensor["values"]["distribution"],
             "values_text": names.values_text(tensor), "label": label,
             "algorithm": values.get("algorithm", ""), "calibrated": values.get("calibrated", ""),
             **_workload(config)}
    cells["faults"] = "yes" if config.get("faults") else ""
    cells["baseline_format"] = _format_of(config, config["baseline"])
    [collective] = [entry for entry in config["collectives"] if entry.get("label") == label]
    cells |= {key: str(collective.get(key, "")) for key in COLLECTIVE_KEYS}
    return cells | {column: values.get(name, "") for column, name in NUMBERS.items()}


def _format_of(config: dict, label: str) -> str:
    found = [entry.get("format", "") for entry in config["collectives"] if entry.get("label") == label]
    return found[0] if found else ""


def tensor_bytes(tensor: dict) -> str:
    """Bytes of the tensor of a configuration, as text."""
    if "bytes" in tensor:
        return f"{quantities.parsed(tensor['bytes'], quantities.ALL_SIZE_UNITS):.0f}"
    return str(math.prod(tensor["shape"]) * ELEMENT_BYTES[tensor["dtype"]])


def _workload(config: dict) -> dict[str, str]:
    workload = config.get("workload", {})
    model = workload.get("model", "")
    length = workload.get("tokens", workload.get("context", ""))
    return {"model": model if isinstance(model, str) else json.dumps(model), "phase": workload.get("phase", ""),
            "tokens": str(length), "batch": str(workload.get("batch", ""))}
