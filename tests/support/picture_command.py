"""Runs the command for pictures in the process of the tests, as matplotlib takes a second to import."""
import contextlib
import importlib
import io
import sys
from unittest import mock

from markdown import ROOT

PLOT = "tools/plot/plot.py"
DOTS_PER_INCH = 30  # low resolution for tests


def module():
    """The module tools/plot/plot.py, with low resolution."""
    folder = str(ROOT / PLOT.rsplit("/", 1)[0])
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sheet = importlib.import_module("drawing.sheet")
    sheet.PNG_DPI = sheet.PRINT_DPI = DOTS_PER_INCH
    return importlib.import_module("plot")


def draw(words: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of the command with these arguments."""
    made = module()
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "argv", [PLOT, *words]), contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(err):
        try:
            code = made.main()
        except SystemExit as left:
            code = left.code
    return code, out.getvalue(), err.getvalue()
