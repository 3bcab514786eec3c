"""What the EQuARX paper reports (Ahmed et al., arXiv 2506.17615), as far as pictures mark it.

A figure of the paper belongs to a row only if the row is of what the paper measured: labels say nothing, as anything
can be called full-loop.
"""
import dataclasses

from read.row import Row
from words.quantities import KIB

CITATION = "paper: Ahmed et al., arXiv 2506.17615"
# One experiment: AllReduce of 4096 x 4096 bf16 on a 4x2 slice of TPU v5e, int8, values from N(0, 1).
HARDWARE = "tpu-v5e"
TOPOLOGY = "slice 4x2"
TENSOR_BYTES = 4096 * 4096 * 2
VALUES = "normal"
# What it compares, and with what.
COLLECTIVE, BASELINE = "AllReduce", "bf16"
ALGORITHM, FORMAT, BOTH = "equarx", "int8", "both"
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
    Point("full-loop", BOTH, 1.8, 0.0014),
    Point("semi-loop", BOTH, 1.6, 0.001),
    # The paper does not say which ring this is.
    Point("", "all-gather", 1.3, 0.0003),
]


@dataclasses.dataclass(frozen=True)
class Prefill:
    """Prefill of one prompt on TPU v5e, int8 in both phases; time_s where the paper gives it. The baseline has no
    ring."""

    model: str
    topology: str
    tokens: int
    ring: str
    speedup: float
    time_s: float = 0.0


PREFILLS = [
    Prefill("gemma3-27b", "slice 4x4", 4096, "", 1.0, 0.24257),
    Prefill("gemma3-27b", "slice 4x4", 4096, "semi-loop", 1.25, 0.19487),
    *(Prefill("gemma3-12b", "slice 2x2", tokens, "full-loop", 1.1) for tokens in (2048, 4096, 8192)),
]


def prefill(row: Row) -> Prefill | None:
    """What the paper reports for the prefill of this row, if anything."""
    if not _same_chip(row) or _cell(row, "phase") != "prefill" or row.number("batch") != 1:
        return None
    if _is_baseline(row):
        ring = ""
    elif _quantizes_as_there(row, BOTH):
        ring = _cell(row, "ring")
    else:
        return None
    found = [point for point in PREFILLS
             if (point.model, point.topology, point.ring) == (row.text("model"), row.text("topology"), ring)
             and point.tokens == row.number("tokens")]
    return found[0] if found else None


def point(row: Row) -> Point | None:
    """What the paper reports of a row's collective on the slice of the row, for a tensor of TENSOR_BYTES."""
    if not _same_chip(row) or row.has("phase") or row.text("topology") != TOPOLOGY:
        return None
    found = [one for one in POINTS if _quantizes_as_there(row, one.quantize) and one.ring in ("", _cell(row, "ring"))]
    return found[0] if found else None


def same_experiment(row: Row) -> bool:
    """Whether the row is of a tensor of the size and with the values that errors were measured on."""
    return row.number("tensor_bytes") == TENSOR_BYTES and _cell(row, "values") == VALUES


def _cell(row: Row, column: str) -> str:
    return row.cells.get(column, "")


def _same_chip(row: Row) -> bool:
    """Whether the row is of the chip that the paper is about, whole, and compared with what the paper compares with."""
    return (_chip(row) == HARDWARE and not row.has("faults") and row.text("collective") == COLLECTIVE
            and _cell(row, "baseline_format") == BASELINE and _cell(row, "dtype") == BASELINE)


def _chip(row: Row) -> str:
    """Its name, also of a chip that is given by its file."""
    return row.text("hardware").rsplit("/", 1)[-1].removesuffix(".json")


def _is_baseline(row: Row) -> bool:
    return row.text("label") == row.text("baseline")


def _quantizes_as_there(row: Row, phases: str) -> bool:
    return (_cell(row, "algorithm"), _cell(row, "format"), _cell(row, "quantize")) == (ALGORITHM, FORMAT, phases)
