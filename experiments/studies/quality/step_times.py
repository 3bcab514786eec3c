"""Time of a large model's training step with the gradients of each scheme: simulated, not measured."""
import dataclasses
import json
import pathlib

import equarx

CONFIG = pathlib.Path(__file__).with_name("llama3_8b_nodes.json")
# algorithms that the simulator runs between chips of different nodes
THROUGH_NETWORK = ("two-shot", "quickreduce", "equarx")
TITLE = "Llama-3.1-8B on 8 nodes of 8 H100"
MOMENT_BYTES = 8  # per weight: two moments of Adam in FP32
# Error feedback keeps the error of each element that a chip quantizes, in FP32. With `two-shot`
# these are as many as its gradients: 7 of 8 shards for the other chips, and its own shard of the
# sum. This adds 4 bytes of state per weight to a step, read and written once, as "moment_bytes"
# counts. Its arithmetic (adding it, decoding the sent codes, their difference: about four
# operations) takes a twenty-fifth of the time of these bytes, and overlaps with them.
LOST_BYTES = 4


@dataclasses.dataclass(frozen=True)
class Network:
    """Network between nodes: bandwidth of a port, and the GPUs of a node that share it."""

    name: str
    bandwidth: str
    chips_per_port: int


NETWORKS = (Network("12.5 GB/s a node", "12.5 GB/s", 8), Network("25 GB/s a node", "25 GB/s", 8),
            Network("50 GB/s a node", "50 GB/s", 8), Network("50 GB/s a GPU", "50 GB/s", 1))


def of(schemes, network: Network) -> dict[str, float]:
    """Seconds of a step by scheme, where gradients are summed over "data" in its format and by its
    algorithm. Reads and writes of error feedback happen in the optimizer, after the last sum, so
    the time is an upper bound: a kernel that fuses them with quantization overlaps them with the
    slower network."""
    seconds = {}
    for gradients in ("bf16", "fp32"):  # formats with scales quantize bf16 gradients
        for feedback in (False, True):
            some = [scheme for scheme in schemes
                    if (scheme.format == "fp32") == (gradients == "fp32") and scheme.feedback == feedback]
            if some:
                seconds |= _simulated(some, network, gradients, MOMENT_BYTES + (LOST_BYTES if feedback else 0))
    return seconds


def _variant(scheme) -> dict:
    rule = {"where": {"collective": "all-reduce", "axis": "data"}, "format": scheme.format,
            "algorithm": scheme.algorithm}
    return {"label": scheme.name, "quantize": [rule]}


def _simulated(schemes, network: Network, gradients: str, moment_bytes: int) -> dict[str, float]:
    config = json.loads(CONFIG.read_text()) | {"variants": [_variant(scheme) for scheme in schemes]}
    swept = equarx.sweep(config, {"/topology/network/bandwidth": [network.bandwidth],
                                  "/topology/network/chips_per_port": [network.chips_per_port],
                                  "/step/training/gradient_dtype": [gradients],
                                  "/step/training/moment_bytes": [moment_bytes]})
    return {row["label"]: row["time_s"] for row in swept.to_rows()}
