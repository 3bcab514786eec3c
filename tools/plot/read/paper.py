"""What the EQuARX paper reports (Ahmed et al., arXiv 2506.17615), as far as pictures mark it."""
import dataclasses

from read.row import Row
from words.quantities import KIB

# One experiment: AllReduce of 4096 x 4096 bf16 on a 4x2 slice of TPU v5e, int8, values from N(0, 1).
HARDWARE = "tpu-v5e"
TOPOLOGY = "slice 4x2"
TENSOR_BYTES = 4096 * 4096 * 2
# What it compares, and with what.
COLLECTIVE, BASELINE = "AllReduce", "bf16"
# "No gain": below this, hop latency dominates.
GAIN_FROM_BYTES = 2 * KIB**2


@dataclasses.dataclass(frozen=True)
class Point:
    """One configuration of that experiment; mse is against the result of the BF16 AllReduce."""

    ring: str
    quantize: str
    speedup: float
    mse: float


POINTS = [
    Point("full-loop", "both", 1.8, 0.0014),
    Point("semi-loop", "both", 1.6, 0.001),
    # The paper does not say which ring this is.
    Point("", "all-gather", 1.3, 0.0003),
]


@dataclasses.dataclass(frozen=True)
class Prefill:
    """Prefill of one prompt on TPU v5e, int8; time_s where the paper gives it."""

    model: str
    topology: str
    tokens: int
    label: str
    speedup: float
    time_s: float = 0.0


PREFILLS = [
    Prefill("gemma3-27b", "slice 4x4", 4096, "bf16", 1.0, 0.24257),
    Prefill("gemma3-27b", "slice 4x4", 4096, "semi-loop", 1.25, 0.19487),
    *(Prefill("gemma3-12b", "slice 2x2", tokens, "full-loop", 1.1) for tokens in (2048, 4096, 8192)),
]


def prefill(row: Row) -> Prefill | None:
    """What the paper reports for the prefill of this row, if anything."""
    if row.text("hardware") != HARDWARE or row.number("batch") != 1:
        return None
    found = [point for point in PREFILLS
             if (point.model, point.topology, point.label) == tuple(map(row.text, ("model", "topology", "label")))
             and point.tokens == row.number("tokens")]
    return found[0] if found else None


def same_chip(row: Row) -> bool:
    """Whether the row is of the chip that the paper is about, and compared with what the paper compares with."""
    return (row.text("hardware") == HARDWARE and row.text("collective") == COLLECTIVE
            and row.text("baseline") == BASELINE)


def same_machine(row: Row) -> bool:
    """Whether the row is of the slice that the points were measured on."""
    return same_chip(row) and row.text("topology") == TOPOLOGY


def same_experiment(row: Row) -> bool:
    """Whether the row is of that slice and of a tensor of that size."""
    return same_machine(row) and row.number("tensor_bytes") == TENSOR_BYTES
