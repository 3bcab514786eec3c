"""What a picture is about, in words."""
from read.row import Row
from read.rows import the_only
from words import quantities


def baseline(rows: list[Row]) -> str:
    """The label that speedups refer to."""
    return the_only(rows, "baseline")


def collective(rows: list[Row]) -> str:
    """Such as 'AllReduce'."""
    return the_only(rows, "collective")


def one_size(rows: list[Row]) -> str:
    """For a subtitle: 'AllReduce of 32 MiB of bf16 on each of 8 x tpu-v5e, slice 4x2'."""
    size = quantities.size_text(float(the_only(rows, "tensor_bytes")))
    return (f"{collective(rows)} of {size} of {the_only(rows, 'dtype')} on each of "
            f"{the_only(rows, 'chips')} x {the_only(rows, 'hardware')}, {the_only(rows, 'topology')}")
