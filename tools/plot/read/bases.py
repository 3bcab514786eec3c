"""Separates the points of a sweep that was edited between runs, like the report (experiments/report/bases.cpp)."""
import dataclasses
import json

from read.points import Point

COLLECTIVES = "/collectives/"


def with_base_axes(points: list[Point]) -> list[Point]:
    """The points, with a further axis for each value in which the base configurations of their sweeps differ.

    Keeps the last of the points that differ only in their keys, as after an edit of a file named by the configuration.
    """
    bases = _bases(points)
    if len(bases) > 1:
        axes = {axis for point in points for axis in point.axes}
        differing = [pointer for pointer in dict.fromkeys(name for base in bases.values() for name in base)
                     if _differs(pointer, bases) and not _is_set(pointer, axes)]
        points = [_with_axes(point, bases.get(point.base, {}), differing) for point in points]
    return _last_of_each(points)


def _bases(points: list[Point]) -> dict[str, dict[str, str | None]]:
    """Values of the configurations of each base, by JSON pointer; None where they differ within the base."""
    bases: dict[str, dict[str, str | None]] = {}
    for point in points:
        if not point.base or not point.config:
            continue
        values = _flat("", _by_label(point.config))
        base = bases.setdefault(point.base, dict(values))
        for pointer in base.keys() | values.keys():
            if base.get(pointer) != values.get(pointer):
                base[pointer] = None
    return bases


def _by_label(config: dict) -> dict:
    """The configuration with its collectives by label, independent of their order."""
    collectives = {each["label"]: {key: value for key, value in each.items() if key != "label"}
                   for each in config.get("collectives", [])}
    return config | {"collectives": collectives}


def _flat(pointer: str, value) -> dict[str, str]:
    if not isinstance(value, dict | list) or not value:
        return {pointer: value if isinstance(value, str) else json.dumps(value)}
    members = value.items() if isinstance(value, dict) else enumerate(value)
    return {name: text for key, member in members
            for name, text in _flat(f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}", member).items()}


def _differs(pointer: str, bases: dict[str, dict[str, str | None]]) -> bool:
    """True if every base has at most one value there, and the values differ."""
    if any(base.get(pointer, "") is None for base in bases.values()):
        return False
    if pointer.startswith(COLLECTIVES):  # a collective of some bases only has rows of its own
        start = pointer[:pointer.index("/", len(COLLECTIVES)) + 1]
        if not all(any(name.startswith(start) for name in base) for base in bases.values()):
            return False
    return len({base.get(pointer) for base in bases.values()}) > 1


def _is_set(pointer: str, axes: set[str]) -> bool:
    return any(pointer == axis or pointer.startswith(f"{axis}/") for axis in axes)


def _with_axes(point: Point, base: dict[str, str | None], pointers: list[str]) -> Point:
    return dataclasses.replace(point, axes=point.axes | {pointer: base.get(pointer, "") for pointer in pointers})


def _last_of_each(points: list[Point]) -> list[Point]:
    kept, seen = [], set()
    for point in reversed(points):
        place = (point.path, tuple(sorted(point.axes.items())))
        # A failed point has no label; it counts for all collectives.
        identity = place if point.failed() else (*place, point.label)
        if not point.base or identity not in seen:
            kept.append(point)
        seen |= {place, identity}
    return kept[::-1]
