"""Builds the Python package's module and the program by CMake, for the interpreter that runs this.

The build folder is build/release if it was built for this interpreter, else setuptools' own.
EQUARX_BUILD names a folder in which everything is built.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
MODULE = "_core" + sysconfig.get_config_var("EXT_SUFFIX")


class ByCMake(build_ext):
    """Puts everything that CMake builds and installs into the package."""

    def run(self):
        build = self._build()
        package = pathlib.Path(self.build_lib, "equarx")
        if self.inplace:
            package = ROOT / "tools" / "python" / "equarx"
        package.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
            self._copy(pathlib.Path(prefix), package)
        self.copy_file(str(build / "python" / "equarx" / MODULE), str(package / MODULE))

    def _build(self) -> pathlib.Path:
        named = os.environ.get("EQUARX_BUILD")
        if named:
            return pathlib.Path(named).resolve()
        build = ROOT / "build" / "release"
        if not (build / "python" / "equarx" / MODULE).is_file():
            build = pathlib.Path(self.build_temp).resolve() / "cmake"
            generator = ["-G", "Ninja"] if shutil.which("ninja") else []  # it uses all cores
            subprocess.run(["cmake", *generator, "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                            "-DEQUARX_TESTS=OFF", "-DEQUARX_BENCHMARKS=OFF", "-DCMAKE_UNITY_BUILD=ON",
                            f"-DEQUARX_PYTHON_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "equarx_python", "equarx-sim", "equarx-sim-shell"],
                       check=True)
        if not (build / "python" / "equarx" / MODULE).is_file():
            raise SystemExit("error: CMake has left the Python package out, and says why above; bash tools/setup.sh "
                             "installs what it needs")
        return build

    def _copy(self, prefix: pathlib.Path, package: pathlib.Path):
        """The program, its module, and the configurations that it finds by their names."""
        program = package / "_program"
        for pattern in ("bin/equarx-sim", "lib*/**/equarx-sim/*.so", "share/equarx-sim/configs/**/*.json",
                        "share/equarx-sim/plot/**/*.py"):
            for file in prefix.glob(pattern):
                target = program / file.relative_to(prefix)
                target.parent.mkdir(parents=True, exist_ok=True)
                self.copy_file(str(file), str(target))


def version() -> str:
    """Version of the project, from CMakeLists.txt."""
    return re.search(r"project\(equarx-sim VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


setup(version=version(), ext_modules=[Extension("equarx._core", [])], cmdclass={"build_ext": ByCMake},
      package_data={"equarx": ["py.typed", "*.pyi"]})
