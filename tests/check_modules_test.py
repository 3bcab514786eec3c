#!/usr/bin/env python3
"""Tests of check_modules.py on generated trees."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_modules

HERE = pathlib.Path(__file__).parent


class MadeUpTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def found(self):
        return list(check_modules.violations(self.root))

    def test_allowed_edges_pass(self):
        self.write("experiments/plan/plan.cpp",
                   '#include "experiments/config/config.hpp"\n#include <vector>\n#include <sys/stat.h>\n')
        self.assertEqual(self.found(), [])

    def test_a_backward_edge_is_found_with_its_remedy(self):
        self.write("experiments/config/json.cpp", '  #  include "experiments/plan/plan.hpp"\n')
        (message,) = self.found()
        self.assertIn("experiments/config/json.cpp: experiments/config must not include "
                      "experiments/plan/plan.hpp", message)
        self.assertIn("move what it needs to a module below both", message)

    def test_a_module_with_a_common_name_prefix_is_a_different_one(self):
        self.write("experiments/run/run.cpp", '#include "experiments/plan_b/plan.hpp"\n')
        self.assertEqual(len(self.found()), 1)

    def test_a_library_in_a_header_is_found_but_not_in_a_source_file(self):
        self.write("base/input/reader.hpp", "#include <nlohmann/json.hpp>\n")
        self.write("base/input/reader.cpp", "#include <nlohmann/json.hpp>\n")
        (message,) = self.found()
        self.assertIn("base/input/reader.hpp: includes nlohmann/json.hpp", message)

    def test_forward_declarations_of_a_library_are_allowed(self):
        self.write("base/input/reader.hpp", "#include <nlohmann/json_fwd.hpp>\n")
        self.write("base/input/json.hpp", "#include <nlohmann/json.hpp>\n")
        self.assertEqual(self.found(), [])

    def test_a_header_that_reaches_a_library_through_another_is_found(self):
        self.write("experiments/config/config.hpp", '#include "base/input/json.hpp"\n')
        (message,) = self.found()
        self.assertIn("experiments/config/config.hpp: includes base/input/json.hpp", message)

    def test_a_file_in_no_module_is_found(self):
        self.write("experiments/misc.cpp", "")
        (message,) = self.found()
        self.assertIn("experiments/misc.cpp: is in no module", message)

    def test_a_cycle_is_found(self):
        modules = {"a": {"b"}, "b": {"c", "fmt/"}, "c": {"a"}, "d": {"a"}}
        self.assertEqual([message.split(":")[0] for message in check_modules.circles(modules)],
                         ["a", "b", "c"])

    def test_the_command_fails_on_a_forbidden_edge(self):
        self.write("sim/machine.cpp", '#include "experiments/plan/plan.hpp"\n')
        command = [sys.executable, str(HERE / "check_modules.py"), str(self.root)]
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 1)


if __name__ == "__main__":
    unittest.main()
