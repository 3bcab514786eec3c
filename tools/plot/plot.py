#!/usr/bin/python3
"""Draws pictures of results of equarx-sim, as PNG, SVG or PDF."""
import argparse
import math
import pathlib
import signal
import sys

# Run as a script: Python finds these imports in the folder of this file.
import invocation
from read.errors import InputError, WrongFile
try:
    from drawing import sheet
    from kinds import KINDS, OPTIONS, having
except ModuleNotFoundError as problem:
    sys.exit(f"plot: {sys.executable} has no module '{problem.name}'; "
             "install Debian's packages python3-matplotlib and python3-numpy, for /usr/bin/python3")

WRONG_INPUT = 2
# The narrowest of ACM, IEEE and USENIX.
COLUMN_MM, PAGE_MM = 84, 178
LEAST_MM, MOST_MM = 60, 1000


class OneLineParser(argparse.ArgumentParser):
    """A parser with one-line errors, like all errors of this command."""

    def error(self, message: str):
        self.exit(WRONG_INPUT, f"plot: {message}; try --help\n")


def table_of_kinds() -> str:
    """Kinds, inputs and examples, for --help."""
    lines = [f"  {name:15} {kind.what} (from {kind.reads})" for name, kind in KINDS.items()]
    examples = [f"  {example}".replace("  plot.py", f"  {invocation.command()}", 1)
                for kind in KINDS.values() for example in kind.examples]
    return "\n".join(["kinds:", *lines, "", "examples:", *examples])


def width_of(text: str) -> float:
    """Parses a width; returns inches."""
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
                      help="input of the kind; several files, such as shards, are combined")
    made.add_argument("-o", "--output", metavar="DIR", type=pathlib.Path,
                      help="folder for the pictures (default: the current one; for study its folder)")
    made.add_argument("--title", metavar="TEXT", help="replaces the title of the picture; '' for none")
    made.add_argument("--width", metavar="WIDTH", type=width_of,
                      help=f"column or page ({COLUMN_MM} and {PAGE_MM} mm, which fit papers of two columns), or a "
                           "number of mm; with fonts of 7 to 10 points")
    made.add_argument("--format", metavar="FORMAT", dest="formats", action="append", choices=sheet.FORMATS,
                      help=f"{', '.join(sheet.FORMATS)}; may be repeated (default: "
                           f"{' and '.join(sheet.DEFAULT_FORMATS)})")
    for name, option in OPTIONS.items():
        how = {"action": "append", "default": []} if option.repeated else {"default": ""}
        made.add_argument(option.flag, dest=name, metavar=option.value, **how,
                          help=f"{option.what} ({', '.join(having(name))})")
    return made


def check(arguments: argparse.Namespace) -> None:
    """Throws InputError for options and inputs that this kind of picture does not take."""
    kind = KINDS[arguments.kind]
    for name, option in OPTIONS.items():
        if getattr(arguments, name) and name not in kind.options:
            raise InputError(f"{option.flag} is for {', '.join(having(name))}; not for {arguments.kind}")
    if arguments.title is not None and arguments.kind == "study":
        raise InputError("--title is for one picture; study draws several")
    if kind.only and len(arguments.inputs) != 1:
        raise InputError(f"{arguments.kind} takes {kind.only}")


def remedy(found: str, wanted: str) -> str:
    """The kinds of pictures for a kind of file, if there are any."""
    fitting = [name for name, kind in KINDS.items() if found in kind.draws and name != wanted]
    return f"; kinds for this file: {', '.join(fitting)}" if fitting else ""


def main() -> int:
    """Draws all pictures, then writes them: an error leaves no partial study."""
    arguments = parser().parse_args()
    folder = arguments.output or (arguments.inputs[0] if arguments.kind == "study" else pathlib.Path("."))
    try:
        check(arguments)
        kind = KINDS[arguments.kind]
        sheet.configure(sheet.Settings(arguments.title, arguments.width))
        made = kind.figures(arguments)
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in made.items():
            for path in sheet.save(figure, folder, name, arguments.formats or sheet.DEFAULT_FORMATS):
                print(path)
    except sheet.TooNarrow as problem:
        print(f"plot: --width: {problem}", file=sys.stderr)
        return WRONG_INPUT
    except WrongFile as problem:
        print(f"plot: {problem.text(arguments.kind)}{remedy(problem.found, arguments.kind)}", file=sys.stderr)
        return WRONG_INPUT
    except InputError as problem:
        print(f"plot: {problem}", file=sys.stderr)
        return WRONG_INPUT
    except OSError as problem:
        print(f"plot: {problem.filename or folder}: {problem.strerror}", file=sys.stderr)
        return WRONG_INPUT
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # no error if the reader closes the pipe (| head)
    sys.exit(main())
