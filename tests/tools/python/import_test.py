"""The import is lightweight, so that it is fast. (tests/benchmarks/python_benchmark measures it.)"""
import subprocess
import sys
import unittest


class Import(unittest.TestCase):
    def test_the_import_loads_none_of_the_large_packages(self):
        code = "import sys, equarx; print(*{'numpy', 'pandas', 'matplotlib', 'torch'} & set(sys.modules))"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                                        text=True).stdout, "\n")


if __name__ == "__main__":
    unittest.main()
