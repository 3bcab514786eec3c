"""Figures for the arguments of the command, by kind of picture: reads the inputs and draws them."""
import argparse
import dataclasses
import hashlib
import pathlib
import re
import types
import typing

from matplotlib.figure import Figure

import invocation
from drawing import sheet
from pictures import capacity, comparison, contract, gantt, links, pareto, sensitivity, served_load
from pictures import speedup_of_advice, step, sweep
from pictures import verdicts as verdicts_picture
from read import advice as advice_file
from read import capacity as plan_file
from read import comparison as comparison_file
from read import contract as contract_file
from read import csv_file, file_kinds, held, origin, point_files, result, sensitivities, trace_file, trust, tuned
from read import served as served_file
from read import step as step_file
from read import verdicts as verdicts_file
from read.errors import InputError, TooMuch, WrongFile
from read.points import Points
from read.row import Row
from words import names, quantities

Figures = dict[str, Figure]
"""By the name of their files, without endings."""
REPORTED = "rows.csv"
STUDY = "the folder of 'equarx-sim reproduce'"
LONGEST_NAME = 120
MOST_VALUES = 6
NO_CALIBRATION = "comparisons do not record the calibration of chips"


@dataclasses.dataclass(frozen=True)
class OfPoints:
    """A picture of the points of a sweep, or of one experiment of a study."""

    picture: types.ModuleType
    experiment: str = ""
    """Default experiment; if empty, one picture shows all experiments."""
    also: tuple[str, ...] = ()
    """Further experiments drawn by `study`."""
    suits: typing.Callable[[list[Row]], bool] | None = None
    """Selects the experiments drawn by `study` by their rows instead of their names."""
    takes: typing.Callable[[Row], bool] | None = None
    """Selects rows, if any match."""
    of_times: bool = True
    """True if it shows times or speedups, which depend on the calibration of the chip."""
    of_advice: typing.Callable[[argparse.Namespace], Figures] | None = None
    """Draws a file of advice instead of points."""

    def __call__(self, arguments: argparse.Namespace) -> Figures:
        if self.of_advice and all(file_kinds.of(path) == file_kinds.ADVICE for path in arguments.inputs):
            return self.of_advice(arguments)
        points = self._read(arguments.inputs)
        experiment = self._chosen(points, arguments.experiment)
        points = points.of(experiment) if experiment else points
        where = held_axes(arguments.where)
        name = named(self._file_name(arguments.kind, experiment), *held.file_words(where))
        try:
            return {name: self._draw(points, where)}
        except TooMuch as problem:
            raise _ambiguous(problem, arguments, points, where, lambda held_at: self._draw(points, held_at)) from None

    def _read(self, paths: list[pathlib.Path]) -> Points:
        try:
            return point_files.read_with_machines(paths)
        except WrongFile as problem:
            if not self.of_advice:
                raise
            other = file_kinds.command_of(file_kinds.ADVICE, problem.path, problem.found)
            raise WrongFile(problem.path, problem.found, f"{problem.needs}, or {other}") from None

    def of_study(self, name: str, _folder: pathlib.Path, points: Points) -> Figures:
        """One picture for each matching experiment; points: all points of the study."""
        return {self._file_name(name, experiment):
                self._draw(points.of(experiment) if experiment else points, {})
                for experiment in self._experiments(points)}

    def _draw(self, points: Points, where: held.Where) -> Figure:
        drawn = held.points_at(points, where)
        rows = held.rows(drawn)
        if self.takes and any(map(self.takes, rows)):
            drawn, rows = _taken(drawn, rows, self.takes)
        sheet.annotate(origin=origin.of_points(points, drawn), held=held.text(where, drawn.config_labels()),
                  trust=trust.of_rows(rows) if self.of_times else "")
        return self.picture.draw(rows)

    def _experiments(self, points: Points) -> list[str]:
        if not self.experiment:
            return [""] if self.suits(points.rows()) else []
        if self.suits:
            return [name for name in points.experiments() if self.suits(points.of(name).rows())]
        return [name for name in (self.experiment, *self.also) if name in points.experiments()]

    def _chosen(self, points: Points, wanted: str) -> str:
        """The experiment to draw; empty for a sweep."""
        if points.experiments():
            return wanted or self.experiment
        _check_no_experiment(wanted)
        return ""

    def _file_name(self, name: str, experiment: str) -> str:
        """Name of the picture; includes experiments other than the default."""
        return name if experiment in ("", self.experiment) else f"{name}_{experiment}"


