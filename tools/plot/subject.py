"""What a picture is about, in words. Rows of sweeps say more than those of studies, which are of AllReduces of bf16."""
import data
import quantities
from data import Row

BASELINE, COLLECTIVE, TYPE = "bf16", "AllReduce", "bf16"


def _the_only(rows: list[Row], column: str, otherwise: str) -> str:
    return data.the_only(rows, column) if all(row.has(column) for row in rows) else otherwise


def baseline(rows: list[Row]) -> str:
    """The label that speedups refer to."""
    return _the_only(rows, "baseline", BASELINE)


def collective(rows: list[Row]) -> str:
    """Such as 'AllReduce'."""
    return _the_only(rows, "collective", COLLECTIVE)


def one_size(rows: list[Row]) -> str:
    """For a subtitle: 'AllReduce of 32 MiB of bf16 on each of 8 x tpu-v5e, slice 4x2'."""
    size = quantities.size_text(float(data.the_only(rows, "tensor_bytes")))
    return (f"{collective(rows)} of {size} of {_the_only(rows, 'dtype', TYPE)} on each of "
            f"{data.the_only(rows, 'chips')} x {data.the_only(rows, 'hardware')}, {data.the_only(rows, 'topology')}")
