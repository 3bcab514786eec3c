"""Checks of the project's pages that need no program."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "follow"))

import edits
import markdown

ROOT = markdown.ROOT
WIDTH = 120
MOST_BYTES = 100_000  # of a picture
CODE_OF = re.compile(r"^<!-- code of (\S+) -->$")  # above a block of Python from a file
PATH = re.compile(r"`((?:experiments|models|sim|topologies|tests|tools|configs|docs)/[a-z0-9_./*-]+)`")
HEADING = re.compile(r"^#+ (.*)$")
MORE = ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "experiments/README.md"]


def anchors(path: pathlib.Path) -> set[str]:
    """Possible anchors of links to this page."""
    found = set()
    for _, line in markdown.without_blocks(markdown.text(path)):
        heading = HEADING.match(line)
        if heading:
            words = re.sub(r"[^\w\- ]", "", heading[1].lower())
            found.add(words.replace(" ", "-"))
    return found


class Pages(unittest.TestCase):
    """README.md, docs/ and all other pages for people."""

    def pages(self) -> list[pathlib.Path]:
        return [*markdown.pages(), *(ROOT / name for name in MORE), *sorted((ROOT / "experiments" / "studies").glob("*/README.md")),
                *sorted((ROOT / "experiments" / "studies" / "examples").glob("*/README.md"))]

    def test_links_resolve(self):
        for page in self.pages():
            prose = "\n".join(line for _, line in markdown.without_blocks(markdown.text(page)))
            for link in markdown.LINK.findall(prose):
                if link.startswith("http"):
                    continue
                name, _, anchor = link.partition("#")
                target = (page.parent / name).resolve() if name else page
                with self.subTest(page=page.name, link=link):
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(target))

    def test_paths_exist(self):
        for page in [*markdown.pages(), *(ROOT / name for name in MORE)]:
            added = edits.new_files(markdown.text(page))
            for path in PATH.findall(markdown.text(page)):
                if path in added:
                    continue
                with self.subTest(page=page.name, path=path):
                    self.assertTrue(any(ROOT.glob(path.rstrip("/"))) or any(ROOT.glob(f"{path}.*")))

    def test_prose_is_wrapped(self):
        for page in self.pages():
            for number, line in markdown.without_blocks(markdown.text(page)):
                if len(line) > WIDTH and not line.startswith("|") and " " in line.strip():
                    self.fail(f"{page.relative_to(ROOT)}:{number} has {len(line)} columns; wrap prose at {WIDTH}")

    def test_every_table_has_a_heading(self):
        for page in self.pages():
            lines = markdown.without_blocks(markdown.text(page))
            for (_, before), (number, line), (_, after) in zip([(0, ""), *lines], lines, [*lines[1:], (0, "")]):
                if line.startswith("|") and not before.startswith("|"):
                    self.assertRegex(after, r"^\|[-|: ]+\|$", f"{page.relative_to(ROOT)}:{number}")

    def test_tables_have_as_many_cells_in_each_row(self):
        for page in self.pages():
            for table in markdown.tables(markdown.text(page)):
                for row in table.rows:
                    self.assertEqual(len(row), len(table.columns), f"{page.name}: {row}")

    def test_blocks_of_cpp_are_edits(self):
        """follow/ applies and compiles them."""
        for page in self.pages():
            lines = markdown.text(page).splitlines()
            for block in markdown.blocks(markdown.text(page)):
                if block.language == "cpp":
                    self.assertIsNotNone(edits.edit_of(lines, block), f"{page.name}:{block.line} names no place above")

    def test_quoted_python_is_that_of_its_file(self):
        quoted = 0
        for page in self.pages():
            lines = markdown.text(page).splitlines()
            for block in markdown.blocks(markdown.text(page)):
                made = CODE_OF.match(lines[block.line - 3]) if block.line > 2 else None
                if made:
                    self.assertEqual(block.language, "python", f"{page.name}:{block.line}")
                    self.assertIn("\n".join(block.lines), markdown.text(ROOT / made[1]), f"{page.name}:{block.line}")
                    quoted += 1
        self.assertGreater(quoted, 0)

    def test_the_index_has_every_page(self):
        linked = markdown.LINK.findall(markdown.text(ROOT / "docs" / "README.md"))
        missing = {path.name for path in (ROOT / "docs").glob("*.md")} - set(linked) - {"README.md"}
        self.assertEqual(missing, set(), "docs/README.md does not say when to read these")

    def test_the_version_is_the_newest_of_the_changelog(self):
        [newest, *_] = re.findall(r"^## \[(.*?)\]", markdown.text(ROOT / "CHANGELOG.md"), re.MULTILINE)
        self.assertIn(f"\nversion: {newest}\n", markdown.text(ROOT / "CITATION.cff"))

    def test_pictures_are_small_and_used(self):
        shown = {(page.parent / link).resolve() for page in self.pages()
                 for link in markdown.LINK.findall(markdown.text(page))}
        for picture in (ROOT / "docs" / "pictures").glob("*.[ps][nv]g"):
            self.assertLess(picture.stat().st_size, MOST_BYTES, picture.name)
            self.assertIn(picture.resolve(), shown, "no page shows it")


if __name__ == "__main__":
    unittest.main()
