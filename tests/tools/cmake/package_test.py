#!/usr/bin/env python3
"""Tests that the Debian package is complete: builds it, unpacks it into an empty root, and uses it
there.

Usage: package_test.py BUILD_FOLDER, with the program already built.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop()).resolve()
CONFIG = "configs/experiments/allreduce_v5e_4x2.json"
SWEEP = "configs/sweeps/size_and_slice.json"


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        subprocess.run(["cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", folder / "made"],
                       check=True, capture_output=True, cwd=BUILD)
        [cls.package] = (folder / "made").glob("equarx-sim_*.deb")
        subprocess.run(["dpkg-deb", "-x", cls.package, folder / "root"], check=True)
        cls.usr = folder / "root" / "usr"
        cls.data = cls.usr / "share" / "equarx-sim"
        cls.work = folder / "work"
        cls.work.mkdir()

    def run_installed(self, program: str, *arguments, cwd=None) -> subprocess.CompletedProcess:
        """Runs it outside any source tree; it must succeed."""
        ran = subprocess.run([self.usr / "bin" / program, *arguments], cwd=cwd or self.work, capture_output=True,
                             text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran

    def field(self, name: str) -> str:
        return subprocess.run(["dpkg-deb", "-f", self.package, name], check=True, capture_output=True, text=True).stdout

    def test_it_depends_on_its_libraries_and_recommends_those_for_pictures(self):
        for library in ("libsimgrid", "libc6", "libfmt", "libgsl"):
            self.assertIn(library, self.field("Depends"))
        for module in ("python3-matplotlib", "python3-numpy"):
            self.assertIn(module, self.field("Recommends"))

    def test_it_contains_no_files_only_for_the_source_tree(self):
        names = [path.name for path in self.usr.rglob("*") if path.is_file()]
        for ending in (".pyc", "_test.py", ".hpp", ".a", "CMakeLists.txt"):
            self.assertEqual([name for name in names if name.endswith(ending)], [])

    def test_commands_of_help_and_pages_find_their_files_in_any_folder(self):
        ran = self.run_installed("equarx-sim", "run", CONFIG, "--json", "--set", "/engine=simgrid", "--set",
                                 "/numerics=off")
        self.assertIn(f"{CONFIG} not found here; reading {self.data / CONFIG}", ran.stderr)
        self.assertEqual(len(json.loads(ran.stdout)["runs"]), 2)
        self.assertEqual(ran.stderr.count("\n"), 1)
        self.run_installed("equarx-sim", "quantize", "tests/fixtures/activations/layer1_ranks8_tokens32.npy")
        self.run_installed("equarx-sim", "calibrate", "configs/calibrations/made_up_chip.json")
        self.run_installed("equarx-sim", "sweep", "experiments/studies/examples/gain_by_slice/sweep.json", "--dry-run")

    def test_a_user_s_own_file_takes_precedence(self):
        own = self.work / CONFIG
        own.parent.mkdir(parents=True)
        self.addCleanup(own.unlink)
        own.write_text((self.data / CONFIG).read_text().replace("4x2", "2x2"))
        ran = self.run_installed("equarx-sim", "run", CONFIG, "--set", "/numerics=off")
        self.assertEqual(ran.stderr, "")
        self.assertIn("slice 2x2", ran.stdout)

    def test_a_missing_file_is_named_as_given(self):
        ran = subprocess.run([self.usr / "bin" / "equarx-sim", "run", "configs/none.json"], cwd=self.work,
                             capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stderr.count("\n")), (2, 1))
        self.assertIn("configs/none.json", ran.stderr)
        self.assertNotIn("share", ran.stderr)

    def test_pictures_are_drawn_from_results(self):
        self.run_installed("equarx-sim", "sweep", SWEEP, "-o", "results")
        ran = self.run_installed("equarx-plot", "speedup", "results/results.jsonl", "--format", "pdf")
        self.assertEqual((ran.stdout, ran.stderr), ("speedup.pdf\n", ""))
        self.assertTrue((self.work / "speedup.pdf").read_bytes().startswith(b"%PDF-"))
        self.run_installed("equarx-sim", "advise", CONFIG, "--formats", "int8", "--plot", "advice.png")
        self.assertTrue((self.work / "advice.png").read_bytes().startswith(b"\x89PNG"))
        self.assertEqual(list(self.data.rglob("__pycache__")), [])

    def test_the_library_has_its_header_and_its_links(self):
        self.assertTrue((self.usr / "include" / "equarx.h").is_file())
        [library] = self.usr.rglob("libequarx.so")
        self.assertTrue(library.resolve().is_file())
        self.assertTrue((library.parent / "pkgconfig" / "equarx.pc").is_file())

    def test_help_uses_the_installed_command_names(self):
        text = self.run_installed("equarx-plot", "--help").stdout
        self.assertIn("usage: equarx-plot", text)
        self.assertIn("  equarx-plot study results/", text)
        self.assertNotIn("plot.py", text)

    def test_docs_and_schemas_are_in_the_documented_folders(self):
        text = self.run_installed("equarx-sim", "--help").stdout
        self.assertIn("share/equarx-sim of the installation", text)
        for name in ("docs/configuration.md", "docs/plots.md", "configs/schema/experiment.schema.json",
                     "experiments/studies/equarx_paper/study.json"):
            self.assertTrue((self.data / name).is_file(), name)

    def test_python_finds_the_package_and_the_program(self):
        package = self.usr / "lib" / "python3" / "dist-packages"
        if not (BUILD / "python").is_dir():
            self.skipTest("the Python package is not built")
        ran = subprocess.run(["/usr/bin/python3", "-B", "-c", "import equarx; print(equarx._program.path())"],
                             cwd=self.work, env={"PYTHONPATH": str(package)}, capture_output=True, text=True, check=False)
        self.assertEqual((ran.stdout, ran.stderr), (f"{self.usr / 'bin' / 'equarx-sim'}\n", ""))

    def test_notebooks_find_their_tensors_there(self):
        if not (BUILD / "python").is_dir():
            self.skipTest("the Python package is not built")
        package = self.usr / "lib" / "python3" / "dist-packages"
        for name, line in (("my_tensor_through_every_format", "8 ranks of (32, 512), float32"),
                           ("what_do_3_bits_cost", "weights (512, 128), largest")):
            script = self.data / "experiments" / "studies" / "notebooks" / f"{name}.py"
            self.assertTrue(script.with_suffix(".ipynb").is_file())
            ran = subprocess.run(["/usr/bin/python3", "-B", script], cwd=self.work, capture_output=True, text=True,
                                 check=False, env={"PYTHONPATH": str(package), "MPLBACKEND": "agg"})
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertIn(line, ran.stdout)

    def test_a_study_is_reproduced(self):
        ran = self.run_installed("equarx-sim", "reproduce", "experiments/studies/validation", "-o", self.work / "study",
                                 cwd=self.data)
        self.assertEqual(ran.stderr.count("error"), 0)
        self.assertTrue((self.work / "study" / "rows.csv").is_file())
        self.run_installed("equarx-plot", "paper", "study/rows.csv", "--format", "png")


if __name__ == "__main__":
    unittest.main()
