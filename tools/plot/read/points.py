"""Points: what every file of results is read into, and every picture of several runs is drawn from."""
import dataclasses
import hashlib
import json
import math
import pathlib

from read import point_cells
from read.errors import InputError
from read.row import Row


@dataclasses.dataclass(frozen=True)
class Point:
    """One run of one point, or a point that failed, which has no run."""

    path: pathlib.Path
    line: int
    number: int
    """Points are in this order."""
    key: str
    """Names the resolved configuration and all that it depends on."""
    axes: dict[str, str]
    """What was varied: JSON pointers, and values as text; those that are no text as JSON."""
    label: str
    """Of the run's collective. Empty if the point failed."""
    values: dict[str, str]
    """Of the run, by name; those of objects as 'numerics/nmse'."""
    config: dict
    """The resolved configuration; empty if the file does not say."""
    experiment: str = ""
    """Of a study; empty if the point is of a sweep."""
    base: str = ""
    """Of a sweep: names the configuration that it varies. Empty if the file does not say."""

    def failed(self) -> bool:
        """Whether there is no run."""
        return not self.label

    def row(self) -> Row:
        """What pictures read: the run, its machine and its tensor, by name (point_cells)."""
        if not self.config:
            raise InputError(f"{self.path}, line {self.line}: there is no 'config' in it")
        try:
            return Row(self.path, self.line, point_cells.of(self.experiment, self.label, self.values, self.config))
        except (LookupError, TypeError, ValueError, AttributeError) as problem:
            raise InputError(f"{self.path}, line {self.line}: not a line of a sweep "
                             f"({type(problem).__name__}: {problem})") from None

    def value(self, name: str) -> float | None:
        """The value of that name, or of a part of it: 'nmse' is 'numerics/nmse'. None if the run has none."""
        parts = [value for known, value in self.values.items() if known == name or known.endswith(f"/{name}")]
        cell = self.values.get(name, parts[0] if parts else None)
        if cell is None:
            return None
        try:
            value = float(cell)
        except ValueError:
            raise InputError(f"'{name}' of point {self.number} is '{cell}', which is not a number") from None
        return value if math.isfinite(value) else None


@dataclasses.dataclass(frozen=True)
class Points:
    """All points of some files, in their order."""

    source: str
    """The files, for errors."""
    points: list[Point]
    versions: list[str]
    """Of the program; empty if the files do not say."""

    def axes(self) -> list[str]:
        """The axes in the order of the sweep."""
        return list(dict.fromkeys(axis for point in self.points for axis in point.axes))

    def varied_axes(self) -> list[str]:
        """Those of them on which points differ."""
        return [axis for axis in self.axes()
                if len({json.dumps(point.axes[axis]) for point in self.points if axis in point.axes}) > 1]

    def labels(self) -> list[str]:
        """The labels in the order of the configuration."""
        return list(dict.fromkeys(point.label for point in self.points if point.label))

    def config_labels(self) -> list[str]:
        """The labels of the first configuration, in its order, by which axes may count collectives."""
        configs = [point.config for point in self.points if point.config]
        return [entry.get("label", "") for entry in configs[0].get("collectives", [])] if configs else []

    def experiments(self) -> list[str]:
        """The experiments in order of appearance; none of a sweep."""
        return list(dict.fromkeys(point.experiment for point in self.points if point.experiment))

    def of(self, experiment: str) -> "Points":
        """Those of one experiment."""
        chosen = [point for point in self.points if point.experiment == experiment]
        if not chosen:
            raise InputError(f"{self.source}: there is no experiment '{experiment}'; "
                             f"there is: {', '.join(self.experiments())}")
        return dataclasses.replace(self, points=chosen)

    def rows(self) -> list[Row]:
        """What pictures read of the points that succeeded."""
        return [point.row() for point in self.points if not point.failed()]

    def keys(self) -> set[str]:
        """One for each point, however many runs it has."""
        return {point.key for point in self.points}

    def digest(self) -> str:
        """Names the resolved configurations of all points: a hash of their keys."""
        return hashlib.sha256("\n".join(sorted(self.keys())).encode()).hexdigest()[:16]


def value_names(points: list[Point]) -> list[str]:
    """Names of the values that are numbers."""
    return list(dict.fromkeys(name for point in points for name, cell in point.values.items() if _is_number(cell)))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
