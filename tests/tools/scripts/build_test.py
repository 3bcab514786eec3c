#!/usr/bin/env python3
"""Tests of tools/build.sh: its output, with a fake cmake that only prints the output of the real
one."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
STEPS = "".join(f"[{n}/20] Building CXX object sim/CMakeFiles/equarx_sim.dir/a{n}.cpp.o\n" for n in range(1, 21))
FAILURE = "FAILED: sim/CMakeFiles/equarx_sim.dir/a.cpp.o\nsim/a.cpp:1:2: error: no such thing\n"


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "tools").mkdir()
        shutil.copy(TREE / "tools/build.sh", self.folder / "tools")

    def cmake(self, script):
        """A cmake that records its arguments and executes the script."""
        path = self.folder / "bin/cmake"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/bash\necho "$*" >>{self.folder}/calls\n[ "$1" = --build ] || exit 0\n{script}\n')
        path.chmod(0o755)

    def build(self, *arguments):
        environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        return subprocess.run(["bash", self.folder / "tools/build.sh", *arguments], env=environment,
                              capture_output=True, text=True)

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def test_a_short_build_is_quiet(self):
        self.cmake(f"printf '{STEPS}'")
        result = self.build("debug", "a", "b")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"^build: a b \(preset debug\)\nbuild: a b done in 0:0\d\n$")
        self.assertEqual(self.calls(), ["--preset debug", "--build --preset debug --target a b"])

    def test_a_long_build_shows_progress(self):
        self.cmake("echo '[5/20] Building CXX object sim/CMakeFiles/equarx_sim.dir/a.cpp.o'; sleep 11\n"
                   "echo '[10/20] Building CXX object sim/CMakeFiles/equarx_sim.dir/b.cpp.o'")
        lines = self.build("debug").stderr.splitlines()
        self.assertEqual(len(lines), 3, lines)
        self.assertRegex(lines[1], r"^build: 10 of 20 steps, 0:1\d, about 0:1\d left: "
                                   r"Building CXX object sim/b\.cpp\.o$")

    def test_compiler_output_is_shown_on_failure(self):
        self.cmake(f"printf '{STEPS}{FAILURE}[21/22] Linking\n'; exit 1")
        result = self.build("debug")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.splitlines(), [
            "build: everything (preset debug)", *FAILURE.splitlines(), "build: everything failed"])

    def test_other_failures_are_shown_whole(self):
        self.cmake("echo 'ninja: unknown target a'; exit 1")
        self.assertIn("unknown target a\n", self.build("debug", "a").stderr)

    def test_an_unconfigured_tree_gets_the_unity_build(self):
        self.cmake("")
        self.build("release")
        self.assertEqual(self.calls()[0], "--preset unity")

    def test_an_existing_configuration_is_kept(self):
        self.cmake("")
        (self.folder / "build/release").mkdir(parents=True)
        for value, preset in (("OFF", "release"), ("ON", "unity")):
            (self.folder / "build/release/CMakeCache.txt").write_text(f"CMAKE_UNITY_BUILD:UNINITIALIZED={value}\n")
            self.build("release")
            self.assertEqual(self.calls()[-1], f"--build --preset {preset}")


if __name__ == "__main__":
    unittest.main()
