#!/usr/bin/python3
"""Draws the pictures of a study: PNG and SVG from the CSV files that equarx-sim writes."""
import argparse
import dataclasses
import pathlib
import re
import sys
import types

# This file is run as a script, so its own folder is where the imports below are found.
import data
import result
try:
    import style
    from pictures import breakdown, error_by_speedup, links, paper_ratio, speedup_by_size, tails, time_by_size
except ModuleNotFoundError as problem:
    sys.exit(f"plot: {sys.executable} has no module '{problem.name}'; "
             "'bash tools/setup.sh' installs matplotlib for /usr/bin/python3")

WRONG_INPUT = 2
STUDY, LINKS = "study", "links"
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
    "paper": Kind(paper_ratio, ROWS, "", "simulated against reported figures"),
}
# Drawn by `study` beside the pictures above, where the study has the experiment.
MORE = [("error", "formats"), ("breakdown", "formats")]

EXAMPLES = f"""
kinds:
{chr(10).join(f'  {name:10} {kind.what} (of {kind.table})' for name, kind in KINDS.items())}
  {LINKS:10} how busy every link of a slice is (of JSON from 'equarx-sim run CONFIG --json --links')
  {STUDY:10} all that a folder with {POINTS} and {ROWS} has the experiments for

examples:
  python3 tools/plot/plot.py study results/equarx_paper
  python3 tools/plot/plot.py speedup results/equarx_paper/points.csv -o pictures
  python3 tools/plot/plot.py error results/equarx_paper/points.csv --experiment formats -o pictures
  python3 tools/plot/plot.py tails results/real_activations/points.csv
  equarx-sim run CONFIG --json --links > result.json
  python3 tools/plot/plot.py links result.json --label bf16
"""


class OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all errors of this command are."""

    def error(self, message: str):
        self.exit(WRONG_INPUT, f"plot: {message}; try --help\n")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = OneLineParser(prog="plot.py", description=__doc__, epilog=EXAMPLES,
                         formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("kind", metavar="KIND", choices=[*KINDS, LINKS, STUDY], help="see below")
    made.add_argument("inputs", metavar="INPUT", nargs="+", type=pathlib.Path,
                      help="CSV files, whose rows are put together; for study a folder, for links a JSON file")
    made.add_argument("-o", "--output", metavar="DIR", type=pathlib.Path,
                      help="folder for the pictures (default: the current one; for study its own)")
    made.add_argument("--experiment", metavar="NAME",
                      help="draw this experiment of points.csv (default: sizes, six or activations, as the "
                      "picture needs)")
    made.add_argument("--label", metavar="LABEL", default="",
                      help="of links: the collective to draw, if there are several")
    return made


def file_name(kind_name: str, experiment: str) -> str:
    """Name of a picture's files: experiments other than the usual one are named in it."""
    usual = experiment in ("", KINDS[kind_name].experiment)
    return kind_name if usual else f"{kind_name}_{experiment}"


def draw(kind_name: str, inputs: list[pathlib.Path], experiment: str):
    """The figure of one kind."""
    kind = KINDS[kind_name]
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
    chosen = [(name, experiment) for name, experiment in [*usual, *MORE]
              if experiment in present or (not experiment and figures_reported)]
    chosen += [("tails", experiment) for experiment in present
               if tails.has_both(data.of_experiment(points, experiment, POINTS))]
    if not chosen:
        raise data.InputError(f"{folder}: there is no picture for what this study has: {', '.join(present)}")
    return chosen


def study(folder: pathlib.Path) -> dict:
    """All figures of a study, by file name."""
    return {file_name(name, experiment): draw(name, [folder / KINDS[name].table], experiment)
            for name, experiment in wanted(folder)}


def draw_links(arguments: argparse.Namespace) -> dict:
    """The figure of one collective's links; if there is a choice, its file is named after it."""
    if len(arguments.inputs) != 1 or arguments.experiment:
        raise data.InputError("links takes one JSON file, and no --experiment")
    run = result.read(arguments.inputs[0], arguments.label)
    words = re.sub(r"[^A-Za-z0-9.-]+", "_", arguments.label)
    return {f"{LINKS}_{words}" if words else LINKS: links.draw(run)}


def figures(arguments: argparse.Namespace) -> dict:
    """What the command line asks for: figures by file name."""
    if arguments.kind == LINKS:
        return draw_links(arguments)
    if arguments.label:
        raise data.InputError("--label is for links")
    if arguments.kind == STUDY:
        if len(arguments.inputs) != 1:
            raise data.InputError("study takes one folder")
        if arguments.experiment:
            raise data.InputError("study draws all experiments: leave --experiment away")
        return study(arguments.inputs[0])
    experiment = KINDS[arguments.kind].experiment
    if arguments.experiment and not experiment:
        raise data.InputError(f"{arguments.kind} is not of an experiment: leave --experiment away")
    experiment = arguments.experiment or experiment
    return {file_name(arguments.kind, experiment): draw(arguments.kind, arguments.inputs, experiment)}


def main() -> int:
    """Draws everything before it writes anything, so that an error leaves no half of a study behind."""
    arguments = parser().parse_args()
    style.use()
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
