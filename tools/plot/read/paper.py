"""Figures of the EQuARX paper (Ahmed et al., arXiv 2506.17615) that pictures mark.

A figure belongs to a row if the row has the chip, slice, tensor, format and phases of the measurement. Labels do not
matter: any collective may be called full-loop.
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
# Collective and baseline of the comparison.
COLLECTIVE, BASELINE = "AllReduce", "bf16"
ALGORITHM, FORMAT, BOTH = "equarx", "int8", "both"
# "No gain": below this, hop latency dominates.
GAIN_FROM_BYTES = 2 * KIB**2


@dataclasses.dataclass(frozen=True)
class Point:
    """One configuration of that experiment; mse is relative to the result of the BF16 AllReduce."""

    ring: str
    quantize: str
    speedup: float
    mse: float


POINTS = [
    Point("full-loop", BOTH, 1.8, 0.0014),
    Point("semi-loop", BOTH, 1.6, 0.001),
    # The ring style is not stated.
    Point("", "all-gather", 1.3, 0.0003),
]


@dataclasses.dataclass(frozen=True)
class Prefill:
    """Prefill of one prompt on TPU v5e, int8 in both phases.

    ring: empty for the baseline. time_s: 0 if not reported.
    """

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
    """The figure for the prefill of this row; None if there is none."""
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
    """The figure for the collective of this row on its slice, at TENSOR_BYTES; None if there is none."""
    if not _same_chip(row) or row.has("phase") or row.text("topology") != TOPOLOGY:
        return None
    found = [one for one in POINTS if _quantizes_as_there(row, one.quantize) and one.ring in ("", _cell(row, "ring"))]
    return found[0] if found else None


def same_experiment(row: Row) -> bool:
    """True if the row has the tensor size and the values of the reported errors."""
    return row.number("tensor_bytes") == TENSOR_BYTES and _cell(row, "values") == VALUES


def _cell(row: Row, column: str) -> str:
    return row.cells.get(column, "")


def _same_chip(row: Row) -> bool:
    """True if the row has the chip, the collective and the baseline of the paper, and no faulty links."""
    return (_chip(row) == HARDWARE and not row.has("faults") and row.text("collective") == COLLECTIVE
            and _cell(row, "baseline_format") == BASELINE and _cell(row, "dtype") == BASELINE)


def _chip(row: Row) -> str:
    """Name of the chip, also if it is given as a file."""
    return row.text("hardware").rsplit("/", 1)[-1].removesuffix(".json")


def _is_baseline(row: Row) -> bool:
    return row.text("label") == row.text("baseline")


def _quantizes_as_there(row: Row, phases: str) -> bool:
    return (_cell(row, "algorithm"), _cell(row, "format"), _cell(row, "quantize")) == (ALGORITHM, FORMAT, phases)
