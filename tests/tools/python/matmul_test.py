"""equarx.matmul(): shapes, schemes and errors."""
import unittest

import equarx
import numpy

RANDOM = numpy.random.default_rng(5)
X = RANDOM.standard_normal((2, 3, 128)).astype("f4")
W = RANDOM.standard_normal((40, 128)).astype("f4")


class Matmul(unittest.TestCase):
    def test_names_files_and_dicts_are_schemes(self):
        named = equarx.matmul(X, W, "zeroquant")
        self.assertEqual((named.shape, named.dtype), ((2, 3, 40), numpy.float32))
        same = equarx.matmul(X, W, {"weights": "int8-row", "activations": "int8-row", "unit": "int8", "scales": "end"})
        numpy.testing.assert_array_equal(named, same)
        from_file = equarx.matmul(X, W, "configs/schemes/zeroquant.json")
        numpy.testing.assert_array_equal(named, from_file)

    def test_integer_units_agree_bit_for_bit(self):
        scheme = {"weights": "int4-row128", "activations": "int4-row128", "scales": "by-group"}
        direct, planes, table = (equarx.matmul(X, W, {**scheme, "unit": unit}) for unit in ("int8", "int1", "table"))
        numpy.testing.assert_array_equal(direct, planes)
        numpy.testing.assert_array_equal(direct, table)

    def test_importance_and_half_precision(self):
        scheme = {"weights": "squeezellm-3bit", "unit": "fp16"}
        half = equarx.matmul(X.astype("f2"), W.astype("f2"), scheme, importance=W**2)
        self.assertLess(numpy.linalg.norm(half - X @ W.T) / numpy.linalg.norm(X @ W.T), 0.3)

    def test_unsuitable_arguments_are_refused(self):
        for x, w, scheme, options, message in (
                (X, W.T, "bf16", {}, "inputs"), (X, W[0], "bf16", {}, "outputs"),
                (X, W, "w8a8", {}, "not a known scheme"), (X, W, {"unit": "int3"}, {}, "/scheme/unit"),
                (X, W, "bf16", {"importance": W}, "importance"),
                (X, W, "squeezellm-w3a16", {"importance": W[:2]}, "shape"),
                (X * numpy.inf, W, "bf16", {}, "activations have NaN or Inf")):
            with self.subTest(message), self.assertRaisesRegex(equarx.InputError, message):
                equarx.matmul(x, w, scheme, **options)


if __name__ == "__main__":
    unittest.main()
