#!/usr/bin/env python3
"""Runs test files of the plots in one process, because importing matplotlib takes longer than most of them.

Usage: run.py FILE...   (paths relative to this folder)
"""
import importlib.util
import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent


def load(file: str) -> unittest.TestSuite:
    """Tests of one file, which gets a module name of its own, as files of different folders share names."""
    name = file.removesuffix(".py").replace("/", ".")
    spec = importlib.util.spec_from_file_location(name, FOLDER / file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main() -> int:
    suites = [load(file) for file in sys.argv[1:]]
    for file, suite in zip(sys.argv[1:], suites):
        if suite.countTestCases() == 0:
            print(f"{file}: no tests", file=sys.stderr)
            return 1
    return 0 if unittest.TextTestRunner().run(unittest.TestSuite(suites)).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
