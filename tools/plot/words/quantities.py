"""Quantities with units: '32 MiB', '350.7 us'."""
import re

KIB = 1024
SIZE_UNITS = [(KIB**3, "GiB"), (KIB**2, "MiB"), (KIB, "KiB"), (1, "B")]
ALL_SIZE_UNITS = [*SIZE_UNITS, *((1000.0**power, f"{prefix}B") for power, prefix in enumerate("kMG", 1))]
TIME_UNITS = [(1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")]
# So that 999.9999 us is written as 1 ms.
ROUNDING = 1 + 1e-9
DIGITS = 4


def significant(value: float, digits: int) -> str:
    """That many significant digits, with trailing zeros: '36.0' next to '36.1'."""
    return f"{value:#.{digits}g}".removesuffix(".").replace(".e", "e")


def error_text(value: float) -> str:
    """Tick label of an axis over several decades: '2e-4'."""
    return f"{value:g}" if 1e-3 <= value < 1e4 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


def _in_units(value: float, units: list[tuple[float, str]], text) -> str:
    for size, name in units:
        if value * ROUNDING >= size:
            return f"{text(value / size)} {name}"
    size, name = units[-1]
    return f"{text(value / size)} {name}"


def size_text(size_bytes: float) -> str:
    """Bytes in binary units: 33554432 is '32 MiB'."""
    return _in_units(size_bytes, SIZE_UNITS, _shortest)


def time_text(seconds: float) -> str:
    """Seconds in the largest unit of at least 1: 3.507e-4 is '350.7 us'."""
    return _in_units(seconds, TIME_UNITS, _shortest)


def measured_time(seconds: float) -> str:
    """Like time_text(), always with four digits, for columns: '374.0 us'."""
    return _in_units(seconds, TIME_UNITS, lambda value: significant(value, DIGITS))


def interval_text(low: float, high: float) -> str:
    """The 68 % interval of a speedup."""
    return f"68 % interval {low:.2f}x to {high:.2f}x"


def _shortest(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def parsed(text: str, units: list[tuple[float, str]]) -> float | None:
    """The quantity of a text with one of these units; None if the text has another form."""
    match = re.fullmatch(r"\s*([0-9.eE+-]+?)\s*([A-Za-z]+)\s*", text)
    sizes = {name: size for size, name in units}
    if not match or match[2] not in sizes:
        return None
    try:
        return float(match[1]) * sizes[match[2]]
    except ValueError:
        return None


def size_of(text: str) -> float | None:
    """Sort key of a value of an axis: a number, bytes or a time; None for other text."""
    try:
        return float(text)
    except ValueError:
        size = parsed(text, ALL_SIZE_UNITS)
        return parsed(text, TIME_UNITS) if size is None else size
