"""How long a step of a large model takes with the gradients of each scheme: simulated, not measured."""
import json
import pathlib

import equarx

CONFIG = pathlib.Path(__file__).with_name("llama3_8b_nodes.json")
THROUGH_NETWORK = ("two-shot", "quickreduce")  # algorithms that the simulator sends through a network
TITLE = "Llama-3.1-8B on 8 nodes of 8 H100, of which each has 12.5 GB/s of the network"
MOMENT_BYTES = 8  # of a weight: two moments of Adam in FP32
# Error feedback keeps what was lost of each element that a chip quantizes, in FP32. By `two-shot` these are as many as
# its gradients: 7 of 8 shards for the others, and its own of the sum. To a step that is 4 bytes more of state for each
# weight, read and written once: what "moment_bytes" counts. Its arithmetic (adding it, decoding what was sent, their
# difference: about four operations) takes a twenty-fifth of the time of these bytes, and goes on beside them.
LOST_BYTES = 4


def of(schemes) -> dict[str, float]:
    """Seconds of a step by scheme, where gradients are summed over "data" in its format and by its algorithm. What
    feedback reads and writes is done with the optimizer, behind the last sum. So its time is the most that it may add:
    a kernel that does it while it quantizes has it beside a network that is slower."""
    seconds = {}
    for gradients in ("bf16", "fp32"):  # formats with scales quantize those of bf16
        for feedback in (False, True):
            some = [scheme for scheme in schemes
                    if (scheme.format == "fp32") == (gradients == "fp32") and scheme.feedback == feedback]
            if some:
                by_format = _simulated({scheme.format: scheme.algorithm for scheme in some}, gradients,
                                       MOMENT_BYTES + (LOST_BYTES if feedback else 0))
                seconds |= {scheme.name: by_format[scheme.format] for scheme in some}
    return seconds


def _variant(format: str, algorithm: str) -> dict:
    rule = {"where": {"collective": "all-reduce", "axis": "data"}, "format": format, "algorithm": algorithm}
    return {"label": format, "quantize": [rule]}


def _simulated(algorithms: dict[str, str], gradients: str, moment_bytes: int) -> dict[str, float]:
    """Seconds by format."""
    config = json.loads(CONFIG.read_text()) | {"variants": [_variant(*pair) for pair in algorithms.items()]}
    swept = equarx.sweep(config, {"/step/training/gradient_dtype": [gradients],
                                  "/step/training/moment_bytes": [moment_bytes]})
    return {row["label"]: row["time_s"] for row in swept.to_rows()}
