"""Base class of the tests of pictures."""
import argparse
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from unittest import mock

import made_up_study

ROOT = pathlib.Path(__file__).resolve().parents[4]
PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
PLOT = ROOT / "tools" / "plot" / "plot.py"
sys.path[:0] = [str(PLOT.parent)]
import plot  # noqa: E402  found in the path above
from drawing import sheet, style  # noqa: E402
from kinds import KINDS  # noqa: E402


class PictureCase(unittest.TestCase):
    """A test with a temporary folder."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_command(self, *arguments) -> subprocess.CompletedProcess:
        """Runs the command in that folder, in a process of its own."""
        command = [sys.executable, "-B", str(PLOT), *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def run_plot(self, *arguments) -> subprocess.CompletedProcess:
        """Like run_command(), but in this process, which saves the import of matplotlib."""
        out, err = io.StringIO(), io.StringIO()
        with (contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
              mock.patch.object(sys, "argv", ["plot.py", *map(str, arguments)])):
            try:
                code = plot.main()
            except SystemExit as ended:
                code = ended.code
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def points(self, *changes) -> None:
        """Writes the experiment `six` to results.jsonl, with changes (row, column, value)."""
        rows = made_up_study.six()
        for row, column, value in changes:
            rows[row][column] = value
        made_up_study.write_points(self.folder / "results.jsonl", rows)

    def figure(self, kind: str, rows: list[dict], experiment: str = ""):
        """The figure of a kind for rows of a study."""
        style.use()
        path = self.folder / "input"
        (made_up_study.write if kind == "paper" else made_up_study.write_points)(path, rows)
        [figure] = KINDS[kind].figures(argparse.Namespace(kind=kind, inputs=[path], experiment=experiment,
                                                          where=[])).values()
        return figure

    def check_pictures(self, paths: list[str], names: list[str]) -> None:
        """Checks that the paths are complete pictures of these names."""
        expected = [f"{name}.{ending}" for name in names for ending in ("png", "svg")]
        self.assertEqual([path.rsplit("/", 1)[-1] for path in paths], expected)
        for path in paths:
            content = (self.folder / path).read_bytes()
            if path.endswith("png"):
                self.assertTrue(content.startswith(PNG_MAGIC))
            else:
                self.assertTrue(xml.etree.ElementTree.fromstring(content).tag.endswith("svg"))

    def check_refused(self, words: list[str], *arguments) -> None:
        """Checks for exit code 2 and one line on stderr with all these words."""
        ran = self.run_plot(*arguments)
        self.assertEqual(ran.returncode, 2, ran.stderr)
        self.assertEqual(ran.stdout, "")
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        for word in words:
            self.assertIn(word, ran.stderr)


class DrawnCase(PictureCase):
    """A test that draws figures itself, without the command."""

    def setUp(self):
        super().setUp()
        style.use()
        self.addCleanup(sheet.annotate, trust="", origin="", held="")
