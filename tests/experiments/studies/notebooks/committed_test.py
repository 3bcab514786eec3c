"""Every committed notebook has the cells of its script, and their outputs; its links resolve."""
import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "tools" / "notebooks"), str(ROOT / "tests" / "support")]

import make_notebooks
import markdown

SCRIPTS = sorted(make_notebooks.FOLDER.glob("*.py"))
MAKE = "python3 tools/notebooks/make_notebooks.py"
REMEDY = f"run PYTHONPATH=build/release/python {MAKE} --execute, and commit the notebooks"
LARGEST = 1 << 20  # bytes


def committed(script: pathlib.Path) -> str:
    return script.with_suffix(".ipynb").read_text(encoding="utf-8")


class Committed(unittest.TestCase):
    def test_each_script_has_a_notebook_and_a_test(self):
        self.assertTrue(SCRIPTS)
        self.assertEqual([path.with_suffix(".py") for path in sorted(make_notebooks.FOLDER.glob("*.ipynb"))], SCRIPTS,
                         REMEDY)
        for script in SCRIPTS:
            self.assertTrue(pathlib.Path(__file__).with_name(f"{script.stem}_test.py").is_file(), script.name)

    def test_each_has_the_cells_of_its_script(self):
        for script in SCRIPTS:
            text = committed(script)
            self.assertTrue(make_notebooks.notebook(script.read_text(encoding="utf-8"), text) == text,
                            f"{script.stem}.ipynb differs from {script.name}; {REMEDY}")

    def test_each_cell_that_prints_or_draws_has_an_output_and_none_is_an_error(self):
        for script in SCRIPTS:
            for cell in json.loads(committed(script))["cells"]:
                if cell["cell_type"] != "code":
                    continue
                with self.subTest(script=script.name, cell=cell["id"]):
                    source = "".join(cell["source"])
                    outputs = cell["outputs"]
                    self.assertTrue({(output["output_type"], output.get("name")) for output in outputs}
                                    <= {("stream", "stdout"), ("display_data", None)}, outputs)
                    shows = {"image/png"} if "plt.show()" in source else set()
                    self.assertEqual({kind for output in outputs for kind in output.get("data", {})} - {"text/plain"},
                                     shows, REMEDY)
                    prints = re.search(r"\bprint\(", source) is not None
                    self.assertEqual("stream" in {output["output_type"] for output in outputs}, prints, REMEDY)

    def test_outputs_are_small_and_do_not_depend_on_the_machine(self):
        for script in SCRIPTS:
            text = committed(script)
            self.assertLess(len(text), LARGEST, script.name)
            cells = json.loads(text)["cells"]
            shown = [cell.get("outputs", []) for cell in cells]
            texts = "".join(line for outputs in shown for output in outputs
                            for line in output.get("text", output.get("data", {}).get("text/plain", [])))
            self.assertIsNone(make_notebooks.UNSTABLE.search(texts), script.name)
            self.assertTrue(all(cell["metadata"] == {} for cell in cells), script.name)

    def test_links_resolve(self):
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
