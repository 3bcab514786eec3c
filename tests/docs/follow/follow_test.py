"""Follows pages that extend the program, word by word, on a copy of the source tree.

Edits: every block of code has a place, all edits apply, and added sources compile without warnings. Build: also runs
the commands of the console blocks, in a build of their own; minutes.
Usage: follow_test.py COMPILER BUILD_FOLDER [PAGE...] [unittest arguments]     (default: all pages with edits)
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import edits
import markdown

COMPILER = BUILT = ""
PAGES: list[str] = []
PARTS = ["base", "configs", "docs", "experiments", "importers", "models", "sim", "tests", "tools", "topologies"]
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-DFMT_SHARED", "-DHWY_SHARED_DEFINE"]
CONFIGURE = ["cmake", "--preset", "unity", "-DEQUARX_BENCHMARKS=OFF", "-DEQUARX_PYTHON=OFF"]
JOBS = "2"


def tracked() -> list[str]:
    """Files of the source tree: those of git, or all but results and builds in an exported tree."""
    listed = subprocess.run(["git", "-C", str(markdown.ROOT), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], capture_output=True, check=False)
    if listed.returncode == 0:
        return [name for name in listed.stdout.decode().split("\0") if name]
    files = [path for part in PARTS for path in (markdown.ROOT / part).rglob("*") if "__pycache__" not in path.parts]
    return [path.relative_to(markdown.ROOT).as_posix() for path in [*files, *markdown.ROOT.iterdir()]]


def copy_tree(folder: pathlib.Path) -> None:
    """Copies the source tree."""
    for name in tracked():
        if (markdown.ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(markdown.ROOT / name, folder / name)


def page_text(page: str) -> str:
    return markdown.text(markdown.ROOT / page)


def with_edits() -> list[str]:
    """The pages that show edits."""
    names = [path.relative_to(markdown.ROOT).as_posix() for path in markdown.pages()]
    return [name for name in names if edits.edits(page_text(name))]


def console(page: str) -> list[str]:
    """The commands of a page's console blocks."""
    return [command for block in markdown.blocks(page_text(page)) if block.language == "console"
            for command in markdown.commands(block.lines)]


class Followed(unittest.TestCase):
    """A copy of the source tree."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="equarx-follow-")
        cls.addClassCleanup(temporary.cleanup)
        cls.tree = pathlib.Path(temporary.name)
        copy_tree(cls.tree)

    def run_in_tree(self, command: list[str] | str) -> str:
        """Returns the output of a command, a string for the shell; its failure is one of the test."""
        done = subprocess.run(command, shell=isinstance(command, str), cwd=self.tree, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": JOBS})
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout


class Edits(Followed):
    """All pages on one tree, without a build."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for page in PAGES:
            edits.apply(page_text(page), cls.tree)
        cls.edited = sorted({edit.path for page in PAGES for edit in edits.edits(page_text(page))})
        cls.added = [path for page in PAGES for path in edits.new_files(page_text(page))]

    def test_every_block_of_code_has_a_place(self):
        for page in PAGES:
            self.assertEqual(edits.without_place(page_text(page)), [], f"lines of {page} without a place above")

    def test_added_sources_compile(self):
        sources = [path for path in self.added if path.endswith(".cpp") and not path.startswith("tests/")]
        self.assertTrue(sources)
        for path in sources:
            self.run_in_tree([COMPILER, *FLAGS, f"-I{self.tree}", f"-I{BUILT}", path])

    @unittest.skipUnless(shutil.which("clang-format"), "no clang-format here")
    def test_sources_are_formatted(self):
        self.run_in_tree(["clang-format", "--dry-run", "--Werror",
                          *(path for path in self.edited if path.endswith((".cpp", ".hpp")))])


class Build(Followed):
    """The commands of the pages, one page after the other, in one build."""

    def test_every_command_succeeds(self):
        self.run_in_tree(CONFIGURE)
        for page in PAGES:
            edits.apply(page_text(page), self.tree)
            commands = console(page)
            self.assertTrue(any(command.startswith("ctest") for command in commands), page)
            for command in commands:
                output = self.run_in_tree(command)
                self.assertNotIn("No tests were found", output, command)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    COMPILER, BUILT = sys.argv.pop(1), str(pathlib.Path(sys.argv.pop(1)).resolve())
    while len(sys.argv) > 1 and sys.argv[1].endswith(".md"):
        PAGES.append(sys.argv.pop(1))
    PAGES = PAGES or with_edits()
    unittest.main()
