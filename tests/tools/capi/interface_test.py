"""The installed library, header and pkg-config file: the examples compile and run, and only the interface is exported.

Usage: interface_test.py CMAKE BUILD_FOLDER C_COMPILER
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD, COMPILER = sys.argv[1:4]
SOURCES = pathlib.Path(__file__).resolve().parents[3] / "tools" / "capi"
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def output(*command: str, **more) -> str:
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if run.returncode:
        raise AssertionError(f"{' '.join(map(str, command))} failed:\n{run.stdout}{run.stderr}")
    return run.stdout


class Interface(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="equarx-capi-")
        cls.addClassCleanup(temporary.cleanup)
        cls.prefix = pathlib.Path(temporary.name)
        output(CMAKE, "--install", BUILD, "--component", "capi", "--prefix", cls.prefix)
        cls.library = next(cls.prefix.rglob("libequarx.so"))

    def flags(self, *which: str) -> list[str]:
        folder = self.library.parent / "pkgconfig"
        return output("pkg-config", *which, "equarx", env={**os.environ, "PKG_CONFIG_PATH": str(folder)}).split()

    def compiled(self, source: pathlib.Path, *more: str) -> pathlib.Path:
        program = self.prefix / source.stem
        output(COMPILER, *FLAGS, *self.flags("--cflags"), source, "-o", program, *self.flags("--libs"),
               f"-Wl,-rpath,{self.library.parent}", *more)
        return program

    def test_the_example_in_c_prints_two_predictions(self):
        lines = output(self.compiled(SOURCES / "example.c")).splitlines()
        self.assertRegex(lines[0], r"^bf16 +\S+ +[\d.]+ us \([\d.]+ to [\d.]+\), [\d.]+ dB, \d and 0 roundings$")
        self.assertRegex(lines[1], r"^fp8-e4m3 +\S+ +[\d.]+ us \([\d.]+ to [\d.]+\), [\d.]+ dB, \d and [1-9] roundings$")
        times = [float(re.search(r"([\d.]+) us", line)[1]) for line in lines]
        self.assertLess(times[1], times[0])

    def test_the_example_in_python_has_the_structures_of_the_header(self):
        printed = output(sys.executable, "-B", SOURCES / "example.py", self.library)
        self.assertRegex(printed, r"^\S+ on 16 ranks: [\d.]+ us, exact: True\n$")

    def test_the_header_is_c_and_cpp(self):
        empty = self.prefix / "empty.cpp"
        empty.write_text("#include <equarx.h>\nint main() { return equarx_version() == nullptr; }\n")
        output("c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", *self.flags("--cflags"), empty, "-o",
               self.prefix / "empty", *self.flags("--libs"), f"-Wl,-rpath,{self.library.parent}")
        output(self.prefix / "empty")

    def test_only_the_functions_of_the_header_are_exported(self):
        declared = set(re.findall(r"^[a-z_ *]*\b(equarx_\w+)\(", (SOURCES / "equarx.h").read_text(), re.M))
        exported = {line.split()[2].split("@")[0] for line in output("nm", "-D", "--defined-only", self.library).splitlines()
                    if line.split()[1] != "A"}
        self.assertEqual(exported, declared)
        self.assertIn("equarx_predict", declared)

    def test_the_version_is_the_package_s(self):
        self.assertEqual(output("pkg-config", "--modversion", "equarx", env={
            **os.environ, "PKG_CONFIG_PATH": str(self.library.parent / "pkgconfig")}).strip(),
            self.library.resolve().name.removeprefix("libequarx.so."))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
