"""How long a step of a large model takes with the gradients of each scheme: simulated, not measured."""
import json
import pathlib

import equarx

CONFIG = pathlib.Path(__file__).with_name("llama3_8b_nodes.json")
THROUGH_NETWORK = ("two-shot", "quickreduce")  # algorithms that the simulator sends through a network
TITLE = "Llama-3.1-8B on 8 nodes of 8 H100, of which each has 12.5 GB/s of the network"


def of(schemes) -> dict[str, float]:
    """Seconds of a step by scheme, where gradients are summed over "data" in its format and by its algorithm. Schemes
    with feedback take as long as without: what it adds is not simulated."""
    algorithms = {scheme.format: scheme.algorithm for scheme in schemes}
    seconds = {}
    for gradients in ("bf16", "fp32"):  # formats with scales quantize those of bf16
        variants = [_variant(format, algorithm) for format, algorithm in algorithms.items()
                    if (format == "fp32") == (gradients == "fp32")]
        if variants:
            seconds |= _simulated(variants, gradients)
    return {scheme.name: seconds[scheme.format] for scheme in schemes}


def _variant(format: str, algorithm: str) -> dict:
    rule = {"where": {"collective": "all-reduce", "axis": "data"}, "format": format, "algorithm": algorithm}
    return {"label": format, "quantize": [rule]}


def _simulated(variants: list[dict], gradients: str) -> dict[str, float]:
    config = json.loads(CONFIG.read_text()) | {"variants": variants}
    swept = equarx.sweep(config, {"/step/training/gradient_dtype": [gradients]})
    return {row["label"]: row["time_s"] for row in swept.to_rows()}
