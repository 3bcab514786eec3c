#!/usr/bin/env python3
"""Checks that the test tree mirrors the source tree: tests/FOLDER/FILE_test.cpp tests FOLDER/FILE.

Tests of several files together are in tests/invariants/. Usage: check_mirror.py REPOSITORY
"""
import pathlib
import sys

# Tests of no single file, tests of the docs, and helpers of tests.
EXEMPT = ("invariants/", "support/", "docs/", "fuzz/", "benchmarks/")
# Folders whose tests are not named after files.
FOLDERS = {"tools/cli": "the program by its command line, one file for each command"}
# Files with several test files, one per aspect: FILE_ASPECT_test.cpp.
SIDES = {
    "experiments/step/machine": ("classes",),
    "models/collectives/ring_program": ("torus",),
    "models/numerics/codec/block_codec": ("columns", "counts", "scales", "stochastic"),
    "models/values/value_executor": ("arithmetic", "casts", "collectives", "memory", "exponents", "feedback", "hierarchical",
                                     "neighbors", "quickreduce", "row_counts", "shared_scale"),
    "sim/time_executor": ("disturbance", "hbm"),
}
SOURCES = ("base", "topologies", "models", "sim", "experiments", "importers", "tools/cli")
SUFFIXES = (".cpp", ".hpp", "-inl.h")


def is_unit(root: pathlib.Path, name: str) -> bool:
    return any((root / (name + suffix)).is_file() for suffix in SUFFIXES)


def has_source(root: pathlib.Path, test: str) -> bool:
    """True if the file exists that `test`, a path under tests/, is named after."""
    name = test.removesuffix("_test.cpp")
    sides = (unit for unit, names in SIDES.items() for side in names if name == f"{unit}_{side}")
    return is_unit(root, next(sides, name))


def strays(root: pathlib.Path):
    for path in sorted((root / "tests").rglob("*_test.cpp")):
        relative = path.relative_to(root / "tests")
        test = relative.as_posix()
        if test.startswith(EXEMPT) or relative.parent.as_posix() in FOLDERS:
            continue
        if not has_source(root, test):
            yield (f"tests/{test}: {test.removesuffix('_test.cpp')}.cpp and .hpp are missing; name it "
                   "after the file that it tests, or move it to tests/invariants/")


def untested(root: pathlib.Path) -> list[str]:
    """Source files (a .cpp and its .hpp are one) without a test file of their own."""
    units = {path.relative_to(root).with_suffix("").as_posix()
             for module in SOURCES for path in (root / module).rglob("*.[ch]pp")}
    return sorted(unit for unit in units if not (root / "tests" / f"{unit}_test.cpp").is_file())


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    found = list(strays(root))
    print("\n".join(found) if found else "every test is at the place of its source file")
    missing = untested(root)
    print(f"{len(missing)} source files have no test file of their own: {', '.join(missing)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
