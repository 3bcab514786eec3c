"""What the package computes on arrays is what the program writes with --output-tensors, bit for bit."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import equarx
import numpy

PROGRAM = pathlib.Path(os.environ["EQUARX_BUILD"], "equarx-sim")
RANKS = 8
FORMATS = ["int8", "int4", "fp8-e4m3", "fp8-e5m2", "mxfp8-e4m3", "mxfp8-e5m2", "mxfp6-e2m3", "mxfp6-e3m2", "mxfp4",
           "mxint8", "nvfp4", "nvfp4-block"]
ALGORITHMS = ["equarx", "torus", "two-shot", "one-shot", "halving-doubling"]
ELEMENTS = [4096, 40000, 262144]


class Tensors(unittest.TestCase):
    def written(self, algorithm: str, elements: int, dtype: str) -> tuple[list[numpy.ndarray], dict]:
        """What the program's ranks begin with, and what they end with by format."""
        config = {"hardware": "tpu-v5e", "topology": {"slice": "4x2"}, "engine": "direct",
                  "tensor": {"shape": [elements], "dtype": dtype},
                  "collectives": [{"label": name, "algorithm": algorithm, "format": name} for name in FORMATS]}
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "run", "-", "--output-tensors", folder, "--output-inputs"],
                           input=json.dumps(config), text=True, check=True, capture_output=True)
            names = ["exact_sum", *(f"input_{rank}" for rank in range(RANKS)), *FORMATS]
            arrays = {name: numpy.load(pathlib.Path(folder, f"{name}.npy")) for name in names}
        self.assertEqual(arrays["exact_sum"].dtype, numpy.float64)
        return [arrays[f"input_{rank}"] for rank in range(RANKS)], {name: arrays[name] for name in FORMATS}

    def check(self, algorithm: str, elements: int, dtype: str):
        inputs, results = self.written(algorithm, elements, dtype)
        for name, expected in results.items():
            with self.subTest(algorithm=algorithm, elements=elements, dtype=dtype, format=name):
                outcome = equarx.allreduce(inputs, format=name, algorithm=algorithm, topology={"slice": "4x2"},
                                           dtype=dtype)
                self.assertEqual(expected.shape, (elements,))
                self.assertEqual(outcome.result.tobytes(), expected.tobytes())

    def test_every_format_by_every_algorithm(self):
        for algorithm in ALGORITHMS:
            for elements in ELEMENTS:
                self.check(algorithm, elements, "bf16")

    def test_other_types(self):
        for dtype in ("fp32", "fp16"):
            self.check("equarx", ELEMENTS[1], dtype)


if __name__ == "__main__":
    unittest.main()
