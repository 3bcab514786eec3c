"""What the tests of the picture tools share."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLOT = ROOT / "tools" / "plot" / "plot.py"
sys.path.insert(0, str(PLOT.parent))


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
        ran = self.run_plot(*arguments)
        self.assertEqual(ran.returncode, 2, ran.stderr)
        self.assertEqual(ran.stdout, "")
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        for word in words:
            self.assertIn(word, ran.stderr)
