"""Tests that the table of kinds is complete, and that help and page agree with it."""
import re
import unittest

from picture_case import ROOT, PictureCase

import plot
from kinds import KINDS, OPTIONS, having
from read import file_kinds

PAGE = (ROOT / "docs" / "plots.md").read_text(encoding="utf-8")
FOR_ALL = {"-o", "--format", "--width", "--title"}
COMMAND = re.compile(r"(?:^|`)plot (\w+) ([^`\n]*(?:\\\n[^`\n]*)*)", re.MULTILINE)


class Kinds(PictureCase):
    def test_kinds_and_options_match(self):
        for name, kind in KINDS.items():
            self.assertLessEqual(set(kind.options), set(OPTIONS), name)
        for name in OPTIONS:
            self.assertNotEqual(having(name), [], name)

    def test_help_has_every_kind_and_every_example(self):
        text = plot.parser().format_help()
        for name, kind in KINDS.items():
            self.assertRegex(text, rf"(?m)^  {name} +{re.escape(kind.what)} \(from {re.escape(kind.reads)}\)$")
            for example in kind.examples:
                self.assertIn(example, text)

    def test_the_examples_can_be_parsed(self):
        for kind in KINDS.values():
            for example in kind.examples:
                if example.startswith("plot.py "):
                    arguments = plot.parser().parse_args(example.replace("\\\n", " ").replace("'", "").split()[1:])
                    plot.check(arguments)

    def test_the_page_lists_exactly_the_kinds(self):
        on_page = {found[1] for found in COMMAND.finditer(PAGE)}
        self.assertEqual(on_page, set(KINDS))

    def test_commands_of_the_page_have_valid_options(self):
        for kind, rest in COMMAND.findall(PAGE):
            flags = {OPTIONS[name].flag for name in KINDS[kind].options} | FOR_ALL
            used = set(re.findall(r"(?<!\S)--?[a-z]+", rest))
            self.assertLessEqual(used, flags, kind)

    def test_rejects_options_of_other_kinds(self):
        for name, option in OPTIONS.items():
            for kind in sorted(set(KINDS) - set(having(name))):
                with self.subTest(option=name, kind=kind):
                    self.check_refused([option.flag, f"not for {kind}"], kind, "input", option.flag, "x")

    def test_every_kind_of_file_that_a_kind_draws_exists(self):
        known = {kind for kind, _ in file_kinds.KEYS} | {file_kinds.POINTS, file_kinds.TABLE, file_kinds.ROWS}
        for name, kind in KINDS.items():
            self.assertLessEqual(set(kind.draws), known, name)

    def test_kinds_that_take_one_input_refuse_two(self):
        for name, kind in KINDS.items():
            if kind.only:
                self.check_refused([f"{name} takes {kind.only}"], name, "a", "b")


if __name__ == "__main__":
    unittest.main()
