"""From a command line to figures: how each kind of picture gets from its input files to what it draws."""
import argparse
import dataclasses
import pathlib
import re
import types
import typing

from matplotlib.figure import Figure

from drawing import style
from pictures import gantt, links, pareto, sensitivity, sweep
from read import csv_file, held, point_files, result, sensitivities, trace_file, trust, tuned
from read.errors import InputError, TooMuch
from read.points import Points
from read.row import Row
from words import quantities

Figures = dict[str, Figure]
"""By the name of their files."""
REPORTED = "rows.csv"


@dataclasses.dataclass(frozen=True)
class OfPoints:
    """Draws points: all of a sweep, or those of one experiment of a study."""

    picture: types.ModuleType
    experiment: str = ""
    """Drawn unless another is chosen; if empty, all experiments are drawn in one picture."""
    also: tuple[str, ...] = ()
    """Drawn as well where all pictures of a study are."""
    suits: typing.Callable[[list[Row]], bool] | None = None
    """Instead of by their names, the experiments of a study are chosen by their rows then."""
    of_times: bool = True
    """Whether it shows times or speedups, which are not to be trusted of every chip."""

    def __call__(self, arguments: argparse.Namespace) -> Figures:
        points = point_files.read_with_machines(arguments.inputs)
        experiment = self._chosen(points, arguments.experiment)
        points = points.of(experiment) if experiment else points
        where = held_axes(arguments.where)
        rows = held.rows(points, where)
        try:
            return {self._file_name(arguments.kind, experiment): self._draw(rows)}
        except TooMuch as problem:
            others = [axis for axis in points.axes() if axis not in where]
            hint = f"; hold with --where AXIS=VALUE some of: {', '.join(others)}" if others else ""
            raise InputError(f"{problem}{hint}") from None

    def of_study(self, name: str, _folder: pathlib.Path, points: Points) -> Figures:
        """One picture for each experiment of the study that it is for; points are all that the study has."""
        return {self._file_name(name, experiment):
                self._draw(held.rows(points.of(experiment) if experiment else points, {}))
                for experiment in self._experiments(points)}

    def _draw(self, rows: list[Row]) -> Figure:
        style.set_trust(trust.of_rows(rows) if self.of_times else "")
        return self.picture.draw(rows)

    def _experiments(self, points: Points) -> list[str]:
        if not self.experiment:
            return [""] if self.suits(points.rows()) else []
        if self.suits:
            return [name for name in points.experiments() if self.suits(points.of(name).rows())]
        return [name for name in (self.experiment, *self.also) if name in points.experiments()]

    def _chosen(self, points: Points, wanted: str) -> str:
        """The experiment to draw; empty if the points are of none."""
        if points.experiments():
            return wanted or self.experiment
        _check_no_experiment(wanted)
        return ""

    def _file_name(self, name: str, experiment: str) -> str:
        """Experiments other than the usual one are named in it."""
        return name if experiment in ("", self.experiment) else f"{name}_{experiment}"


@dataclasses.dataclass(frozen=True)
class OfReported:
    """Draws the figures of a study that were reported, beside the simulated ones."""

    picture: types.ModuleType

    def __call__(self, arguments: argparse.Namespace) -> Figures:
        if point_files.are_lines(arguments.inputs):
            raise InputError(f"{arguments.kind} is of {REPORTED} of a study, not of {point_files.LINES}")
        return {arguments.kind: self._draw(arguments.inputs)}

    def of_study(self, name: str, folder: pathlib.Path, _points: Points) -> Figures:
        """The picture, if anything was reported."""
        path = folder / REPORTED
        return {name: self._draw([path])} if csv_file.read_table_or_header(path, ["id"]) else {}

    def _draw(self, paths: list[pathlib.Path]) -> Figure:
        rows = [row for path in paths for row in csv_file.read_table(path, self.picture.COLUMNS)]
        style.set_trust(trust.of_rows(rows))
        return self.picture.draw(rows)


