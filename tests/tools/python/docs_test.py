"""Runs the Python of the pages, block by block, and compares its output with theirs."""
import contextlib
import io
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import markdown

PAGES = ("README.md", "docs/predictor.md", "docs/python.md", "docs/schedules.md")


class Pages(unittest.TestCase):
    def test_examples_print_the_documented_output(self):
        os.chdir(ROOT)
        for page in PAGES:
            blocks = markdown.blocks(markdown.text(ROOT / page))
            self.assertTrue([block for block in blocks if block.language == "python"], page)
            names = {}
            for block, after in zip(blocks, [*blocks[1:], None]):
                if block.language != "python":
                    continue
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile("\n".join(block.lines), f"{page}:{block.line}", "exec"), names)
                if after is not None and after.language == "text":
                    with self.subTest(page=page, line=block.line):
                        self.assertEqual(printed.getvalue().splitlines(), after.lines)


if __name__ == "__main__":
    unittest.main()
