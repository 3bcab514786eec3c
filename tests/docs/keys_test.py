"""Verifies the tables of keys and of options against the schemas and the program.

A table of keys has a comment above it, `<!-- keys of SCHEMA -->` or `<!-- keys of SCHEMA, in PATH
-->`; a table of options `<!-- options of SUBCOMMAND -->`. `*` in a path stands for any key.
Usage: keys_test.py EQUARX_SIM [unittest arguments]
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import markdown
import schema

PROGRAM = ""
KEYS_OF = re.compile(r"^keys of (\w+)(?:, in (\S+))?$")
OPTIONS_OF = re.compile(r"^options of (\w+)$")
LONG_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")
RESULT = "result"  # results_test.py has its own rules, because the program writes it
REQUIRED = "required"
HELP = {"--help", "--set", "--unset"}  # of every subcommand


def tables(pattern: re.Pattern) -> list[tuple[str, re.Match, markdown.Table]]:
    """All tables below a comment of this form, with their page."""
    found = []
    for page in markdown.pages():
        for table in markdown.tables(markdown.text(page)):
            made = pattern.match(table.comment)
            if made:
                found.append((page.name, made, table))
    return found


def as_json(cell: str):
    """The JSON value in a cell, or NOTHING if it has words instead."""
    try:
        return json.loads(cell.strip("`"))
    except json.JSONDecodeError:
        return schema.NOTHING


def pattern_of(path: str) -> re.Pattern:
    """A path with `*`, which stands for one key."""
    return re.compile("".join(r"[^.]+" if part == "*" else re.escape(part) for part in re.split(r"(\*)", path)))


class Keys(unittest.TestCase):
    """Keys of configurations and other input."""

    @classmethod
    def setUpClass(cls):
        cls.listed = {}  # by schema and path: page, and the documented default
        for page, made, table in tables(KEYS_OF):
            for row in table.rows:
                for key in markdown.keys(row[0]):
                    path = f"{made[2]}.{key}" if made[2] else key
                    default = row[table.columns.index("default")] if "default" in table.columns else ""
                    cls.listed.setdefault((made[1], path), []).append((page, default))

    def defined(self) -> dict[tuple[str, str], schema.Key]:
        return {(name, path): key for name in schema.names() if name != RESULT
                for path, key in schema.keys(name).items()}

    def test_every_key_is_in_a_table(self):
        """A key with keys of its own is described by these."""
        missing = [f"{name}: {path}" for (name, path), key in self.defined().items()
                   if not any(name == other and (pattern_of(at).fullmatch(path) or
                                                 key.has_children and at.startswith(path))
                              for other, at in self.listed)]
        self.assertEqual(missing, [], "keys that no table of docs/ has")

    def test_every_key_of_a_table_exists(self):
        defined = self.defined()
        unknown = [f"{pages[0][0]}: {name}: {path}" for (name, path), pages in self.listed.items() if name != RESULT
                   and not any(name == other and pattern_of(path).fullmatch(at) for other, at in defined)]
        self.assertEqual(unknown, [], "keys that no schema has")

    def test_no_key_is_in_two_tables(self):
        twice = [path for path, pages in self.listed.items() if len(pages) > 1]
        self.assertEqual(twice, [])

    def test_defaults_match_the_schema(self):
        for (name, path), key in self.defined().items():
            for page, cell in self.listed.get((name, path), []):
                with self.subTest(page=page, key=path):
                    if key.required:
                        self.assertIn(cell, (REQUIRED, ""))
                    else:
                        self.assertNotEqual(cell, REQUIRED)
                    documented = as_json(cell)
                    if key.default is not schema.NOTHING:
                        self.assertEqual(documented, key.default)
                    else:
                        self.assertIs(documented, schema.NOTHING, "the schema has no default")


class Options(unittest.TestCase):
    """Options of the command line."""

    def test_options_match_the_program(self):
        found = tables(OPTIONS_OF)
        self.assertLessEqual({"quantize", "tune"}, {made[1] for _, made, _ in found})
        listed_of = {}  # a subcommand may have several tables: one for each kind of input file
        for page, made, table in found:
            listed_of.setdefault(made[1], ([], set()))
            listed_of[made[1]][0].append(page)
            listed_of[made[1]][1].update(option for row in table.rows for option in LONG_OPTION.findall(row[0]))
        for subcommand, (page, listed) in listed_of.items():
            shown = subprocess.run([PROGRAM, subcommand, "--help"], capture_output=True, text=True, check=True).stdout
            options = shown[shown.index("OPTIONS"):] if "OPTIONS" in shown else shown[shown.index("Options"):]
            lines = [line for line in options.splitlines() if re.match(r"^  -", line)]
            real = {option for line in lines for option in LONG_OPTION.findall(re.split(r" {2,}", line.strip())[0])}
            self.assertEqual(listed - HELP, real - HELP, f"{page}: options of {subcommand}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
