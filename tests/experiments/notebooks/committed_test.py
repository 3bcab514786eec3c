"""Every notebook that is committed is what its script makes, and has no output; its links lead somewhere."""
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools" / "notebooks"), str(ROOT / "tests" / "support")]

import make_notebooks
import markdown

SCRIPTS = sorted(make_notebooks.FOLDER.glob("*.py"))
REMEDY = "run python3 tools/notebooks/make_notebooks.py, and commit what it writes"


class Committed(unittest.TestCase):
    def test_each_is_what_its_script_makes(self):
        self.assertTrue(SCRIPTS)
        self.assertEqual([path.with_suffix(".py") for path in sorted(make_notebooks.FOLDER.glob("*.ipynb"))], SCRIPTS,
                         REMEDY)
        for script in SCRIPTS:
            committed = script.with_suffix(".ipynb").read_text(encoding="utf-8")
            self.assertTrue(make_notebooks.notebook(script.read_text(encoding="utf-8")) == committed,
                            f"{script.stem}.ipynb is not what {script.name} makes; {REMEDY}")

    def test_none_has_output(self):
        for script in SCRIPTS:
            cells = json.loads(script.with_suffix(".ipynb").read_text(encoding="utf-8"))["cells"]
            self.assertEqual([cell for cell in cells if cell.get("outputs") or cell.get("execution_count")], [])

    def test_each_script_has_a_test(self):
        for script in SCRIPTS:
            self.assertTrue(pathlib.Path(__file__).with_name(f"{script.stem}_test.py").is_file(), script.name)

    def test_links_lead_somewhere(self):
        for script in SCRIPTS:
            for link in markdown.LINK.findall(script.read_text(encoding="utf-8")):
                with self.subTest(script=script.name, link=link):
                    self.assertTrue((script.parent / link.partition("#")[0]).exists())

    def test_lines_fit_a_page(self):
        for script in SCRIPTS:
            for number, line in enumerate(script.read_text(encoding="utf-8").splitlines(), 1):
                self.assertLessEqual(len(line), 120, f"{script.name}:{number}")


if __name__ == "__main__":
    unittest.main()
