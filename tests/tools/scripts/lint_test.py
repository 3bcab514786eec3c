#!/usr/bin/env python3
"""Tests of tools/lint: the language lint and the sources that a change reaches, each in a small
repository."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[3] / "tools" / "lint"


class Repository(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.git("init", "--quiet")

    def git(self, *arguments, date="2026-01-01T00:00:00"):
        environment = dict(os.environ, GIT_COMMITTER_DATE=date, GIT_AUTHOR_DATE=date)
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.folder, check=True,
                       env=environment, capture_output=True)

    def write(self, **files):
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "--all")

    def run_tool(self, name, *arguments):
        environment = {key: value for key, value in os.environ.items() if key != "EQUARX_BASE"}
        return subprocess.run(["/usr/bin/python3", "-B", TOOLS / name, *arguments], cwd=self.folder, env=environment,
                              capture_output=True, text=True, check=False)


class Language(Repository):
    def lint(self, *arguments):
        ran = self.run_tool("language.py", *arguments)
        return ran.returncode, ran.stdout

    def test_idiomatic_text_passes(self):
        self.write(a_DOT_cpp="// Returns the bytes of each link.\nint a();\n", b_DOT_md="Prints a table.\n")
        code, output = self.lint()
        self.assertEqual(code, 0)
        self.assertIn("comments: 0 markers in 6 words", output)
        self.assertIn("docs: 0 markers in 3 words", output)

    def test_each_kind_of_marker_fails_with_its_line(self):
        for text in ("Sends what is left.", "The rank that of those has it.", "The thread tells the core.",
                     "Nobody waits.".lower(), "The lane behind it.", "Of the ranks, the first.", "Done. What remains."):
            with self.subTest(text):
                self.write(a_DOT_cpp=f"int a();\n/// {text}\n")
                code, output = self.lint()
                self.assertEqual(code, 1, output)
                self.assertIn("a.cpp:2: ", output)
                self.assertIn(text, output)

    def test_comments_messages_and_docs_are_distinguished(self):
        self.write(a_DOT_cpp='auto a = "nobody says how fast";\nauto b = "nobody";  // short\n',
                   tests__b_DOT_cpp='auto a = "nobody says how fast";\n', c_DOT_md="```\nnobody said\n```\nFine.\n",
                   d_DOT_py='"""A file."""\nTEXT = "nobody said so"  # nobody\n', e_DOT_sh="echo nobody said\n")
        code, output = self.lint()
        self.assertEqual(code, 1)
        self.assertIn("messages: 2 markers in 4 words", output)
        self.assertIn("comments: 1 markers in 4 words", output)
        self.assertIn("docs: 0 markers", output)

    def test_the_bar_and_the_paths_are_options(self):
        self.write(a_DOT_md="Nobody " + "word " * 999, b__c_DOT_md="nobody")
        self.assertEqual(self.lint("a.md", "--bar", "1")[0], 0)
        # only a capital at the start of a sentence
        self.assertEqual(self.lint("a.md", "--bar", "0.9")[0], 0)
        self.assertEqual(self.lint("b")[0], 1)


class Changed(Repository):
    def setUp(self):
        super().setUp()
        self.write(a_DOT_hpp="int a();\n", b_DOT_hpp='#include "a.hpp"\n', b_DOT_cpp='#include "b.hpp"\nint b();\n',
                   c__c_DOT_cpp="// first\nint c();\n")
        self.git("commit", "--quiet", "--message", "first")

    def reached(self, *arguments):
        ran = self.run_tool("changed.py", *arguments)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout.split()

    def commit(self, **files):
        self.write(**files)
        self.git("commit", "--quiet", "--message", "next", date="2026-01-03T00:00:00")

    def test_includers_of_a_changed_header_are_reached(self):
        self.commit(a_DOT_hpp="long a();\n")
        self.assertEqual(self.reached(), ["a.hpp", "b.cpp", "b.hpp"])

    def test_own_changes_reach_no_includers(self):
        self.commit(a_DOT_hpp="long a();\n")
        self.assertEqual(self.reached("--own"), ["a.hpp"])
        self.assertEqual(self.reached("--own", "c"), [])

    def test_changed_comments_reach_nothing(self):
        self.commit(c__c_DOT_cpp="// second\n\nint c();\n")
        self.assertEqual(self.reached(), [])

    def test_folders_restrict_the_result(self):
        self.commit(a_DOT_hpp="long a();\n", c__c_DOT_cpp="long c();\n")
        self.assertEqual(self.reached("c"), ["c/c.cpp"])

    def test_without_a_base_everything_counts(self):
        self.assertEqual(len(self.reached()), 4)

    def test_units_contain_reached_files(self):
        self.commit(a_DOT_hpp="long a();\n")
        unity = self.folder / "Unity" / "u.cxx"
        unity.parent.mkdir()
        unity.write_text(f'#include "{self.folder}/b.cpp"\n')
        commands = self.folder / "commands.json"
        commands.write_text(json.dumps([{"file": str(unity)}, {"file": str(self.folder / "c/c.cpp")}]))
        self.assertEqual(self.reached("--units", str(commands)), [str(unity)])


if __name__ == "__main__":
    unittest.main()
