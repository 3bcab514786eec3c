"""Chips: built-in ones, some with other parameters, and hardware files."""
import copy
import json
import pathlib
import re

from draw import Draw

ROOT = pathlib.Path(__file__).resolve().parents[3]
NAMES = ["tpu-v5e"] * 4 + ["tpu-v4", "tpu-v5p", "tpu-v6e", "tpu-v7", "a100", "b200", "gb200", "gh200", "h100", "h200",
                           "h800", "mi300x"]
# Optional keys of a hardware file.
OPTIONAL = ["matrix_rate_fp8", "matrix_rate_fp4", "matrix_rate_fp32", "matrix_rate_int1", "matrix_rate_table",
            "matrix_efficiency_int1", "matrix_efficiency_table", "host_bandwidth", "thread_block_rate",
            "kernel_startup", "program_startup", "ll_startup", "ll_hop_latency", "ll_efficiency", "ll128_startup",
            "ll128_hop_latency", "ll128_efficiency", "simple_startup", "simple_hop_latency", "simple_efficiency",
            "switch_efficiency", "switch_startup", "operation_startup", "matrix_startup", "matrix_hbm_efficiency",
            "matrix_efficiency_fp8", "matrix_efficiency_int8", "matrix_efficiency_fp4", "matrix_efficiency_fp32",
            "convolution_efficiency", "attention_efficiency", "attention_backward_efficiency", "attention_row_time",
            "amax_efficiency", "sort_rate", "decode_rate", "decoded_efficiency", "step_overhead", "price", "power_idle",
            "power_busy", "energy_bf16", "energy_int8", "energy_fp8", "energy_fp4", "energy_fp32", "energy_int1",
            "energy_table", "energy_vector", "energy_hbm", "energy_vmem", "energy_link"]
# Parameters that are given together, so that chips keep those of their base.
WORKGROUPS = ("compute_units", "workgroups_per_unit", "workgroup_tile", "tile_codec_time", "peer_read_time",
              "codec_rate", "copy_rate")
RATIOS = ("link_efficiency", "shared_link_efficiency", "hbm_efficiency", "matrix_efficiency", "ll_efficiency",
          "ll128_efficiency", "simple_efficiency", "switch_efficiency", "tree_efficiency", "matrix_hbm_efficiency",
          "matrix_efficiency_fp8", "matrix_efficiency_int8", "matrix_efficiency_fp4", "matrix_efficiency_fp32",
          "matrix_efficiency_int1", "matrix_efficiency_table", "convolution_efficiency", "attention_efficiency",
          "attention_backward_efficiency", "amax_efficiency", "decoded_efficiency", "step_overhead")
COUNTS = ("links", "dma_queue")
# For chips that have none of their own.
USUAL = {"matrix_rate_fp8": "400 Top/s", "matrix_rate_fp4": "800 Top/s", "matrix_rate_fp32": "30 Top/s",
         "matrix_rate_int1": "2000 Top/s", "matrix_rate_table": "1 Top/s", "matrix_efficiency_int1": 0.5,
         "matrix_efficiency_table": 0.5, "host_bandwidth": "15 GB/s", "thread_block_rate": "20 GB/s",
         "kernel_startup": "5 us", "program_startup": "40 us", "ll_startup": "6 us", "ll_hop_latency": "600 ns",
         "ll_efficiency": 0.3,
         "ll128_startup": "14 us", "ll128_hop_latency": "2 us", "ll128_efficiency": 0.75, "simple_startup": "8 us",
         "simple_hop_latency": "3 us", "simple_efficiency": 0.8, "switch_efficiency": 0.6, "switch_startup": "25 us",
         "ll_network_latency": "3 us", "ll128_network_latency": "4 us", "simple_network_latency": "14 us",
         "ll_network_bandwidth": "20 GB/s", "ll_tree_hop_latency": "600 ns", "ll128_tree_hop_latency": "1 us",
         "simple_tree_hop_latency": "4 us", "ll_tree_network_latency": "5 us", "ll128_tree_network_latency": "8 us",
         "simple_tree_network_latency": "14 us", "tree_efficiency": 0.9,
         "operation_startup": "1 us", "matrix_startup": "4 us", "matrix_hbm_efficiency": 0.7,
         "matrix_efficiency_fp8": 0.6, "matrix_efficiency_int8": 0.5, "matrix_efficiency_fp4": 0.5,
         "matrix_efficiency_fp32": 0.5, "convolution_efficiency": 0.4, "attention_efficiency": 0.6,
         "attention_backward_efficiency": 0.5,
         "attention_row_time": "1 ns", "amax_efficiency": 0.6, "sort_rate": "0.1 Top/s", "decode_rate": "3 Top/s",
         "decoded_efficiency": 0.5, "step_overhead": 0.3, "price": "$2/h", "power_idle": "60 W", "power_busy": "400 W",
         "energy_bf16": "0.5 pJ/op", "energy_int8": "0.2 pJ/op", "energy_fp8": "0.2 pJ/op", "energy_fp4": "0.1 pJ/op",
         "energy_fp32": "2 pJ/op", "energy_int1": "0.02 pJ/op", "energy_table": "1 pJ/op", "energy_vector": "1 pJ/op",
         "energy_hbm": "30 pJ/B", "energy_vmem": "2 pJ/B", "energy_link": "20 pJ/B"}


def file_of(name: str) -> dict:
    return json.loads((ROOT / "configs" / "hardware" / f"{name}.json").read_text(encoding="utf-8"))


