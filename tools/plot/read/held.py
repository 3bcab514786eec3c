"""Selects the points of one picture: the values at which axes of a sweep are held."""
import dataclasses
import re

from read.errors import InputError, TooMuch, unknown
from read.points import Point, Points
from read.row import Row
from words.axes import axis_text
from words.names import short

Where = dict[str, list[str]]
"""Values by axis; a point matches if it has one of the values of every axis."""
# Axes that every caption names.
IN_CAPTION = re.compile(r"/hardware|/collective|/topology(/[a-z-]+)?|/tensor/(bytes|shape|dtype|values(/.*)?)"
                  r"|/workload/(model|phase|tokens|context|batch)")
# Parts of values that names of files omit.
NEEDLESS = re.compile(r"^(distribution|files) |\.(npy|json|safetensors)\b")
# Values that are ambiguous without their key.
TRUTHS = {"true", "false", "auto"}
# Cells that pictures distinguish; runs with the same values would overlap.
SHOWN = ("experiment", "hardware", "topology", "tensor_bytes", "values", "label", "model", "phase", "tokens", "batch")


def check_where(points: Points, where: Where) -> None:
    """Throws InputError for unknown axes and unknown values of axes."""
    for axis, wanted in where.items():
        if axis not in points.axes():
            raise unknown("axis", axis, points.axes(), points.source)
        steps = list(dict.fromkeys(point.axes.get(axis, "") for point in points.points))
        for value in wanted:
            if value not in steps and value not in map(short, steps):
                raise unknown(f"{axis} =", value, list(map(short, steps)), points.source)


def is_at(point: Point, where: Where) -> bool:
    """True if the point has one of the values of every axis."""
    found = {axis: point.axes.get(axis, "") for axis in where}
    return all(found[axis] in wanted or short(found[axis]) in wanted for axis, wanted in where.items())


def at_text(where: Where) -> str:
    """Pointers and values, as in options: '/topology/slice = 4x2'."""
    return "; ".join(f"{axis} = {' or '.join(wanted)}" for axis, wanted in where.items())


def text(where: Where, labels: list[str]) -> str:
    """Words for captions: 'minishards of int8 = 4'; without the axes that every caption names."""
    return "; ".join(f"{axis_text(axis, labels)} = {' or '.join(map(short, wanted))}"
                     for axis, wanted in where.items() if not IN_CAPTION.fullmatch(axis))


def file_words(where: Where) -> list[str]:
    """Words for the name of a file, sorted by axis: values, with their keys where they are plain numbers."""
    words = []
    for axis, wanted in sorted(where.items()):
        is_clear = all(any(map(str.isalpha, value)) for value in wanted) and not {*wanted} & TRUTHS
        words += [] if is_clear else [axis.rsplit("/", 1)[-1]]
        words += [NEEDLESS.sub("", short(value)) for value in wanted]
    return words


def points_at(points: Points, where: Where) -> Points:
    """The points at these values of axes; throws InputError if all of them failed."""
    check_where(points, where)
    chosen = [point for point in points.points if is_at(point, where)]
    if all(point.failed() for point in chosen):
        raise InputError(f"{points.source}: every point failed{' at ' + at_text(where) if where else ''}")
    return dataclasses.replace(points, points=chosen)


def rows(points: Points) -> list[Row]:
    """A row for each run, without failed points; throws TooMuch if two rows would overlap in every picture."""
    chosen = [point for point in points.points if not point.failed()]
    made = [point.row() for point in chosen]
    _check_held(points, chosen, made)
    return made


def _check_held(points: Points, chosen: list[Point], made: list[Row]) -> None:
    """Throws TooMuch for two runs that differ only in axes that no picture shows."""
    seen: dict[tuple, Point] = {}
    for point, row in zip(chosen, made):
        other = seen.setdefault(tuple(row.cells.get(name) for name in SHOWN), point)
        differ = [axis for axis in point.axes if point.axes[axis] != other.axes.get(axis)]
        if differ:
            raise TooMuch(f"{points.source}: several points differ in {', '.join(differ)} only",
                          (other.path, other.line), (point.path, point.line))
