"""Result keys renamed after version 0.2. Files with the old names are read until version 0.4."""
import dataclasses
import pathlib

from read import notes
from read.points import Point

RENAMED = {"computing_s": "compute_s", "alone_s": "isolated_s", "bubbles_s": "idle_s", "overhead_s": "sync_s",
           "allreduce_s": "exposed_s"}


def current(path: pathlib.Path, points: list[Point]) -> list[Point]:
    """The points of a file with current key names; prints a note if the file has old names."""
    if not any(_current(name) != name for point in points for name in point.values):
        return points
    notes.warn(f"{path}: written by version 0.2; renamed result keys are read under their current names")
    return [dataclasses.replace(point, values={_current(name): value for name, value in point.values.items()})
            for point in points]


def _current(name: str) -> str:
    parent, slash, key = name.rpartition("/")
    return parent + slash + RENAMED.get(key, key)