def of_study(arguments: argparse.Namespace, kinds: dict) -> Figures:
    """All figures that a study has the points for; kinds are those that may be of one, by name."""
    [folder] = arguments.inputs
    path = point_files.of_study(folder)
    points = point_files.read_with_machines([path])
    if not points.experiments():
        raise InputError(f"{path}: its points are of no experiment; study is for the folder of 'equarx-sim reproduce'")
    made: Figures = {}
    for name, kind in kinds.items():
        made |= kind.of_study(name, folder, points)
    if not made:
        raise InputError(f"{folder}: there is no picture for what this study has: {', '.join(points.experiments())}")
    return made


def of_links(arguments: argparse.Namespace) -> Figures:
    """The links of one collective; if there is a choice, the file is named after it."""
    run = result.read(arguments.inputs[0], arguments.label)
    style.set_trust(run.trust)
    return {_named(arguments, arguments.label): links.draw(run)}


def of_sensitivity(arguments: argparse.Namespace) -> Figures:
    """What the times of all collectives, or of the one that is named, depend on."""
    found = sensitivities.read(arguments.inputs[0], arguments.label)
    style.set_trust(found.trust)
    return {_named(arguments, arguments.label): sensitivity.draw(found)}


def of_trace(arguments: argparse.Namespace) -> Figures:
    """The pipeline of one chip."""
    start = _seconds("--from", arguments.start) if arguments.start else 0.0
    end = _seconds("--to", arguments.end) if arguments.end else None
    trace = trace_file.read(arguments.inputs[0], arguments.label, arguments.chip)
    style.set_trust(trace.trust)
    return {_named(arguments, arguments.label, arguments.chip): gantt.draw(trace, start, end)}


def of_sweep(arguments: argparse.Namespace) -> Figures:
    """One value of a sweep."""
    points = _of_one_experiment(point_files.read(arguments.inputs), arguments.experiment)
    if not arguments.x or not arguments.y:
        raise InputError(f"sweep needs --x and --y; the axes are: {', '.join(points.axes())}, and {sweep.LABEL}")
    value = arguments.value or "speedup"
    where = held_axes(arguments.where)
    shown = [point for point in points.points if held.is_at(point, where)]
    style.set_trust(trust.of_points(shown) if value == "speedup" or value.endswith("_s") else "")
    figure = sweep.draw(points, arguments.x, arguments.y, value, arguments.label, where)
    return {_named(arguments, value, arguments.label): figure}


def _of_one_experiment(points: Points, wanted: str) -> Points:
    """Experiments of a study have axes of their own."""
    names = points.experiments()
    if not names:
        _check_no_experiment(wanted)
        return points
    if not wanted and len(names) > 1:
        raise InputError(f"{points.source}: there are several experiments; give --experiment one of: "
                         f"{', '.join(names)}")
    return points.of(wanted or names[0])


def _check_no_experiment(wanted: str) -> None:
    if wanted:
        raise InputError("a sweep has no experiments: leave --experiment away")


def of_tuning(arguments: argparse.Namespace) -> Figures:
    """One tuning."""
    tuning = tuned.read(arguments.inputs[0])
    style.set_trust(tuning.trust)
    return {arguments.kind: pareto.draw(tuning)}


def held_axes(texts: list[str]) -> held.Where:
    """Where axes are held, of texts like '/topology/slice=4x2'."""
    where: held.Where = {}
    for text in texts:
        axis, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--where {text}: expected AXIS=VALUE, like /topology/slice=4x2")
        where.setdefault(axis, []).append(value)
    return where


def _named(arguments: argparse.Namespace, *words: str) -> str:
    """Name of a picture's files, after the words that chose it."""
    return "_".join([arguments.kind, *(re.sub(r"[^A-Za-z0-9.-]+", "_", word).strip("_") for word in words if word)])


def _seconds(option: str, text: str) -> float:
    """A time with its unit."""
    value = quantities.parsed(text, quantities.TIME_UNITS)
    if value is None or not value >= 0:
        raise InputError(f"{option} is '{text}', which is not a time; write it like 10us or 0.2ms")
    return value
