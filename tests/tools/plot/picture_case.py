"""What the tests of the picture tools share."""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLOT = ROOT / "tools" / "plot" / "plot.py"
sys.path.insert(0, str(PLOT.parent))
import plot  # noqa: E402  that is where it is found


class PictureCase(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_plot(self, *arguments) -> subprocess.CompletedProcess:
        """Runs the command in that folder."""
        command = [sys.executable, "-B", str(PLOT), *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def check_refused(self, words: list[str], *arguments) -> None:
        """The command must exit with 2 and one line on stderr that has all these words."""
        out, err = io.StringIO(), io.StringIO()
        # In this process, because most of the time of another one is that of importing matplotlib.
        with (contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
              mock.patch.object(sys, "argv", ["plot.py", *map(str, arguments)])):
            try:
                code = plot.main()
            except SystemExit as ended:
                code = ended.code
        self.assertEqual(code, 2, err.getvalue())
        self.assertEqual(out.getvalue(), "")
        self.assertEqual(err.getvalue().count("\n"), 1, err.getvalue())
        for word in words:
            self.assertIn(word, err.getvalue())
