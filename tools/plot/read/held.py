"""Chooses the points of one picture: where axes are held."""
import dataclasses
import re

from read.errors import InputError, unknown
from read.points import Point, Points
from read.row import Row
from words.axes import axis_text
from words.names import short

Where = dict[str, list[str]]
"""Values by axis; an axis is held at any of its values."""
# Axes of what pictures say of all that they show.
SAID = re.compile(r"/hardware|/collective|/topology(/[a-z-]+)?|/tensor/(bytes|shape|dtype|values(/.*)?)"
                  r"|/workload/(model|phase|tokens|context|batch)")
# What values can do without in the name of a file.
NEEDLESS = re.compile(r"^(distribution|files) |\.(npy|json|safetensors)\b")
# Values that say nothing without their key.
TRUTHS = {"true", "false", "auto"}
# Runs that differ in none of these are drawn at the same place.
SHOWN = ("experiment", "hardware", "topology", "tensor_bytes", "values", "label", "model", "phase", "tokens", "batch")


def check_where(points: Points, where: Where) -> None:
    """Refuses axes that the sweep does not have, and values that they do not have."""
    for axis, wanted in where.items():
        if axis not in points.axes():
            raise unknown("axis", axis, points.axes(), points.source)
        steps = list(dict.fromkeys(point.axes.get(axis, "") for point in points.points))
        for value in wanted:
            if value not in steps and value not in map(short, steps):
                raise unknown(f"{axis} =", value, list(map(short, steps)), points.source)


def is_at(point: Point, where: Where) -> bool:
    """Whether a point has one of these values of each axis."""
    found = {axis: point.axes.get(axis, "") for axis in where}
    return all(found[axis] in wanted or short(found[axis]) in wanted for axis, wanted in where.items())


def at_text(where: Where) -> str:
    """'/topology/slice = 4x2', as options have it."""
    return "; ".join(f"{axis} = {' or '.join(wanted)}" for axis, wanted in where.items())


def text(where: Where, labels: list[str]) -> str:
    """'minishards of int8 = 4' for people; without axes that every picture names by itself."""
    return "; ".join(f"{axis_text(axis, labels)} = {' or '.join(map(short, wanted))}"
                     for axis, wanted in where.items() if not SAID.fullmatch(axis))


def file_words(where: Where) -> list[str]:
    """What names of files have of it, in an order of their own: values, with their keys where they are mere numbers."""
    words = []
    for axis, wanted in sorted(where.items()):
        is_said = all(any(map(str.isalpha, value)) for value in wanted) and not {*wanted} & TRUTHS
        words += [] if is_said else [axis.rsplit("/", 1)[-1]]
        words += [NEEDLESS.sub("", short(value)) for value in wanted]
    return words


def points_at(points: Points, where: Where) -> Points:
    """The points at these values of axes, of which one at least must have succeeded."""
    check_where(points, where)
    chosen = [point for point in points.points if is_at(point, where)]
    if all(point.failed() for point in chosen):
        raise InputError(f"{points.source}: no point succeeded{' at ' + at_text(where) if where else ''}")
    return dataclasses.replace(points, points=chosen)


def rows(points: Points) -> list[Row]:
    """A row for each run, which must differ in what pictures show; failed points are left out."""
    chosen = [point for point in points.points if not point.failed()]
    made = [point.row() for point in chosen]
    _check_held(points, chosen, made)
    return made


def _check_held(points: Points, chosen: list[Point], made: list[Row]) -> None:
    """Two runs that differ in an axis that no picture shows would be drawn as one."""
    seen: dict[tuple, Point] = {}
    for point, row in zip(chosen, made):
        other = seen.setdefault(tuple(row.cells.get(name) for name in SHOWN), point)
        differ = [axis for axis in point.axes if point.axes[axis] != other.axes.get(axis)]
        if differ:
            raise InputError(f"{points.source}: several points differ in {', '.join(differ)} only; "
                             f"choose one with --where {differ[0]}=VALUE")
