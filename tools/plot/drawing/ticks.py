"""Ticks and labels of axes of quantities."""
import math

from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from drawing import measure, style
from words import quantities

# Least distance between the centres of size labels, in multiples of the font size.
SIZE_PITCH = 5.8
# Additional distance allowed for labels at both ends.
MORE_STEPS = 2
# Axes of fewer decades have labels between powers of ten.
FEW_DECADES = 3


def size_axis(axis, smallest: float, largest: float, inches: float) -> None:
    """Labels a base-2 logarithmic axis of bytes, of that length in inches."""
    first, last = math.ceil(math.log2(smallest)), math.floor(math.log2(largest))
    room = max(1, int(inches / (SIZE_PITCH * style.NORMAL / measure.POINTS_PER_INCH)))
    axis.set_major_locator(FixedLocator([2.0**e for e in size_exponents(first, last, room)]))
    axis.set_minor_locator(FixedLocator([2.0**e for e in range(first, last + 1)]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: quantities.size_text(value)))
    axis.set_minor_formatter(NullFormatter())


def size_exponents(first: int, last: int, most: int) -> list[int]:
    """Equidistant exponents from first to last, in about `most` steps at most; always includes the last."""
    least = max(1, math.ceil((last - first) / most))
    steps = [step for step in range(least, least + MORE_STEPS + 1) if (last - first) % step == 0]
    return list(range(last, first - 1, -(steps[0] if steps else least)))[::-1]


def decade_ticks(low: float, high: float) -> list[float]:
    """Round numbers in [low, high] for a logarithmic axis; 1, 2, 5 in each of few decades."""
    digits = [1, 2, 5] if math.log10(high / low) < FEW_DECADES else [1]
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{exponent}") for exponent in exponents for digit in digits]
    return [tick for tick in ticks if low <= tick * quantities.ROUNDING and tick <= high * quantities.ROUNDING]


def duration_axis(axis, longest: float) -> None:
    """Labels and titles an axis of seconds in the unit of the longest time."""
    unit, name = next((size, name) for size, name in quantities.TIME_UNITS if longest >= size)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit:g}"))
    axis.set_label_text(f"time ({name})")


def times_axis(axis) -> None:
    """Labels an axis of factors: 1.25x."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))


def log_axis(axis, text) -> None:
    """Labels a base-10 logarithmic axis with text(value) at round numbers within its limits."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(FixedLocator(decade_ticks(low, high)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
