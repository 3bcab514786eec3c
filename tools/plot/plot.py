#!/usr/bin/python3
"""Draws the pictures of a study: PNG and SVG from the CSV files that equarx-sim writes."""
import argparse
import dataclasses
import pathlib
import re
import sys
import types
import typing

# This file is run as a script, so its own folder is where the imports below are found.
import data
import origin
import quantities
import result
import sweep_file
import sweep_rows
import trace_file
try:
    import style
    import tuned
    from pictures import (breakdown, error_by_speedup, gantt, links, paper_ratio, pareto, prefill,
                          prefill_speedup, prefill_time, speedup_by_size, sweep, tails, time_by_size)
except ModuleNotFoundError as problem:
    sys.exit(f"plot: {sys.executable} has no module '{problem.name}'; "
             "'bash tools/setup.sh' installs matplotlib for /usr/bin/python3")

WRONG_INPUT = 2
STUDY, LINKS, GANTT, SWEEP, PARETO = "study", "links", "gantt", "sweep", "pareto"
POINTS, ROWS = "points.csv", "rows.csv"


@dataclasses.dataclass(frozen=True)
class Kind:
    """A picture: what draws it, of which file of a study, and of which experiment if that file has many."""

    picture: types.ModuleType
    table: str
    experiment: str
    what: str


KINDS = {
    "time": Kind(time_by_size, POINTS, "sizes", "time against tensor size, with lower bounds"),
    "speedup": Kind(speedup_by_size, POINTS, "sizes", "speedup against tensor size, with the paper's points"),
    "error": Kind(error_by_speedup, POINTS, "six", "error against speedup, with the paper's points"),
    "breakdown": Kind(breakdown, POINTS, "six", "where the time goes"),
    "tails": Kind(tails, POINTS, "activations", "SQNR on real values beside Gaussian ones"),
    "prefill_time": Kind(prefill_time, POINTS, "", "where the time of prefills goes, against tokens"),
    "prefill_speedup": Kind(prefill_speedup, POINTS, "", "speedup of prefills, with the paper's points"),
    "paper": Kind(paper_ratio, ROWS, "", "simulated against reported figures"),
}
# Drawn by `study` beside the pictures above, where the study has the experiment.
MORE = [("error", "formats"), ("breakdown", "formats")]
# Of all experiments that have prefills.
PREFILLS = ("prefill_time", "prefill_speedup")

EXAMPLES = f"""
kinds:
{chr(10).join(f'  {name:15} {kind.what} (of {kind.table})' for name, kind in KINDS.items())}
  {LINKS:15} how busy every link of a slice is (of JSON from 'equarx-sim run CONFIG --json --links')
  {GANTT:15} the pipeline of one chip (of a trace from 'equarx-sim run CONFIG --trace FILE')
  {SWEEP:15} one value against two axes (of results.jsonl or results.csv of 'equarx-sim sweep')
  {PARETO:15} the times and errors that can be had (of JSON from 'equarx-sim tune CONFIG --json')
  {STUDY:15} all that a folder with {POINTS} and {ROWS} has the experiments for

examples:
  python3 tools/plot/plot.py study results/equarx_paper
  python3 tools/plot/plot.py speedup results/equarx_paper/points.csv -o pictures
  python3 tools/plot/plot.py error results/equarx_paper/points.csv --experiment formats -o pictures
  python3 tools/plot/plot.py prefill_time results/equarx_paper/points.csv
  python3 tools/plot/plot.py tails results/real_activations/points.csv
  equarx-sim run CONFIG --json --links > result.json
  python3 tools/plot/plot.py links result.json --label bf16
  equarx-sim run CONFIG --trace trace.json
  python3 tools/plot/plot.py gantt trace.json --label int8 --chip '(0,0)' --from 10us --to 40us
  python3 tools/plot/plot.py speedup results/my_sweep/results.jsonl --where /hardware=tpu-v5e
  python3 tools/plot/plot.py sweep results/my_sweep/results.jsonl --label int8 --x /tensor/bytes \\
      --y /topology/slice --value speedup
  equarx-sim tune CONFIG --json > tuned.json
  python3 tools/plot/plot.py pareto tuned.json
"""


class OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all errors of this command are."""

    def error(self, message: str):
        self.exit(WRONG_INPUT, f"plot: {message}; try --help\n")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = OneLineParser(prog="plot.py", description=__doc__, epilog=EXAMPLES,
                         formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("kind", metavar="KIND", choices=[*KINDS, *FILES, STUDY], help="see below")
    made.add_argument("inputs", metavar="INPUT", nargs="+", type=pathlib.Path,
                      help="CSV files, whose rows are put together, or results.jsonl of sweeps; for study a folder, for "
                      "links, gantt and pareto a JSON file, for sweep its results")
    made.add_argument("-o", "--output", metavar="DIR", type=pathlib.Path,
                      help="folder for the pictures (default: the current one; for study its own)")
    made.add_argument("--experiment", metavar="NAME",
                      help="draw this experiment of points.csv (default: sizes, six or activations, as the "
                      "picture needs)")
    made.add_argument("--label", metavar="LABEL", default="",
                      help="of links, gantt and sweep: the collective to draw, if there are several")
    made.add_argument("--chip", metavar="NAME", default="",
                      help="of gantt: the chip, as the trace calls it (default: the first)")
    made.add_argument("--from", dest="start", metavar="TIME", default="", help="of gantt: like 10us; default 0")
    made.add_argument("--to", dest="end", metavar="TIME", default="", help="of gantt: default the end")
    made.add_argument("--x", metavar="AXIS", default="", help="of sweep: the axis across, like /tensor/bytes; or label")
    made.add_argument("--y", metavar="AXIS", default="", help="of sweep: the axis down; or label, for all collectives")
    made.add_argument("--value", metavar="NAME", default="",
                      help="of sweep: speedup (default), time_s, nmse, sqnr_db or any other number of a run")
    made.add_argument("--where", metavar="AXIS=VALUE", action="append", default=[],
                      help="of a sweep's results: where to hold another axis; may be repeated, of the same "
                      "axis for several of its values")
    return made


def check_options(arguments: argparse.Namespace) -> None:
    """Refuses options that this kind of picture does not have."""
    flags = {"start": "--from", "end": "--to"}
    for name in sorted({name for kind in FILES.values() for name in kind.options} | {"experiment"}):
        kinds = [kind for kind, entry in FILES.items() if name in entry.options]
        elsewhere = name in ("experiment", "where") and arguments.kind not in FILES
        if getattr(arguments, name) and arguments.kind not in kinds and not elsewhere:
            of = f"is for {', '.join(kinds)}" if kinds else f"is not for {arguments.kind}"
            raise data.InputError(f"{flags.get(name, '--' + name)} {of}")


def file_name(kind_name: str, experiment: str) -> str:
    """Name of a picture's files: experiments other than the usual one are named in it."""
    usual = experiment in ("", KINDS[kind_name].experiment)
    return kind_name if usual else f"{kind_name}_{experiment}"


def draw(kind_name: str, inputs: list[pathlib.Path], experiment: str):
    """The figure of one kind, of a study."""
    kind = KINDS[kind_name]
    for path in inputs:
        if sweep_file.has_table(path):
            raise data.InputError(f"{path}: a sweep's table does not say machine and tensor; give its results.jsonl")
    rows = [row for path in inputs for row in data.read_table(path, kind.picture.COLUMNS)]
    if experiment:
        rows = data.of_experiment(rows, experiment, ", ".join(map(str, inputs)))
    return kind.picture.draw(rows)


def wanted(folder: pathlib.Path) -> list[tuple[str, str]]:
    """Which pictures a study has the rows for: kind and experiment."""
    points = data.read_table(folder / POINTS, ["experiment"])
    figures_reported = data.read_table_or_header(folder / ROWS, ["id"])
    present = data.experiment_names(points)
    usual = [(name, kind.experiment) for name, kind in KINDS.items() if name != "tails"]
    possible = {"paper": figures_reported, **dict.fromkeys(PREFILLS, prefill.rows_of(points))}
    chosen = [(name, experiment) for name, experiment in [*usual, *MORE]
              if experiment in present or possible.get(name)]
    chosen += [("tails", experiment) for experiment in present
               if tails.has_both(data.of_experiment(points, experiment, POINTS))]
    if not chosen:
        raise data.InputError(f"{folder}: there is no picture for what this study has: {', '.join(present)}")
    return chosen


def study(folder: pathlib.Path) -> dict:
    """All figures of a study, by file name."""
    return {file_name(name, experiment): draw(name, [folder / KINDS[name].table], experiment)
            for name, experiment in wanted(folder)}


def only_input(arguments: argparse.Namespace) -> pathlib.Path:
    """The one file of a kind that takes one."""
    if len(arguments.inputs) != 1:
        raise data.InputError(f"{arguments.kind} takes one JSON file")
    return arguments.inputs[0]


def named(arguments: argparse.Namespace, *words: str) -> str:
    """Name of a picture's files, after the words that chose it."""
    return "_".join([arguments.kind, *(re.sub(r"[^A-Za-z0-9.-]+", "_", word).strip("_") for word in words if word)])


def draw_links(arguments: argparse.Namespace) -> dict:
    """The figure of one collective's links; if there is a choice, its file is named after it."""
    run = result.read(only_input(arguments), arguments.label)
    return {named(arguments, arguments.label): links.draw(run)}


def seconds(option: str, text: str) -> float:
    """A time with its unit."""
    value = quantities.parsed(text, quantities.TIME_UNITS)
    if value is None or not value >= 0:
        raise data.InputError(f"{option} is '{text}', which is not a time; write it like 10us or 0.2ms")
    return value


