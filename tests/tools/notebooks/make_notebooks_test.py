"""Scripts in the percent format become notebooks; those in another are refused in one line, and nothing is written."""
import contextlib
import io
import json
import pathlib
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
    def test_text_loses_its_signs_of_comments_and_code_its_blank_ends(self):
        text, code = cells(SCRIPT)
        self.assertEqual((text["cell_type"], "".join(text["source"])),
                         ("markdown", "# Größe\n\n- a point\n  of two lines"))
        self.assertEqual((code["cell_type"], "".join(code["source"])),
                         ("code", 'x = 1\n\n\ndef f():\n    return "# %"  # %% is no cell here'))

    def test_there_is_no_output(self):
        code = cells(SCRIPT)[1]
        self.assertEqual((code["outputs"], code["execution_count"]), ([], None))

    def test_cells_have_names_of_their_own_and_always_the_same(self):
        self.assertEqual([cell["id"] for cell in cells(SCRIPT + SCRIPT)], ["cell-1", "cell-2", "cell-3", "cell-4"])
        self.assertEqual(make_notebooks.notebook(SCRIPT), make_notebooks.notebook(SCRIPT))

    def test_jupyter_takes_them(self):
        try:
            import nbformat
        except ImportError:
            self.skipTest("without nbformat")
        nbformat.validate(nbformat.reads(make_notebooks.notebook(SCRIPT), as_version=4))


class Mistakes(unittest.TestCase):
    def refused(self, *scripts: str) -> str:
        """The message about the last of these scripts; nothing may be written."""
        with tempfile.TemporaryDirectory() as name:
            paths = [pathlib.Path(name, f"{number}.py") for number in range(len(scripts))]
            for path, script in zip(paths, scripts):
                path.write_text(script, encoding="utf-8")
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                self.assertEqual(make_notebooks.main(paths), 2)
            self.assertEqual(list(pathlib.Path(name).glob("*.ipynb")), [])
        message = said.getvalue()
        self.assertEqual(message.count("\n"), 1)
        self.assertIn(str(paths[-1]), message)
        return message

    def test_each_is_named_with_its_line(self):
        for script, said in {"import sys\n# %%\n": "line 1: stands before the first cell",
                             "# %% [markdown]\n# text\nx = 1\n": "line 3: is no comment",
                             "# %% [markdown]\n#text\n": "line 2: is no comment",
                             "# %%\n# %% [md]\n": "line 2: a cell begins with",
                             "": "has no cells"}.items():
            with self.subTest(script):
                self.assertIn(said, self.refused(script))

    def test_nothing_is_written_if_one_of_several_is_wrong(self):
        self.refused(SCRIPT, "x = 1\n")

    def test_a_file_that_is_not_there_is_named(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(make_notebooks.main([pathlib.Path("none.py")]), 2)
        self.assertEqual(said.getvalue(), "error: none.py: No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
