"""Scripts in the percent format become notebooks; others are refused in one line, and nothing is written."""
import contextlib
import importlib.util
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "notebooks"))

import make_notebooks

SCRIPT = """\
# %% [markdown]
# # Größe
#
# - a point
#   of two lines

# %%
x = 1


def f():
    return "# %"  # %% is no cell here

"""


def cells(script: str) -> list[dict]:
    return json.loads(make_notebooks.notebook(script))["cells"]


class Notebooks(unittest.TestCase):
    def test_text_has_no_comment_signs_and_code_no_surrounding_blank_lines(self):
        text, code = cells(SCRIPT)
        self.assertEqual((text["cell_type"], "".join(text["source"])),
                         ("markdown", "# Größe\n\n- a point\n  of two lines"))
        self.assertEqual((code["cell_type"], "".join(code["source"])),
                         ("code", 'x = 1\n\n\ndef f():\n    return "# %"  # %% is no cell here'))

    def test_a_new_notebook_has_no_outputs(self):
        code = cells(SCRIPT)[1]
        self.assertEqual((code["outputs"], code["execution_count"]), ([], None))

    def test_cells_have_unique_and_reproducible_ids(self):
        self.assertEqual([cell["id"] for cell in cells(SCRIPT + SCRIPT)], ["cell-1", "cell-2", "cell-3", "cell-4"])
        self.assertEqual(make_notebooks.notebook(SCRIPT), make_notebooks.notebook(SCRIPT))

    def test_notebooks_are_valid(self):
        try:
            import nbformat
        except ImportError:
            self.skipTest("without nbformat")
        nbformat.validate(nbformat.reads(make_notebooks.notebook(SCRIPT), as_version=4))


class Outputs(unittest.TestCase):
    PRINTS = "# %%\nprint(1)\n\n# %%\nx = 1\n\n# %%\nprint(1)\n\n# %%\nprint(2)\n"

    def with_outputs(self) -> str:
        """A notebook of PRINTS as if executed; counts are out of order."""
        made = json.loads(make_notebooks.notebook(self.PRINTS))
        for count, cell in enumerate(made["cells"], 7):
            if "print" in "".join(cell["source"]):
                cell["execution_count"] = count
                cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": [f"output {count}\n"]}]
        return json.dumps(made)

    def texts(self, script: str) -> list[tuple]:
        made = json.loads(make_notebooks.notebook(script, self.with_outputs()))
        return [(cell["execution_count"], *(line for output in cell["outputs"] for line in output["text"]))
                for cell in made["cells"]]

    def test_outputs_of_unchanged_cells_are_kept_in_order(self):
        self.assertEqual(self.texts(self.PRINTS), [(1, "output 7\n"), (None,), (3, "output 9\n"), (4, "output 10\n")])

    def test_moved_cells_keep_their_outputs_and_changed_ones_lose_them(self):
        script = "# %%\nprint(3)\n\n# %%\nprint(2)\n\n# %% [markdown]\n# print(1)\n\n# %%\nprint(1)\n"
        made = json.loads(make_notebooks.notebook(script, self.with_outputs()))["cells"]
        self.assertEqual([cell.get("outputs", [])[:1] for cell in made], [[], [{
            "name": "stdout", "output_type": "stream", "text": ["output 10\n"]}], [], [{
                "name": "stdout", "output_type": "stream", "text": ["output 7\n"]}]])


@unittest.skipUnless(all(map(importlib.util.find_spec, make_notebooks.EXECUTORS)), "without nbclient or ipykernel")
class Executed(unittest.TestCase):
    def executed(self, *lines: str) -> list[dict]:
        text = make_notebooks.notebook("# %%\n" + "\n".join(lines) + "\n")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "here").touch()
            return json.loads(make_notebooks.executed(text, pathlib.Path(folder)))["cells"][0]

    def test_output_is_stored_without_metadata_in_one_text(self):
        cell = self.executed("import os", "print('a', flush=True)", "print(os.listdir())")
        self.assertEqual((cell["execution_count"], cell["metadata"], cell["outputs"]), (1, {}, [
            {"name": "stdout", "output_type": "stream", "text": ["a\n", "['here']\n"]}]))

    def test_a_value_is_stored_with_its_count(self):
        self.assertEqual(self.executed("6 * 7")["outputs"], [
            {"data": {"text/plain": ["42"]}, "metadata": {}, "output_type": "execute_result", "execution_count": 1}])

    def test_failures_warnings_and_unstable_outputs_are_refused(self):
        for line, message in {"1 / 0": "a cell failed: ZeroDivisionError: division by zero",
                              "import warnings; warnings.warn('old')": "cell-1: warns: ",
                              "import os; print(os.getcwd())": "cell-1: prints '/tmp/', which differs",
                              "object()": "cell-1: prints 'at 0x"}.items():
            with self.subTest(line), self.assertRaisesRegex(make_notebooks.NoNotebook, re.escape(message)):
                self.executed(line)


class Errors(unittest.TestCase):
    def refused(self, *scripts: str) -> str:
        """The message about the last of these scripts; nothing may be written."""
        with tempfile.TemporaryDirectory() as name:
            paths = [pathlib.Path(name, f"{number}.py") for number in range(len(scripts))]
            for path, script in zip(paths, scripts):
                path.write_text(script, encoding="utf-8")
            printed = io.StringIO()
            with contextlib.redirect_stderr(printed):
                self.assertEqual(make_notebooks.main(paths), 2)
            self.assertEqual(list(pathlib.Path(name).glob("*.ipynb")), [])
        message = printed.getvalue()
        self.assertEqual(message.count("\n"), 1)
        self.assertIn(str(paths[-1]), message)
        return message

    def test_each_has_its_line(self):
        for script, expected in {"import sys\n# %%\n": "line 1: is before the first cell",
                             "# %% [markdown]\n# text\nx = 1\n": "line 3: is not a comment",
                             "# %% [markdown]\n#text\n": "line 2: is not a comment",
                             "# %%\n# %% [md]\n": "line 2: a cell begins with",
                             "": "has no cells"}.items():
            with self.subTest(script):
                self.assertIn(expected, self.refused(script))

    def test_nothing_is_written_if_one_of_several_is_invalid(self):
        self.refused(SCRIPT, "x = 1\n")

    def test_a_missing_file_is_named(self):
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            self.assertEqual(make_notebooks.main([pathlib.Path("none.py")]), 2)
        self.assertEqual(printed.getvalue(), "error: none.py: No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