def draw_gantt(arguments: argparse.Namespace) -> dict:
    """The figure of one chip's pipeline."""
    start = seconds("--from", arguments.start) if arguments.start else 0.0
    end = seconds("--to", arguments.end) if arguments.end else None
    trace = trace_file.read(only_input(arguments), arguments.label, arguments.chip)
    name = named(arguments, arguments.label, arguments.chip)
    return {name: gantt.draw(trace, start, end)}


def held(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """Where axes of a sweep are held."""
    where: dict[str, list[str]] = {}
    for text in arguments.where:
        axis, equals, value = text.partition("=")
        if not equals:
            raise data.InputError(f"--where {text}: expected AXIS=VALUE, like /topology/slice=4x2")
        where.setdefault(axis, []).append(value)
    return where


def draw_sweep(arguments: argparse.Namespace) -> dict:
    """The figure of one value of a sweep."""
    read = sweep_file.read(arguments.inputs)
    if not arguments.x or not arguments.y:
        raise data.InputError(f"sweep needs --x and --y; the axes are: {', '.join(read.axes())}, and {sweep_file.LABEL}")
    value = arguments.value or "speedup"
    figure = sweep.draw(read, arguments.x, arguments.y, value, arguments.label, held(arguments))
    return {named(arguments, value, arguments.label): figure}


def is_of_sweep(arguments: argparse.Namespace) -> bool:
    """Whether a kind that studies have is to be drawn of a sweep's results."""
    return arguments.kind in KINDS and all(map(sweep_file.has_lines, arguments.inputs))


def draw_of_sweep(arguments: argparse.Namespace) -> dict:
    """The figure of a kind that studies have, of a sweep's results."""
    if KINDS[arguments.kind].table != POINTS:
        raise data.InputError(f"{arguments.kind} is of {KINDS[arguments.kind].table} of a study, not of a sweep")
    if arguments.experiment:
        raise data.InputError("a sweep has no experiments: leave --experiment away")
    where = held(arguments)
    rows = sweep_rows.read(arguments.inputs, where)
    try:
        return {arguments.kind: KINDS[arguments.kind].picture.draw(rows)}
    except data.TooMuch as problem:
        others = [axis for axis in sweep_file.read(arguments.inputs).axes() if axis not in where]
        raise data.InputError(f"{problem}; hold with --where AXIS=VALUE some of: {', '.join(others)}") from None


def draw_pareto(arguments: argparse.Namespace) -> dict:
    """The figure of one tuning."""
    return {PARETO: pareto.draw(tuned.read(only_input(arguments)))}


@dataclasses.dataclass(frozen=True)
class FileKind:
    """A picture that is not of a study."""

    figures: typing.Callable[[argparse.Namespace], dict]
    options: tuple[str, ...]


FILES = {
    LINKS: FileKind(draw_links, ("label",)),
    GANTT: FileKind(draw_gantt, ("label", "chip", "start", "end")),
    SWEEP: FileKind(draw_sweep, ("label", "x", "y", "value", "where")),
    PARETO: FileKind(draw_pareto, ()),
}


def figures(arguments: argparse.Namespace) -> dict:
    """What the command line asks for: figures by file name."""
    check_options(arguments)
    if arguments.kind in FILES:
        return FILES[arguments.kind].figures(arguments)
    if arguments.kind == STUDY:
        if arguments.where:
            raise data.InputError("study draws all experiments: leave --where away")
        if len(arguments.inputs) != 1:
            raise data.InputError("study takes one folder")
        if arguments.experiment:
            raise data.InputError("study draws all experiments: leave --experiment away")
        return study(arguments.inputs[0])
    if is_of_sweep(arguments):
        return draw_of_sweep(arguments)
    if arguments.where:
        raise data.InputError("--where is for results.jsonl of a sweep; a study's experiments are chosen with "
                              "--experiment")
    experiment = KINDS[arguments.kind].experiment
    if arguments.experiment and not experiment:
        raise data.InputError(f"{arguments.kind} is not of an experiment: leave --experiment away")
    experiment = arguments.experiment or experiment
    return {file_name(arguments.kind, experiment): draw(arguments.kind, arguments.inputs, experiment)}


def main() -> int:
    """Draws everything before it writes anything, so that an error leaves no half of a study behind."""
    arguments = parser().parse_args()
    style.use()
    if is_of_sweep(arguments):
        style.set_origin(origin.of_sweep(arguments.inputs))
    elif arguments.kind not in (GANTT, SWEEP):  # which have it in their input
        style.set_origin(origin.of(arguments.inputs[0]))
    own = arguments.inputs[0] if arguments.kind == STUDY else pathlib.Path(".")
    folder = arguments.output or own
    try:
        made = figures(arguments)
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in made.items():
            for path in style.save(figure, folder, name):
                print(path)
    except data.InputError as problem:
        print(f"plot: {problem}", file=sys.stderr)
        return WRONG_INPUT
    except OSError as problem:
        print(f"plot: {problem.filename or folder}: {problem.strerror}", file=sys.stderr)
        return WRONG_INPUT
    return 0


if __name__ == "__main__":
    sys.exit(main())
