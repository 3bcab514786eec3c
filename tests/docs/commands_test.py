"""Runs every command of a page's shell blocks, in one shell, on reduced copies.

If an output block follows, it is compared with the printed output, and nothing is reduced; nor on
the pages of WHOLE, whose commands use files made by such blocks.
Usage: commands_test.py EQUARX_SIM PAGE [unittest arguments]
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import markdown
import page_shell
import sandbox
from not_run import NOT_RUN

PROGRAM = PAGE = ""
WHOLE = {"docs/calibrate.md", "docs/tutorial.md"}
FROM_CLONE = {"README.md", "docs/tutorial.md"}  # these pages describe where the program is
OUTPUT = "text"  # language of the blocks with output
ANYTHING = "..."


def bare(command: str) -> str:
    """A command without its trailing comment."""
    return command.split("  # ")[0].split("   #")[0].rstrip()


def matches(shown: list[str], printed: list[str]) -> bool:
    """True if the lines are equal; a line ANYTHING matches any lines."""
    if not shown:
        return not printed
    if shown[0] == ANYTHING:
        return any(matches(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and matches(shown[1:], printed[1:])


class Commands(unittest.TestCase):
    """One page, run once."""

    @classmethod
    def setUpClass(cls):
        blocks = markdown.blocks(markdown.text(markdown.ROOT / PAGE))
        cls.shell = [block for block in blocks if block.language == "sh"]
        cls.shown = {before.line: block for before, block in zip(blocks, blocks[1:])
                     if before.language == "sh" and block.language == OUTPUT}
        cls.left_out = NOT_RUN.get(PAGE, {})
        temporary = tempfile.TemporaryDirectory(prefix="equarx-page-")
        cls.addClassCleanup(temporary.cleanup)
        folders = {whole: pathlib.Path(temporary.name, "whole" if whole else "reduced") for whole in (True, False)}
        for whole, folder in folders.items():
            folder.mkdir()
            sandbox.make(folder, pathlib.Path(PROGRAM).resolve(), whole=whole)
        wanted = [(folders[PAGE in WHOLE or block.line in cls.shown],
                   [command for command in markdown.commands(block.lines) if bare(command) not in cls.left_out])
                  for block in cls.shell]
        cls.printed = page_shell.run(wanted, path=PAGE not in FROM_CLONE)

    def test_every_block_is_run(self):
        self.assertEqual(len(self.printed), len(self.shell))

    def test_excluded_commands_exist_on_the_page(self):
        commands = {bare(command) for block in self.shell for command in markdown.commands(block.lines)}
        self.assertEqual(set(self.left_out) - commands, set())

    def test_output_matches_the_page(self):
        for block, output in zip(self.shell, self.printed):
            if block.line not in self.shown:
                continue
            printed = [line.rstrip() for line in output.rstrip("\n").splitlines()]
            shown = self.shown[block.line]
            if not matches([line.rstrip() for line in shown.lines], printed):
                self.fail(f"{PAGE}:{shown.line} shows other lines than these:\n" + "\n".join(printed))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    PROGRAM, PAGE = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
