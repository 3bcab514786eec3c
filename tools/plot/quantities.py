"""Quantities as people write them, and axes that are labelled with them."""
import math
import re

from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

KIB = 1024
SIZE_UNITS = [(KIB**3, "GiB"), (KIB**2, "MiB"), (KIB, "KiB"), (1, "B")]
ALL_SIZE_UNITS = [*SIZE_UNITS, *((1000.0**power, f"{prefix}B") for power, prefix in enumerate("kMG", 1))]
TIME_UNITS = [(1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")]
# Sizes grow by powers of two; a label every fourth power leaves room for all in a narrow panel.
SIZE_TICK_STEP = 4
# Below this many decades an axis also needs labels between the powers of ten.
FEW_DECADES = 3
# Guards against 999.9999 us where 1 ms is meant.
ROUNDING = 1 + 1e-9


def _in_units(value: float, units: list[tuple[float, str]], digits: int) -> str:
    for size, name in units:
        if value * ROUNDING >= size:
            return f"{value / size:.{digits}g} {name}"
    size, name = units[-1]
    return f"{value / size:.{digits}g} {name}"


def size_text(size_bytes: float) -> str:
    """Bytes in binary units: 33554432 is '32 MiB'."""
    return _in_units(size_bytes, SIZE_UNITS, 4)


def time_text(seconds: float) -> str:
    """Seconds in the unit that suits: 3.507e-4 is '350.7 us'."""
    return _in_units(seconds, TIME_UNITS, 4)


def parsed(text: str, units: list[tuple[float, str]]) -> float | None:
    """The quantity that a text with one of these units gives; None if it gives none."""
    match = re.fullmatch(r"\s*([0-9.eE+-]+?)\s*([A-Za-z]+)\s*", text)
    sizes = {name: size for size, name in units}
    if not match or match[2] not in sizes:
        return None
    try:
        return float(match[1]) * sizes[match[2]]
    except ValueError:
        return None


def size_of(text: str) -> float | None:
    """What a value of an axis is sorted by: a number, bytes or a time; None if it is none of them."""
    try:
        return float(text)
    except ValueError:
        size = parsed(text, ALL_SIZE_UNITS)
        return parsed(text, TIME_UNITS) if size is None else size


def size_axis(axis, smallest: float, largest: float) -> None:
    """Labels a base-2 logarithmic axis of bytes."""
    first, last = math.ceil(math.log2(smallest)), math.floor(math.log2(largest))
    axis.set_major_locator(FixedLocator([2.0**e for e in range(first, last + 1, SIZE_TICK_STEP)]))
    axis.set_minor_locator(FixedLocator([2.0**e for e in range(first, last + 1)]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))
    axis.set_minor_formatter(NullFormatter())


def decade_ticks(low: float, high: float) -> list[float]:
    """Round numbers in [low, high] for a logarithmic axis: 1, 2, 5 a decade if there are few decades."""
    digits = [1, 2, 5] if math.log10(high / low) < FEW_DECADES else [1]
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{exponent}") for exponent in exponents for digit in digits]
    return [tick for tick in ticks if low <= tick * ROUNDING and tick <= high * ROUNDING]


def times_axis(axis) -> None:
    """Labels an axis of factors: 1.25x."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))


def log_axis(axis, text) -> None:
    """Labels a base-10 logarithmic axis with text(value) at round numbers within its limits."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(FixedLocator(decade_ticks(low, high)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
