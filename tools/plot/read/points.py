"""Points of sweeps and studies, independent of the file format."""
import dataclasses
import hashlib
import json
import math
import pathlib

from read import point_cells
from read.errors import InputError, reason
from read.row import Row


@dataclasses.dataclass(frozen=True)
class Point:
    """One run of one point, or a point without runs, which failed or does not fit."""

    path: pathlib.Path
    line: int
    number: int
    """Order of the points."""
    key: str
    """Hash of the resolved configuration and of the files that it names."""
    axes: dict[str, str]
    """Values by JSON pointer, as text; values that are not strings as JSON."""
    label: str
    """Label of the collective; empty for a point without runs."""
    values: dict[str, str]
    """Values of the run by path, like 'numerics/nmse'."""
    config: dict
    """The resolved configuration; empty if the file has none."""
    experiment: str = ""
    """Experiment of a study; empty for a sweep."""
    base: str = ""
    """Hash of the configuration that the sweep varies; empty if the file has none."""
    does_not_fit: bool = False
    """True if the point needs more HBM than a chip has."""

    def failed(self) -> bool:
        """True if the point has no run."""
        return not self.label

    def row(self) -> Row:
        """The cells of the run, its machine and its tensor (point_cells)."""
        if not self.config:
            raise InputError(f"{self.path}, line {self.line}: no 'config'")
        try:
            return Row(self.path, self.line, point_cells.of(self.experiment, self.label, self.values, self.config))
        except (LookupError, TypeError, ValueError, AttributeError) as problem:
            raise InputError(f"{self.path}, line {self.line}: malformed configuration: "
                             f"{reason(problem)}") from None

    def value(self, name: str) -> float | None:
        """The value of that path or of a path that ends in it: 'nmse' is 'numerics/nmse'. None if absent."""
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
    """The points of one or more files, in order."""

    source: str
    """Paths of the files, for errors."""
    points: list[Point]
    versions: list[str]
    """Versions of the program; empty if the files have none."""

    def axes(self) -> list[str]:
        """The axes, in the order of the sweep."""
        return list(dict.fromkeys(axis for point in self.points for axis in point.axes))

    def varied_axes(self) -> list[str]:
        """The axes with more than one value."""
        return [axis for axis in self.axes()
                if len({json.dumps(point.axes[axis]) for point in self.points if axis in point.axes}) > 1]

    def labels(self) -> list[str]:
        """The labels, in the order of the configuration."""
        return list(dict.fromkeys(point.label for point in self.points if point.label))

    def config_labels(self) -> list[str]:
        """The labels of the first configuration, in its order; axes refer to collectives by index."""
        configs = [point.config for point in self.points if point.config]
        return [entry.get("label", "") for entry in configs[0].get("collectives", [])] if configs else []

    def experiments(self) -> list[str]:
        """The experiments in order of appearance; empty for a sweep."""
        return list(dict.fromkeys(point.experiment for point in self.points if point.experiment))

    def of(self, experiment: str) -> "Points":
        """The points of one experiment."""
        chosen = [point for point in self.points if point.experiment == experiment]
        if not chosen:
            raise InputError(f"{self.source}: there is no experiment '{experiment}'; "
                             f"there is: {', '.join(self.experiments())}")
        return dataclasses.replace(self, points=chosen)

    def rows(self) -> list[Row]:
        """The rows of the points that did not fail."""
        return [point.row() for point in self.points if not point.failed()]

    def keys(self) -> set[str]:
        """The keys of the points."""
        return {point.key for point in self.points}

    def digest(self) -> str:
        """Hash of the keys of all points."""
        return hashlib.sha256("\n".join(sorted(self.keys())).encode()).hexdigest()[:16]


def value_names(points: list[Point]) -> list[str]:
    """Names of the numeric values."""
    return list(dict.fromkeys(name for point in points for name, cell in point.values.items() if _is_number(cell)))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
