"""Runs a notebook as Jupyter does: no cell fails or warns, and texts and figures are those committed.

Usage: in_jupyter_test.py NAME. Exit code 77: skipped, because nbconvert, ipykernel or pandas is not installed.
"""
import importlib.util
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools" / "notebooks"))

import make_notebooks

NEEDED = (*make_notebooks.EXECUTORS, "pandas")
REMEDY = "run PYTHONPATH=build/release/python python3 tools/notebooks/make_notebooks.py --execute"


def shown(text: str) -> list[tuple[str, str]]:
    """Texts of a notebook's outputs by cell; of a figure its size."""
    return [(cell["id"], "".join(output.get("text", output.get("data", {}).get("text/plain", []))))
            for cell in json.loads(text)["cells"] for output in cell.get("outputs", [])]


class InJupyter(unittest.TestCase):
    name: str

    def test_outputs_are_the_committed_ones(self):
        self.maxDiff = None
        path = make_notebooks.FOLDER / f"{self.name}.ipynb"
        committed = path.read_text(encoding="utf-8")
        executed = make_notebooks.executed(committed, path.parent)
        self.assertEqual(shown(executed), shown(committed), REMEDY)


if __name__ == "__main__":
    missing = [module for module in NEEDED if not importlib.util.find_spec(module)]
    if missing:
        print(f"skipped: {sys.executable} has no {' and no '.join(missing)} (Debian: apt-get install "
              "python3-nbconvert python3-ipykernel python3-pandas)", file=sys.stderr)
        sys.exit(77)
    InJupyter.name = sys.argv.pop()
    unittest.main()
