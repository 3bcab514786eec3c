"""Quantities as people write them: '32 MiB', '350.7 us'."""
import re

KIB = 1024
SIZE_UNITS = [(KIB**3, "GiB"), (KIB**2, "MiB"), (KIB, "KiB"), (1, "B")]
ALL_SIZE_UNITS = [*SIZE_UNITS, *((1000.0**power, f"{prefix}B") for power, prefix in enumerate("kMG", 1))]
TIME_UNITS = [(1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")]
# Guards against 999.9999 us where 1 ms is meant.
ROUNDING = 1 + 1e-9
DIGITS = 4


def significant(value: float, digits: int) -> str:
    """With all its digits, so that numbers beside each other are rounded alike: '36.0' beside '36.1'."""
    return f"{value:#.{digits}g}".removesuffix(".").replace(".e", "e")


def error_text(value: float) -> str:
    """A round number of an axis over decades: '2e-4'."""
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
    """Seconds in the unit that suits: 3.507e-4 is '350.7 us'."""
    return _in_units(seconds, TIME_UNITS, _shortest)


def measured_time(seconds: float) -> str:
    """The same with four digits always, for times that stand beside each other: '374.0 us'."""
    return _in_units(seconds, TIME_UNITS, lambda value: significant(value, DIGITS))


def _shortest(value: float) -> str:
    return f"{value:.{DIGITS}g}"


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