def parameters() -> list[str]:
    schema = json.loads((ROOT / "configs" / "schema" / "hardware.schema.json").read_text(encoding="utf-8"))
    keys = schema["definitions"]["whole"]["properties"]["parameters"]["properties"]
    return [key for key in keys if key not in WORKGROUPS]


def value_of(name: str, parameter: str) -> object:
    known = file_of(name)["parameters"]
    return known[parameter]["value"] if parameter in known else USUAL[parameter]


def scaled(value: object, parameter: str, factor: float) -> object:
    """The value times a factor, as far as the parameter allows."""
    if parameter in RATIOS:
        return min(1.0, value * factor)
    if parameter in COUNTS:
        return max(1, round(value * factor))
    if value.startswith("$"):
        return f"${float(value[1:].removesuffix('/h')) * factor:.9g}/h"
    number, unit = re.fullmatch(r"(\S+) (.*)", value).groups()
    return f"{float(number) * factor:.9g} {unit}"


def change(draw: Draw, name: str, parameter: str) -> object:
    value = scaled(value_of(name, parameter), parameter, draw.log(0.05, 20.0))
    if draw.chance(0.8):
        return value
    made = {"value": value, "class": draw.choice(["datasheet", "measured", "calibrated", "assumed"]), "source": "drawn"}
    if made["class"] in ("measured", "calibrated") and draw.chance(0.7) and parameter not in COUNTS:
        made["standard_error"] = scaled(value, parameter, 0.1)
    if draw.chance(0.5):
        made["range"] = [scaled(value, parameter, 0.5), scaled(value, parameter, 1.0)]
    return made


def calibration(draw: Draw, known: dict) -> dict:
    """Two parameters with known errors."""
    names = [key for key, entry in known.items() if "standard_error" in entry or "range" in entry]
    chosen = draw.sample(names, min(len(names), 2)) or [None]
    correlation = draw.uniform(-1.0, 1.0)
    matrix = [[1.0 if i == j else correlation for j in range(len(chosen))] for i in range(len(chosen))]
    observation = {"what": "an AllReduce", "source": "drawn", "role": draw.choice(["fit", "check"]),
                   "measured": "5.7 us", "standard_error": "0.2 us", "simulated": "5.6 us"}
    return {"parameters": chosen, "correlation": matrix, "observations": [observation] * draw.randint(0, 2)}


def whole_file(draw: Draw, name: str) -> dict:
    made = file_of(name)
    made["name"] = "drawn"
    made.pop("calibration", None)
    known = made["parameters"]
    for parameter in draw.sample(parameters(), draw.randint(0, 4)):
        if parameter in OPTIONAL and draw.chance(0.3):
            known.pop(parameter, None)
            continue
        changed = change(draw, name, parameter)
        known[parameter] = changed if isinstance(changed, dict) else {"value": changed, "class": "assumed",
                                                                      "source": "drawn"}
    if draw.chance(0.3):
        made["slices"] = {"list": ["2x2", "4x2", "3x2"], "class": "assumed", "source": "drawn",
                          "wraparound": draw.choice([{"rule": "never"}, {"rule": "whole-cubes"},
                                                     {"rule": "axis-length", "length": draw.randint(1, 4)}])}
        if made["slices"]["wraparound"]["rule"] == "whole-cubes" or draw.chance(0.3):
            made["slices"]["cubes"] = {"cube": draw.choice(["2x2", "3x3", "2x2x2"]), "most_chips": draw.randint(8, 64)}
    if draw.chance(0.3):
        points = sorted(draw.log(1e3, 1e12) for _ in range(draw.randint(1, 3)))
        made["matrix_products"] = {"points": [{"operations": one, "share": draw.uniform(0.1, 1.0)} for one in points],
                                   "class": "assumed", "source": "drawn"}
    if draw.chance(0.3):
        made["calibration"] = calibration(draw, known)
    return made


def chip(draw: Draw, files: dict) -> object:
    """Value of `hardware`; files that it names are added to `files`."""
    name = draw.choice(NAMES)
    way = draw.random()
    if way < 0.5:
        return name
    if way < 0.85:
        return {"based_on": name} | {one: change(draw, name, one)
                                     for one in draw.sample(parameters(), draw.randint(0, 4))}
    if way < 0.95:
        files["chip.json"] = whole_file(draw, name)
    else:
        files["chip.json"] = {"based_on": name, "name": "drawn", "description": "drawn"} | {
            one: change(draw, name, one) for one in draw.sample(parameters(), draw.randint(0, 3))}
    return "./chip.json" if draw.chance(0.8) else {"based_on": "./chip.json", "hop_latency": "100 ns"}


def name_of(hardware: object, files: dict) -> str | None:
    """The built-in chip that it is based on, if known without reading files."""
    name = hardware.get("based_on") if isinstance(hardware, dict) else hardware
    return name if name in NAMES else None


def with_parameter(hardware: object, parameter: str, factor: float) -> dict | None:
    """The same chip with one parameter times a factor; None if its value is not plain."""
    name = name_of(hardware, {})
    if name is None:
        return None
    made = copy.deepcopy(hardware) if isinstance(hardware, dict) else {"based_on": name}
    value = made.get(parameter, None if parameter in OPTIONAL else value_of(name, parameter))
    if value is None or isinstance(value, dict):
        return None
    made[parameter] = scaled(value, parameter, factor)
    return made
