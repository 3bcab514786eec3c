"""Descriptions of the subject of a picture."""
from read.row import Row
from read.rows import the_only
from words import quantities

WORKLOADS = {"prefill": "prefill", "decode": "decoding step"}


def baseline(rows: list[Row]) -> str:
    """Label of the baseline of speedups."""
    return the_only(rows, "baseline")


def collective(rows: list[Row]) -> str:
    """Name of the collective: 'AllReduce'."""
    return the_only(rows, "collective")


def check_one(rows: list[Row]) -> None:
    """Throws TooMuch for rows of several tensors or machines."""
    for column in ("collective", "tensor_bytes", "dtype", "chips", "hardware", "topology"):
        the_only(rows, column)


def timed(rows: list[Row]) -> str:
    """Subject of the times: the collective, or a phase of a model."""
    return WORKLOADS.get(_shared(rows, "phase")) or collective(rows)


def context(rows: list[Row]) -> str:
    """Properties shared by all rows: 'AllReduce of 32 MiB of bf16 on each of 8 x tpu-v5e, slice 4x2; uniform values'.

    Values are named where rows have errors, which depend on them.
    """
    machine = _machine(rows)
    work = _workload(rows) or _collective(rows)
    values = _shared(rows, "values_text") if any(row.has("mse") for row in rows) else ""
    return "; ".join(filter(None, [f"{work} on {machine}" if machine else work, values]))


def _shared(rows: list[Row], column: str) -> str:
    """The value of a column that all rows share; empty if they differ."""
    found = {row.cells.get(column, "") for row in rows}
    return found.pop() if len(found) == 1 else ""


def _collective(rows: list[Row]) -> str:
    size = _shared(rows, "tensor_bytes")
    of = [quantities.size_text(float(size)) if size else "", _shared(rows, "dtype")]
    return " of ".join(filter(None, [_shared(rows, "collective") or "collectives", *of]))


def _machine(rows: list[Row]) -> str:
    chips, hardware, topology = (_shared(rows, column) for column in ("chips", "hardware", "topology"))
    faults = "with faulty links" if _shared(rows, "faults") else ""
    if topology:
        each = f"each of {float(chips):.0f} x {hardware}" if chips and hardware else hardware or "each chip"
        return " ".join(filter(None, [f"{each}, {topology}", faults]))
    return " ".join(filter(None, [hardware, faults]))


def _workload(rows: list[Row]) -> str:
    phase = _shared(rows, "phase")
    if not phase:
        return ""
    model, tokens, batch = (_shared(rows, column) for column in ("model", "tokens", "batch"))
    count = f"{tokens} tokens" if tokens else ""
    name = WORKLOADS.get(phase, phase).capitalize()
    return ", ".join(filter(None, [f"{name} of {model}" if model else name, count,
                                   f"batch {batch}" if batch else ""]))

