"""Schemes of training as JSON: the shipped ones are valid, and wrong ones are refused with the place."""
import json
import pathlib
import tempfile
import unittest

import quality  # noqa: F401  sets up the module path

import scheme
from store import QualityError

ROW = {"code": "e2m1", "groups": "row", "scale": "exact"}


class SchemeTest(unittest.TestCase):
    def test_shipped_schemes_are_valid_and_have_sources(self):
        self.assertLessEqual({"fp8", "fog", "fp4", "fp4-direct", "nvfp4", "pams8", "e8m2"}, set(scheme.names()))
        for name in scheme.names():
            scheme.load(name)
            self.assertIn("source", scheme.given_json(name), name)

    def test_products_left_out_are_bf16_and_take_the_operands_of_the_forward_pass(self):
        made = scheme.from_json("it", {"forward": {"weights": ROW}})
        self.assertEqual(made.operand("forward", "weights").code, "e2m1")
        self.assertEqual(made.operand("forward", "activations").code, "bf16")
        self.assertEqual(made.operand("input_gradient", "gradients").code, "bf16")
        self.assertEqual(made.operand("input_gradient", "weights"), "forward")
        self.assertEqual(made.operand("weight_gradient", "gradients"), "input_gradient")

    def test_fp8_by_function_is_the_file(self):
        self.assertEqual(scheme.from_json("it", scheme.fp8()), scheme.load("fp8"))
        self.assertEqual(scheme.from_json("it", scheme.fp8(attention=True, history=1024)), scheme.load("fog"))

    def test_errors_name_the_place_and_the_remedy(self):
        for given, message in (
                ({"backward": {}}, "it/backward: there is no such key; use attention, forward"),
                ({"forward": {"gradients": ROW}}, "it/forward: use an object with activations and weights"),
                ({"forward": {"weights": {"bits": 4}}}, "it/forward/weights/bits: there is no such key; use code"),
                ({"forward": {"weights": {"code": 4}}}, "it/forward/weights/code: 4 is no str"),
                ({"forward": {"weights": {"length": True}}}, "it/forward/weights/length: true is no int"),
                ({"forward": {"weights": {"code": "e4m99"}}}, 'it/forward/weights/code: "e4m99" is no code'),
                ({"forward": {"weights": "int8"}}, "it/forward/weights: 'int8' is no operand; use an object or one of"),
                ({"forward": {"weights": ROW | {"groups": "block"}}}, "length: 0 is not possible; give the length"),
                ({"forward": {"weights": ROW | {"scale": "delayed"}}}, "groups: 'row' is not possible; a scale that"),
                ({"forward": {"weights": ROW | {"ties": "odd"}}}, "ties: 'odd' is not possible; use one of even, up"),
                ({"forward": {"weights": {"code": "int8"}}}, "scale: 'none' is not possible; integers need one"),
                ({"forward": {"weights": {"code": "e4m3", "scale": "learnt"}}}, "a learnt range is of integers"),
                ({"forward": {"weights": ROW | {"clamp": 0.4}}}, "clamp: 0.4 is not possible; use a quantile"),
                ({"forward": {"weights": ROW | {"clamp": 0.9, "compensated": True}}}, "compensated: True is not possible"),
                ({"forward": {"weights": ROW | {"hadamard": 12}}}, "hadamard: 12 is not possible; use a power of two"),
                ({"forward": {"weights": ROW | {"hadamard": 16}}}, "it/forward: both operands need the same hadamard"),
                ({"forward": {"weights": ROW | {"derivative": "dge", "k": 1}}}, "k: 1 is not possible; dge needs"),
                ({"input_gradient": {"weights": "weights"}}, "'weights' is no operand; use an object or one of fp32"),
                ({"kept": -1}, "it/kept: use a number of layers"), ({"attention": 1}, "it/attention: use true or false"),
                ([], "it: an object is needed")):
            with self.assertRaises(QualityError) as caught:
                scheme.from_json("it", given)
            self.assertIn(message, str(caught.exception))

    def test_rotated_operands_are_not_taken_by_other_products(self):
        turned = {"code": "e2m1", "groups": "block", "length": 16, "scale": "nv", "hadamard": 16}
        with self.assertRaisesRegex(QualityError, "weight_gradient/activations: 'forward' is rotated"):
            scheme.from_json("it", {"forward": {"activations": turned, "weights": turned}, "input_gradient": {
                "weights": "bf16"}})

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "own.json")
            path.write_text(json.dumps({"forward": {"weights": ROW}}))
            self.assertEqual(scheme.load(str(path)).operand("forward", "weights").groups, "row")
            path.write_text("{")
            with self.assertRaisesRegex(QualityError, "is no JSON"):
                scheme.load(str(path))
        with self.assertRaisesRegex(QualityError, "cannot read none: No such file.*use a file or one of e8m2"):
            scheme.load("none")


if __name__ == "__main__":
    unittest.main()