@dataclasses.dataclass(frozen=True)
class OfReported:
    """A picture of simulated and reported figures of a study."""

    picture: types.ModuleType

    def __call__(self, arguments: argparse.Namespace) -> Figures:
        return {arguments.kind: self._draw(arguments.inputs)}

    def of_study(self, name: str, folder: pathlib.Path, _points: Points) -> Figures:
        """The picture, if the study has reported figures."""
        path = folder / REPORTED
        return {name: self._draw([path])} if csv_file.read_table_or_header(path, ["id"]) else {}

    def _draw(self, paths: list[pathlib.Path]) -> Figure:
        rows = [row for path in paths for row in csv_file.read_table(path, self.picture.COLUMNS)]
        sheet.annotate(origin=origin.of_study(paths[0]), held="", trust=trust.of_rows(rows))
        return self.picture.draw(rows)


def _taken(points: Points, rows: list[Row], takes: typing.Callable[[Row], bool]) -> tuple[Points, list[Row]]:
    """Points and rows that match, without failed points."""
    runs = [point for point in points.points if not point.failed()]
    pairs = [(point, row) for point, row in zip(runs, rows) if takes(row)]
    return dataclasses.replace(points, points=[point for point, _ in pairs]), [row for _, row in pairs]


def of_study(arguments: argparse.Namespace, kinds: dict) -> Figures:
    """All figures for which a study has points; kinds: pictures of studies, by name."""
    [folder] = arguments.inputs
    if folder.is_file():
        raise WrongFile(folder, file_kinds.of(folder), STUDY)
    path = point_files.of_study(folder)
    points = point_files.read_with_machines([path])
    if not points.experiments():
        raise InputError(f"{path}: no experiment; study needs {STUDY}")
    made: Figures = {}
    for name, kind in kinds.items():
        made |= kind.of_study(name, folder, points)
    if not made:
        raise InputError(f"{folder}: no picture for the experiments of this study: {', '.join(points.experiments())}")
    return made


def of_links(arguments: argparse.Namespace) -> Figures:
    """Links of one collective; the name includes --label."""
    [path] = arguments.inputs
    run = result.read(path, arguments.label)
    _annotate(path, run.trust)
    return {named(arguments.kind, arguments.label): links.draw(run)}


def of_sensitivity(arguments: argparse.Namespace) -> Figures:
    """Sensitivities of all collectives, or of the one of --label."""
    [path] = arguments.inputs
    found = sensitivities.read(path, arguments.label)
    _annotate(path, found.trust)
    return {named(arguments.kind, arguments.label): sensitivity.draw(found)}


def _annotate(path: pathlib.Path, chip_trust: str) -> None:
    """Annotates the sheet of one result."""
    sheet.annotate(origin=origin.of_run(path), held="", trust=chip_trust)


def of_trace(arguments: argparse.Namespace) -> Figures:
    """Pipeline of one chip."""
    start = _seconds("--from", arguments.start) if arguments.start else 0.0
    end = _seconds("--to", arguments.end) if arguments.end else None
    trace = trace_file.read(arguments.inputs[0], arguments.label, arguments.chip)
    sheet.annotate(origin=f"{trace.version}, config {trace.config_hash}", held="", trust=trace.trust)
    return {named(arguments.kind, arguments.label, arguments.chip): gantt.draw(trace, start, end)}


