"""docs/python_reference.md is generated from the current docstrings, and describes all that is exported."""
import pathlib
import subprocess
import sys
import unittest

import equarx

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Reference(unittest.TestCase):
    def test_the_page_is_current(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "tools" / "docs" / "python_reference.py", "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_everything_exported_is_described(self):
        for name in equarx.__all__:
            self.assertGreater(len(getattr(equarx, name).__doc__ or ""), 20, name)


if __name__ == "__main__":
    unittest.main()
