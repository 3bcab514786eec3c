"""equarx.check_vectors() and its command line."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import equarx
import numpy

CONFIG = {"hardware": "h100", "topology": {"switch": 4}, "tensor": {"shape": [4096], "dtype": "fp16"},
          "collectives": [{"algorithm": "one-shot"}]}


def half(path, name):
    """A float16 tensor of a .safetensors file."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    begin, end = json.loads(data[8:8 + size])[name]["data_offsets"]
    return numpy.frombuffer(data[8 + size + begin:8 + size + end], "float16")


class CheckVectors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name) / "golden"
        program = pathlib.Path(os.environ["EQUARX_BUILD"]) / "equarx-sim"
        subprocess.run([program, "vectors", "-", "-o", cls.folder], input=json.dumps(CONFIG), text=True, check=True,
                       capture_output=True)
        cls.manifest = json.loads((cls.folder / "manifest.json").read_text())
        cls.cases = {case["name"]: cls.folder / case["file"] for case in cls.manifest["collectives"][0]["cases"]}

    def results(self, kernel):
        with numpy.errstate(all="ignore"):
            return {name: kernel([half(path, f"input.rank{rank}") for rank in range(4)])
                    for name, path in self.cases.items()}

    def test_sums_in_float32_agree(self):
        def kernel(inputs):
            return sum(one.astype("float32") for one in inputs).astype("float16")
        report = equarx.check_vectors(self.folder, self.results(kernel))
        self.assertTrue(report["agrees"], report["collectives"][0]["verdict"])

    def test_sums_in_float16_do_not(self):
        report = equarx.check_vectors(self.folder, self.results(sum))
        self.assertFalse(report["agrees"])
        self.assertEqual(report["collectives"][0]["verdict"][0],
                         "rounds after each addition: matches accumulate=fp16, not fp32")

    def test_results_by_rank_and_one_case(self):
        ties = numpy.stack([half(self.cases["ties"], f"result.rank{rank}") for rank in range(4)])
        self.assertTrue(equarx.check_vectors(self.folder, {"ties": ties}, cases=["ties"])["agrees"])
        ties[2, 5] = 7
        verdict = equarx.check_vectors(self.folder, {"ties": ties}, cases=["ties"])["collectives"][0]["verdict"]
        self.assertTrue(verdict[0].startswith("ranks differ: case ties, element 5 on rank 2: 7, but"), verdict)

    def test_bad_input_is_an_input_error(self):
        with self.assertRaisesRegex(equarx.InputError, "given: is missing"):
            equarx.check_vectors(self.folder, {})
        with self.assertRaisesRegex(equarx.InputError, "is float32; results of fp16 are float16"):
            equarx.check_vectors(self.folder, {"ties": numpy.zeros(256, "float32")}, cases=["ties"])

    def test_the_command(self):
        made = subprocess.run([sys.executable, "-m", "equarx.check_vectors", self.folder, self.folder],
                              capture_output=True, text=True, check=False)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertIn("agrees in 11 cases", made.stdout)


if __name__ == "__main__":
    unittest.main()
