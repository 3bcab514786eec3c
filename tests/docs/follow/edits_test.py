"""Edits of pages: places, application, and errors."""
import pathlib
import tempfile
import unittest

import edits


def page(place: str, block: str = "new", language: str = "cpp") -> str:
    return f"Words.\n\n{place}\n\n```{language}\n{block}\n```\n"


class Edits(unittest.TestCase):
    """Pages with one block, on a tree with the file a.cpp."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        (self.root / "a.cpp").write_text("one\n  two {3}\n  two {4}\n", encoding="utf-8")

    def applied(self, text: str, path: str = "a.cpp") -> str:
        edits.apply(text, self.root)
        return (self.root / path).read_text(encoding="utf-8")

    def test_after(self):
        self.assertEqual(self.applied(page("In `a.cpp`, after `two {3}`:")), "one\n  two {3}\nnew\n  two {4}\n")

    def test_before(self):
        self.assertEqual(self.applied(page("**Bold.** In `a.cpp`, before `two {4}`:")), "one\n  two {3}\nnew\n  two {4}\n")

    def test_before_the_first_line(self):
        self.assertEqual(self.applied(page("In `a.cpp`, before `one`:")), "new\none\n  two {3}\n  two {4}\n")

    def test_instead_of(self):
        self.assertEqual(self.applied(page("In `a.cpp`, instead of `{3}`:", "{5}\n  six")),
                         "one\n  two {5}\n  six\n  two {4}\n")

    def test_new_file(self):
        self.assertEqual(self.applied(page("New file `b/c.cpp`:"), "b/c.cpp"), "new\n")
        self.assertEqual(edits.new_files(page("New file `b/c.cpp`:")), ["b/c.cpp"])

    def test_a_place_that_is_absent_or_not_unique_is_an_error_with_the_line(self):
        for place in ("In `a.cpp`, after `three`:", "In `a.cpp`, after `two`:", "In `z.cpp`, after `one`:", "New file `a.cpp`:"):
            with self.subTest(place=place), self.assertRaisesRegex(edits.EditError, "^line 5: "):
                edits.apply(page(place), self.root)

    def test_blocks_without_a_place_are_found(self):
        self.assertEqual(edits.without_place(page("In the file, somewhere:")), [5])
        self.assertEqual(edits.without_place(page("Commands:", language="console")), [])
        self.assertEqual(edits.without_place(page("New file `b.cpp`:")), [])


if __name__ == "__main__":
    unittest.main()
