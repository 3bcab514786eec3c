"""Arrays computed by the package equal the files of --output-tensors, bit for bit."""
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
FORMATS = ["int8", "int6", "int4", "fp8-e4m3", "fp8-e5m2", "fp8-e4m3fnuz", "fp8-e5m2fnuz", "mxfp8-e4m3", "mxfp8-e5m2",
           "mxfp6-e2m3", "mxfp6-e3m2", "mxfp4", "mxint8", "nvfp4", "nvfp4-block"]
ALGORITHMS = ["equarx", "torus", "two-shot", "one-shot", "halving-doubling"]
ELEMENTS = [4096, 40000, 262144]


class Tensors(unittest.TestCase):
    def written(self, algorithm: str, elements: int, dtype: str) -> tuple[list[numpy.ndarray], dict]:
        """Inputs of the program's ranks, and results by format."""
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

    def test_a_run_returns_its_tensors_as_arrays(self):
        config = {"hardware": "tpu-v5e", "topology": {"slice": "4x2"}, "tensor": {"shape": [8, 512], "dtype": "fp32"},
                  "collectives": [{"label": "int8", "algorithm": "equarx", "minishards": 1},
                                  {"label": "a/b", "algorithm": "ring"}]}
        own = tempfile.TemporaryDirectory()
        self.addCleanup(own.cleanup)
        self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = own.name
        found = {}
        for engine in ("direct", "simgrid"):
            tensors = equarx.run(config, {"/engine": engine}, tensors=True, inputs=True).tensors
            self.assertEqual(list(tensors), ["int8", "a/b"])
            self.assertEqual((tensors["int8"].shape, tensors["int8"].dtype), ((8, 512), numpy.float32))
            exact = numpy.sum(numpy.stack(tensors.inputs).astype("float64"), axis=0)
            numpy.testing.assert_array_equal(tensors.exact_sum, exact)
            numpy.testing.assert_allclose(tensors["a/b"], exact, rtol=1e-5, atol=1e-5)
            outcome = equarx.allreduce(tensors.inputs, "int8", topology={"slice": "4x2"}, minishards=1)
            numpy.testing.assert_array_equal(outcome.result, tensors["int8"])
            with self.assertRaises(ValueError):
                tensors["int8"][0] = 1
            found[engine] = tensors["int8"].tobytes()
        self.assertEqual(found["direct"], found["simgrid"])
        self.assertEqual(os.listdir(own.name), [])

    def test_a_run_writes_them_into_a_folder(self):
        config = {"hardware": "tpu-v5e", "topology": {"slice": "2x2"}, "collective": "all-to-all",
                  "tensor": {"shape": [4096]}, "collectives": [{"label": "direct", "algorithm": "direct"}]}
        with tempfile.TemporaryDirectory() as folder:
            tensors = equarx.run(config, tensors=pathlib.Path(folder, "new")).tensors
            self.assertEqual(os.listdir(pathlib.Path(folder, "new")), ["direct.npy"])
            self.assertEqual((tensors["direct"].shape, tensors["direct"].dtype), ((4, 4096), numpy.uint16))
            self.assertIsNone(tensors.exact_sum)
            self.assertEqual(tensors.inputs, [])
        self.assertIsNone(equarx.run(config).tensors)

    def test_tensors_that_cannot_be_written(self):
        config = {"hardware": "tpu-v5e", "topology": {"slice": "2x2"}, "tensor": {"shape": [4096]},
                  "collectives": [{"label": "ring", "algorithm": "ring"}]}
        for options, words in (({"tensors": "a.safetensors"}, "folder for .npy files"), ({"tensors": 7}, "not 7"),
                               ({"inputs": True}, "tensors=True"), ({"tensors": "/dev/null"}, "cannot create the folder"),
                               ({"tensors": True, "overrides": {"/numerics": False}}, "switch it on")):
            with self.subTest(options), self.assertRaisesRegex(equarx.InputError, words):
                equarx.run(config, **options)


if __name__ == "__main__":
    unittest.main()