def of_step(arguments: argparse.Namespace) -> Figures:
    """Timeline of a step."""
    [path] = arguments.inputs
    made = step_file.read(path, arguments.label)
    _annotate(path, made.trust)
    return {named(arguments.kind, arguments.label): step.draw(made)}


def of_sweep(arguments: argparse.Namespace) -> Figures:
    """Heat map of a sweep."""
    points = _of_one_experiment(point_files.read(arguments.inputs), arguments.experiment)
    if not arguments.x or not arguments.y:
        raise InputError(f"sweep needs --x and --y, two of: {', '.join([*points.axes(), sweep.LABEL])}")
    value = arguments.value or "speedup"
    where = held_axes(arguments.where)
    held.check_where(points, where)
    drawn = dataclasses.replace(points, points=[point for point in points.points if held.is_at(point, where)])
    sheet.annotate(origin=origin.of_points(points, drawn), held=held.text(where, points.config_labels()),
              trust=trust.of_points(drawn.points) if value == "speedup" or value.endswith("_s") else "")
    name = named(arguments.kind, value, arguments.label, *held.file_words(where))

    def drawn_at(held_at: held.Where) -> Figure:
        chosen = dataclasses.replace(points, points=[point for point in points.points if held.is_at(point, held_at)])
        return sweep.draw(chosen, arguments.x, arguments.y, value, arguments.label)

    try:
        return {name: drawn_at(where)}
    except TooMuch as problem:
        raise _ambiguous(problem, arguments, points, where, drawn_at) from None


def _ambiguous(problem: TooMuch, arguments: argparse.Namespace, points: Points, where: held.Where,
               draw: typing.Callable[[held.Where], Figure]) -> InputError:
    """An error with the axes that one picture must hold, their values, and an example command.

    Holds the axes that differ between two conflicting points at the values of the first, until draw() succeeds.
    """
    by_entry = {(point.path, point.line): point for point in points.points}
    held_at, axes = dict(where), []
    message = str(problem)
    while True:
        first, second = (by_entry.get(entry) for entry in problem.entries or (None, None))
        new = [axis for axis in first.axes if first.axes[axis] != second.axes.get(axis) and axis not in axes] \
            if first and second else []
        if not new:
            break
        axes += new
        held_at |= {axis: [names.short(first.axes[axis])] for axis in new}
        try:
            draw(held_at)
        except TooMuch as next_problem:
            problem = next_problem
        except InputError:
            break
        else:
            break
    if not axes:
        return InputError(message)
    shown = " and of ".join(f"{axis} ({_values(points, where, axis)})" for axis in axes)
    return InputError(f"{points.source}: one picture of {arguments.kind} shows one value of {shown}; "
                      f"choose with --where, like: {_example(arguments, held_at)}")


def _values(points: Points, where: held.Where, axis: str) -> str:
    found = list(dict.fromkeys(names.short(point.axes[axis]) for point in points.points
                               if axis in point.axes and held.is_at(point, where)))
    return ", ".join(found[:MOST_VALUES]) + (f", ... {len(found)} values" if len(found) > MOST_VALUES else "")


def _example(arguments: argparse.Namespace, held_at: held.Where) -> str:
    """The command of the user, with axes held there."""
    words = [arguments.kind, *map(str, arguments.inputs)]
    for flag, value in (("--experiment", arguments.experiment), ("--label", getattr(arguments, "label", "")),
                        ("--x", getattr(arguments, "x", "")), ("--y", getattr(arguments, "y", "")),
                        ("--value", getattr(arguments, "value", ""))):
        words += [flag, value] if value else []
    for axis, values in held_at.items():
        for value in values:
            words += ["--where", f"{axis}={value}"]
    return invocation.example(*words)


