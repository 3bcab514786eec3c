"""The installed package: by CMake below a prefix, and by pip in a virtual environment, without a
network."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ["EQUARX_BUILD"]).resolve()
CALL = ("import equarx, numpy, sys\n"
        "result = equarx.run({'hardware': 'tpu-v5e', 'topology': {'slice': '4x2'}, 'tensor': {'bytes': '64 KiB'},"
        "'collectives': [{'algorithm': 'equarx'}], 'engine': 'simgrid'})\n"
        "print(equarx.__file__, equarx._program.path(), result.baseline.engine)\n"
        "equarx.allreduce(numpy.ones((4, 100), 'f4'), 'int8')\n")


def environment(**more) -> dict:
    """Without the package of the build tree."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "EQUARX_SIM")} | more


class Installed(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()

    def run_there(self, python, **more):
        ran = subprocess.run([python, "-c", CALL], cwd=self.folder, env=environment(**more), capture_output=True,
                             text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        module, program, engine = ran.stdout.split()
        for path in (module, program):
            self.assertTrue(pathlib.Path(path).is_relative_to(self.folder), path)
        self.assertEqual(engine, "simgrid")

    def test_below_a_prefix(self):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.folder], check=True, stdout=subprocess.DEVNULL)
        package = self.folder / "lib" / "python3" / "dist-packages"
        self.assertTrue((package / "equarx" / "py.typed").is_file())
        self.run_there(sys.executable, PYTHONPATH=str(package))

    def test_by_pip(self):
        made = subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", self.folder / "venv"],
                              capture_output=True, check=False)
        if made.returncode != 0:
            self.skipTest("without python3-venv")
        source = self.folder / "source"  # pip writes next to the sources that it builds
        source.mkdir()
        for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "CMakeLists.txt"):
            shutil.copy(ROOT / name, source)
        shutil.copytree(ROOT / "tools" / "python" / "equarx", source / "tools" / "python" / "equarx")
        python = self.folder / "venv" / "bin" / "python"
        ran = subprocess.run([python, "-m", "pip", "install", "--no-build-isolation", "--no-index", "--no-deps", "."],
                             cwd=source, env=environment(EQUARX_BUILD=str(BUILD)), capture_output=True, text=True,
                             check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        shutil.rmtree(source)
        self.run_there(python)


if __name__ == "__main__":
    unittest.main()
