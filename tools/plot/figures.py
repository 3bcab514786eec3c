"""From a command line to figures: how each kind of picture gets from its input files to what it draws."""
import argparse
import dataclasses
import hashlib
import pathlib
import re
import types
import typing

from matplotlib.figure import Figure

from drawing import sheet
from pictures import gantt, links, pareto, sensitivity, step, sweep
from read import csv_file, held, origin, point_files, result, sensitivities, trace_file, trust, tuned
from read import step as step_file
from read.errors import InputError, TooMuch
from read.points import Points
from read.row import Row
from words import quantities

Figures = dict[str, Figure]
"""By the name of their files."""
REPORTED = "rows.csv"
LONGEST_NAME = 120


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
    takes: typing.Callable[[Row], bool] | None = None
    """Of rows of several things, those that it is about."""
    of_times: bool = True
    """Whether it shows times or speedups, which are not to be trusted of every chip."""

    def __call__(self, arguments: argparse.Namespace) -> Figures:
        points = point_files.read_with_machines(arguments.inputs)
        experiment = self._chosen(points, arguments.experiment)
        points = points.of(experiment) if experiment else points
        where = held_axes(arguments.where)
        try:
            name = named(self._file_name(arguments.kind, experiment), *held.file_words(where))
            return {name: self._draw(points, where)}
        except TooMuch as problem:
            others = [axis for axis in points.varied_axes() if axis not in where]
            hint = f"; hold with --where AXIS=VALUE some of: {', '.join(others)}" if others else ""
            raise InputError(f"{problem}{hint}") from None

    def of_study(self, name: str, _folder: pathlib.Path, points: Points) -> Figures:
        """One picture for each experiment of the study that it is for; points are all that the study has."""
        return {self._file_name(name, experiment):
                self._draw(points.of(experiment) if experiment else points, {})
                for experiment in self._experiments(points)}

    def _draw(self, points: Points, where: held.Where) -> Figure:
        drawn = held.points_at(points, where)
        rows = held.rows(drawn)
        if self.takes and any(map(self.takes, rows)):
            drawn, rows = _taken(drawn, rows, self.takes)
        sheet.say(origin=origin.of_points(points, drawn), held=held.text(where, drawn.config_labels()),
                  trust=trust.of_rows(rows) if self.of_times else "")
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
        sheet.say(origin=origin.of_study(paths[0]), held="", trust=trust.of_rows(rows))
        return self.picture.draw(rows)


def _taken(points: Points, rows: list[Row], takes: typing.Callable[[Row], bool]) -> tuple[Points, list[Row]]:
    """The points and rows that a picture is about; of points that failed nobody knows."""
    runs = [point for point in points.points if not point.failed()]
    pairs = [(point, row) for point, row in zip(runs, rows) if takes(row)]
    return dataclasses.replace(points, points=[point for point, _ in pairs]), [row for _, row in pairs]


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
    [path] = arguments.inputs
    run = result.read(path, arguments.label)
    _say_of_run(path, run.trust)
    return {named(arguments.kind, arguments.label): links.draw(run)}


def of_sensitivity(arguments: argparse.Namespace) -> Figures:
    """What the times of all collectives, or of the one that is named, depend on."""
    [path] = arguments.inputs
    found = sensitivities.read(path, arguments.label)
    _say_of_run(path, found.trust)
    return {named(arguments.kind, arguments.label): sensitivity.draw(found)}


def _say_of_run(path: pathlib.Path, chip_trust: str) -> None:
    """On the sheet of one result."""
    sheet.say(origin=origin.of_run(path), held="", trust=chip_trust)


def of_trace(arguments: argparse.Namespace) -> Figures:
    """The pipeline of one chip."""
    start = _seconds("--from", arguments.start) if arguments.start else 0.0
    end = _seconds("--to", arguments.end) if arguments.end else None
    trace = trace_file.read(arguments.inputs[0], arguments.label, arguments.chip)
    sheet.say(origin=f"{trace.version}, config {trace.config_hash}", held="", trust=trace.trust)
    return {named(arguments.kind, arguments.label, arguments.chip): gantt.draw(trace, start, end)}


def of_step(arguments: argparse.Namespace) -> Figures:
    """A whole step."""
    [path] = arguments.inputs
    made = step_file.read(path, arguments.label)
    _say_of_run(path, made.trust)
    return {named(arguments.kind, arguments.label): step.draw(made)}


def of_sweep(arguments: argparse.Namespace) -> Figures:
    """One value of a sweep."""
    points = _of_one_experiment(point_files.read(arguments.inputs), arguments.experiment)
    if not arguments.x or not arguments.y:
        raise InputError(f"sweep needs --x and --y; the axes are: {', '.join(points.axes())}, and {sweep.LABEL}")
    value = arguments.value or "speedup"
    where = held_axes(arguments.where)
    held.check_where(points, where)
    drawn = dataclasses.replace(points, points=[point for point in points.points if held.is_at(point, where)])
    sheet.say(origin=origin.of_points(points, drawn), held=held.text(where, points.config_labels()),
              trust=trust.of_points(drawn.points) if value == "speedup" or value.endswith("_s") else "")
    figure = sweep.draw(drawn, arguments.x, arguments.y, value, arguments.label)
    return {named(arguments.kind, value, arguments.label, *held.file_words(where)): figure}


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
    [path] = arguments.inputs
    tuning = tuned.read(path)
    _say_of_run(path, tuning.trust)
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


def named(kind: str, *words: str) -> str:
    """Name of a picture's files, after the words that chose it; no longer than file systems allow."""
    name = "_".join([kind, *(re.sub(r"[^A-Za-z0-9.-]+", "_", word).strip("_") for word in words if word)])
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _seconds(option: str, text: str) -> float:
    """A time with its unit."""
    value = quantities.parsed(text, quantities.TIME_UNITS)
    if value is None or not value >= 0:
        raise InputError(f"{option} is '{text}', which is not a time; write it like 10us or 0.2ms")
    return value