def _of_one_experiment(points: Points, wanted: str) -> Points:
    """The points of one experiment, as experiments differ in their axes."""
    names = points.experiments()
    if not names:
        _check_no_experiment(wanted)
        return points
    if not wanted and len(names) > 1:
        raise InputError(f"{points.source}: several experiments; give --experiment one of: "
                         f"{', '.join(names)}")
    return points.of(wanted or names[0])


def _check_no_experiment(wanted: str) -> None:
    if wanted:
        raise InputError("a sweep has no experiments: omit --experiment")


def of_tuning(arguments: argparse.Namespace) -> Figures:
    """Pareto front of a tuning."""
    [path] = arguments.inputs
    tuning = tuned.read(path)
    _annotate(path, tuning.trust)
    return {arguments.kind: pareto.draw(tuning)}


def of_advice(arguments: argparse.Namespace) -> Figures:
    """Speedups of advice over tensor size."""
    if len(arguments.inputs) != 1:
        raise InputError(f"{arguments.kind} takes one file of advice")
    for option in ("experiment", "where"):
        if getattr(arguments, option, None):
            raise InputError(f"--{option} selects points of a sweep or a study; {arguments.inputs[0]} is advice")
    [path] = arguments.inputs
    advice = advice_file.read(path)
    _annotate(path, "; ".join(dict.fromkeys(one.trust for one in advice if one.trust)))
    return {arguments.kind: speedup_of_advice.draw(advice)}


def of_verdicts(arguments: argparse.Namespace) -> Figures:
    """Verdicts of advice; those on a collective with its speedups over tensor size, unless they are missing."""
    [path] = arguments.inputs
    found = verdicts_file.read(path)
    if not found.is_of_step and advice_file.has_curve(path):
        return of_advice(arguments)
    _annotate(path, found.trust)
    return {arguments.kind: verdicts_picture.draw(found)}


def of_contract(arguments: argparse.Namespace) -> Figures:
    """Times, errors and bits of collectives."""
    [path] = arguments.inputs
    found = contract_file.read(path)
    _annotate(path, found.trust)
    return {arguments.kind: contract.draw(found)}


def of_served(arguments: argparse.Namespace) -> Figures:
    """Latencies of served models against their loads; of a single one, of its requests."""
    loads = [served_file.read(path) for path in arguments.inputs]
    sheet.annotate(origin=", ".join(dict.fromkeys(load.version for load in loads)), held="",
                   trust="; ".join(dict.fromkeys(load.trust for load in loads if load.trust)))
    return {arguments.kind: served_load.draw(loads)}


def of_plan(arguments: argparse.Namespace) -> Figures:
    """Candidates of a capacity plan."""
    [path] = arguments.inputs
    plan = plan_file.read(path)
    _annotate(path, plan.trust)
    return {arguments.kind: capacity.draw(plan)}


def of_comparison(arguments: argparse.Namespace) -> Figures:
    """Times of two results."""
    [path] = arguments.inputs
    compared = comparison_file.read(path)
    sheet.annotate(origin=" and ".join(dict.fromkeys(compared.versions)), held="", trust=NO_CALIBRATION)
    return {arguments.kind: comparison.draw(compared)}


def held_axes(texts: list[str]) -> held.Where:
    """Values by axis, from texts like '/topology/slice=4x2'."""
    where: held.Where = {}
    for text in texts:
        axis, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--where {text}: expected AXIS=VALUE, like /topology/slice=4x2")
        where.setdefault(axis, []).append(value)
    return where


def named(kind: str, *words: str) -> str:
    """Name of the files of a picture, from the words that select it; shortened to LONGEST_NAME."""
    name = "_".join([kind, *(re.sub(r"[^A-Za-z0-9.-]+", "_", word).strip("_") for word in words if word)])
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _seconds(option: str, text: str) -> float:
    """Parses a time with its unit."""
    value = quantities.parsed(text, quantities.TIME_UNITS)
    if value is None or not value >= 0:
        raise InputError(f"{option} is '{text}', which is not a time like 10us or 0.2ms")
    return value
