#!/usr/bin/env python3
"""Tests of check_mirror.py on generated trees."""
import pathlib
import tempfile
import unittest

import check_mirror


class Mirror(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def make(self, *names):
        for name in names:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def strays(self):
        return [line.split(":")[0] for line in check_mirror.strays(self.root)]

    def test_a_test_needs_the_file_that_it_is_named_after(self):
        self.make("sim/a.cpp", "sim/b.hpp", "tests/sim/a_test.cpp", "tests/sim/b_test.cpp")
        self.assertEqual(self.strays(), [])
        self.make("tests/sim/c_test.cpp", "tests/models/a_test.cpp", "tests/sim/a_side_test.cpp")
        self.assertEqual(self.strays(), ["tests/models/a_test.cpp", "tests/sim/a_side_test.cpp",
                                         "tests/sim/c_test.cpp"])

    def test_the_message_has_a_remedy(self):
        self.make("tests/sim/c_test.cpp")
        (line,) = check_mirror.strays(self.root)
        self.assertIn("sim/c.cpp and .hpp are missing", line)
        self.assertIn("tests/invariants/", line)

    def test_invariants_and_helpers_need_no_file(self):
        self.make("tests/invariants/x_test.cpp", "tests/invariants/deep/y_test.cpp", "tests/support/z_test.cpp")
        self.assertEqual(self.strays(), [])

    def test_an_aspect_needs_an_existing_file(self):
        self.make("tests/sim/time_executor_hbm_test.cpp")
        self.assertEqual(self.strays(), ["tests/sim/time_executor_hbm_test.cpp"])
        self.make("sim/time_executor.cpp")
        self.assertEqual(self.strays(), [])

    def test_commands_are_tested_as_such_but_not_files_below(self):
        self.make("tests/tools/cli/run_test.cpp", "tests/tools/cli/pages/run_test.cpp")
        self.assertEqual(self.strays(), ["tests/tools/cli/pages/run_test.cpp"])

    def test_files_without_a_test_are_listed_once(self):
        self.make("sim/a.cpp", "sim/a.hpp", "sim/b.hpp", "tests/sim/b_test.cpp")
        self.assertEqual(check_mirror.untested(self.root), ["sim/a"])


if __name__ == "__main__":
    unittest.main()
