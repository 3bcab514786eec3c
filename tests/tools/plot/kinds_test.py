"""Tests that the table of kinds is whole, and that the help and the page say what is in it."""
import re
import unittest

from picture_case import ROOT, PictureCase

import plot
from kinds import KINDS, OPTIONS, having

PAGE = (ROOT / "docs" / "plots.md").read_text(encoding="utf-8")
FOR_ALL = {"-o", "--format", "--width", "--title"}
COMMAND = re.compile(r"(?:^|`)plot (\w+) ([^`\n]*(?:\\\n[^`\n]*)*)", re.MULTILINE)


class Kinds(PictureCase):
    def test_options_are_of_kinds_and_kinds_have_options_that_exist(self):
        for name, kind in KINDS.items():
            self.assertLessEqual(set(kind.options), set(OPTIONS), name)
        for name in OPTIONS:
            self.assertNotEqual(having(name), [], name)

    def test_help_has_every_kind_and_every_example(self):
        text = plot.parser().format_help()
        for name, kind in KINDS.items():
            self.assertRegex(text, rf"(?m)^  {name} +{re.escape(kind.what)} \(of {re.escape(kind.reads)}\)$")
            for example in kind.examples:
                self.assertIn(example, text)

    def test_the_examples_can_be_parsed(self):
        for kind in KINDS.values():
            for example in kind.examples:
                if example.startswith("plot.py "):
                    arguments = plot.parser().parse_args(example.replace("\\\n", " ").replace("'", "").split()[1:])
                    plot.check(arguments)

    def test_the_page_has_every_kind_and_no_other(self):
        on_page = {found[1] for found in COMMAND.finditer(PAGE)}
        self.assertEqual(on_page, set(KINDS))

    def test_the_commands_of_the_page_have_options_that_exist(self):
        for kind, rest in COMMAND.findall(PAGE):
            flags = {OPTIONS[name].flag for name in KINDS[kind].options} | FOR_ALL
            used = set(re.findall(r"(?<!\S)--?[a-z]+", rest))
            self.assertLessEqual(used, flags, kind)

    def test_options_are_refused_where_a_kind_does_not_have_them(self):
        for name, option in OPTIONS.items():
            for kind in sorted(set(KINDS) - set(having(name))):
                with self.subTest(option=name, kind=kind):
                    self.check_refused([option.flag, f"not for {kind}"], kind, "input", option.flag, "x")

    def test_kinds_that_take_one_input_refuse_two(self):
        for name, kind in KINDS.items():
            if kind.only:
                self.check_refused([f"{name} takes {kind.only}"], name, "a", "b")


if __name__ == "__main__":
    unittest.main()
