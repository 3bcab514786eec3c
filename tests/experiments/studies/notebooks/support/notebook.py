"""Notebooks of experiments/studies/notebooks, run as scripts."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[5]
FOLDER = ROOT / "experiments" / "studies" / "notebooks"


def ran_script(name: str, *arguments: str, folder: str, modules: str = "") -> subprocess.CompletedProcess:
    """Runs a script in a folder with this interpreter, without a window; `modules`: folder of modules that take
    precedence."""
    path = os.pathsep.join(filter(None, [modules, os.environ.get("PYTHONPATH")]))
    return subprocess.run([sys.executable, "-B", FOLDER / f"{name}.py", *arguments], cwd=folder, text=True,
                          capture_output=True, check=False, env={**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": path})


class Script(unittest.TestCase):
    """Base of tests of a script's output, `printed`, after a run outside the repository."""

    name: str
    modules = ""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            ran = ran_script(cls.name, "--save", folder=folder, modules=cls.modules)
            cls.written = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
        if (ran.returncode, ran.stderr) != (0, ""):
            raise AssertionError(f"{cls.name}.py ended with {ran.returncode}: {ran.stderr}")
        cls.printed = ran.stdout

    def test_its_figure_is_saved(self):
        self.assertEqual(list(self.written), [f"{self.name}.png"])
        self.assertTrue(self.written[f"{self.name}.png"].startswith(b"\x89PNG"))
