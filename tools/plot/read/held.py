"""Chooses the points of one picture: where axes are held."""
from read.errors import InputError, unknown
from read.points import Point, Points
from read.row import Row
from words.names import short

Where = dict[str, list[str]]
"""Values by axis; an axis is held at any of its values."""
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
    """'/topology/slice = 4x2' for people."""
    return "; ".join(f"{axis} = {' or '.join(wanted)}" for axis, wanted in where.items())


def rows(points: Points, where: Where) -> list[Row]:
    """A row for each run at these values of axes; failed points are left out."""
    check_where(points, where)
    chosen = [point for point in points.points if not point.failed() and is_at(point, where)]
    if not chosen:
        raise InputError(f"{points.source}: no point succeeded{' at ' + at_text(where) if where else ''}")
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
