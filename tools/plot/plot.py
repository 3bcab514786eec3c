#!/usr/bin/python3
"""Draws pictures of what equarx-sim computed: as PNG, SVG or PDF."""
import argparse
import math
import pathlib
import signal
import sys

# This file is run as a script, so its own folder is where the imports below are found.
from read.errors import InputError
try:
    from drawing import sheet
    from kinds import KINDS, OPTIONS, having
except ModuleNotFoundError as problem:
    sys.exit(f"plot: {sys.executable} has no module '{problem.name}'; "
             "Debian's packages python3-matplotlib and python3-numpy have what pictures need, for /usr/bin/python3")

WRONG_INPUT = 2
INSTALLED = "equarx-plot"
# The narrowest that ACM, IEEE and USENIX have.
COLUMN_MM, PAGE_MM = 84, 178
LEAST_MM, MOST_MM = 60, 1000


class OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all errors of this command are."""

    def error(self, message: str):
        self.exit(WRONG_INPUT, f"plot: {message}; try --help\n")


def is_installed() -> bool:
    """Whether this is called by the name that it has where it is installed."""
    return pathlib.Path(sys.argv[0]).name == INSTALLED


def command() -> str:
    """How users call this."""
    return INSTALLED if is_installed() else "python3 tools/plot/plot.py"


def table_of_kinds() -> str:
    """For --help: what there is to draw, of what, and how."""
    lines = [f"  {name:15} {kind.what} (of {kind.reads})" for name, kind in KINDS.items()]
    examples = [f"  {example}".replace("  plot.py", f"  {command()}", 1)
                for kind in KINDS.values() for example in kind.examples]
    return "\n".join(["kinds:", *lines, "", "examples:", *examples])


def width_of(text: str) -> float:
    """A width in inches."""
    named = {"column": COLUMN_MM, "page": PAGE_MM}
    try:
        millimetres = named[text] if text in named else float(text.removesuffix("mm"))
    except ValueError:
        millimetres = math.nan
    if not LEAST_MM <= millimetres <= MOST_MM:
        raise argparse.ArgumentTypeError(f"'{text}' is neither column nor page nor a number of mm from {LEAST_MM} to "
                                         f"{MOST_MM}")
    return millimetres / sheet.INCH_MM


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = OneLineParser(prog=pathlib.Path(sys.argv[0]).name, description=__doc__, epilog=table_of_kinds(),
                         formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("kind", metavar="KIND", choices=list(KINDS), help="see below")
    made.add_argument("inputs", metavar="INPUT", nargs="+", type=pathlib.Path,
                      help="what the kind is of; several files are put together")
    made.add_argument("-o", "--output", metavar="DIR", type=pathlib.Path,
                      help="folder for the pictures (default: the current one; for study its own)")
    made.add_argument("--title", metavar="TEXT", help="instead of the picture's own title; '' for none")
    made.add_argument("--width", metavar="WIDTH", type=width_of,
                      help=f"column or page ({COLUMN_MM} and {PAGE_MM} mm, which fit papers of two columns), or a "
                           "number of mm; letters are small then, but not smaller than 7 points")
    made.add_argument("--format", metavar="FORMAT", dest="formats", action="append", choices=sheet.FORMATS,
                      help=f"{', '.join(sheet.FORMATS)}; may be repeated (default: "
                           f"{' and '.join(sheet.DEFAULT_FORMATS)})")
    for name, option in OPTIONS.items():
        how = {"action": "append", "default": []} if option.repeated else {"default": ""}
        made.add_argument(option.flag, dest=name, metavar=option.value, **how,
                          help=f"of {', '.join(having(name))}: {option.what}")
    return made


def check(arguments: argparse.Namespace) -> None:
    """Refuses options that this kind of picture does not have, and more inputs than it takes."""
    kind = KINDS[arguments.kind]
    for name, option in OPTIONS.items():
        if getattr(arguments, name) and name not in kind.options:
            raise InputError(f"{option.flag} is for {', '.join(having(name))}; not for {arguments.kind}")
    if arguments.title is not None and arguments.kind == "study":
        raise InputError("--title is for one picture; study draws several")
    if kind.only and len(arguments.inputs) != 1:
        raise InputError(f"{arguments.kind} takes {kind.only}")


def main() -> int:
    """Draws everything before it writes anything, so that an error leaves no half of a study behind."""
    arguments = parser().parse_args()
    folder = arguments.output or (arguments.inputs[0] if arguments.kind == "study" else pathlib.Path("."))
    try:
        check(arguments)
        kind = KINDS[arguments.kind]
        sheet.wish(sheet.Wishes(arguments.title, arguments.width))
        made = kind.figures(arguments)
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in made.items():
            for path in sheet.save(figure, folder, name, arguments.formats or sheet.DEFAULT_FORMATS):
                print(path)
    except sheet.TooNarrow as problem:
        print(f"plot: --width: {problem}", file=sys.stderr)
        return WRONG_INPUT
    except InputError as problem:
        print(f"plot: {problem}", file=sys.stderr)
        return WRONG_INPUT
    except OSError as problem:
        print(f"plot: {problem.filename or folder}: {problem.strerror}", file=sys.stderr)
        return WRONG_INPUT
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # who reads only the beginning (| head) gets no complaint
    sys.exit(main())
