"""Reads GEMM schemes by slow NumPy code, and compares with equarx-sim matmul bit for bit.

Usage: gemm_test.py EQUARX_SIM [unittest arguments]
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM = ""
F32 = numpy.float32
NF3 = numpy.array([-1.0, -0.478629082, -0.217141777, 0.0, 0.160930142, 0.337915123, 0.562616885, 1.0], F32)


def groups(values, length, rows=1):
    """Blocks of `rows` and `length` columns as (row, column, view)."""
    for row in range(0, values.shape[0], rows):
        for column in range(0, values.shape[1], length):
            yield row, column, values[row:row + rows, column:column + length]


def abs_max(values, length, largest, rows=1, type=F32):
    """Scale of each element."""
    scales = numpy.empty_like(values)
    for row, column, group in groups(values, length, rows):
        scales[row:row + rows, column:column + length] = F32(type(abs(group).max() / F32(largest)))
    return scales


def integers(values, scales, largest):
    return numpy.clip(numpy.rint(values / scales), -largest, largest).astype(F32)


def e4m3(values):
    exponents = numpy.maximum(numpy.floor(numpy.log2(numpy.maximum(abs(values), 1e-30))), -6)
    steps = numpy.exp2(exponents - 3)
    return numpy.clip(numpy.rint(values.astype(float) / steps) * steps, -448, 448).astype(F32)


def shifted(values, levels):
    """Codes minus zero points, and scales, of ABQ-LLM's rows."""
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    least = F32(1e-5)
    scales = numpy.maximum((high - low) / F32(levels - 1), least).astype(numpy.float16).astype(F32)
    zeros = numpy.rint(numpy.clip(-low / scales, 0, levels - 1))
    codes = numpy.clip(numpy.rint(values / scales) + zeros, 0, levels - 1)
    return codes - zeros, numpy.broadcast_to(scales, values.shape)


def product(x, w, x_scales, w_scales, length):
    """Sums of groups in FP32 in order of inputs, scaled and added in FP32."""
    total = None
    for first in range(0, x.shape[1], length):
        group = numpy.zeros((x.shape[0], w.shape[0]), F32)
        for k in range(first, first + length):
            group = group + numpy.multiply.outer(x[:, k], w[:, k])
        scaled = group * numpy.multiply.outer(x_scales[:, first], w_scales[:, first])
        total = scaled if total is None else total + scaled
    return total


class Gemm(unittest.TestCase):
    """Schemes of configs/schemes."""

    def setUp(self):
        random = numpy.random.default_rng(1)
        self.x = random.standard_t(5, (6, 256)).astype(F32)
        self.w = (0.02 * random.standard_normal((40, 256))).astype(F32)
        temporary = tempfile.TemporaryDirectory(prefix="equarx-gemm-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        numpy.save(self.folder / "x.npy", self.x)
        numpy.save(self.folder / "w.npy", self.w)

    def run_program(self, *options):
        return subprocess.run([PROGRAM, "matmul", self.folder / "x.npy", self.folder / "w.npy", *options],
                              capture_output=True, text=True, check=False)

    def check_scheme(self, scheme, expected):
        output = self.folder / f"{scheme}.npy"
        ran = self.run_program("--scheme", scheme, "-o", output)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        numpy.testing.assert_array_equal(numpy.load(output).view("uint32"), expected.view("uint32"))

    def test_zeroquant(self):
        x_scales, w_scales = abs_max(self.x, 256, 127), abs_max(self.w, 256, 127)
        self.check_scheme("zeroquant", product(integers(self.x, x_scales, 127), integers(self.w, w_scales, 127),
                                               x_scales, w_scales, 256))

    def test_mixpe(self):
        x_scales, w_scales = abs_max(self.x, 256, 127), abs_max(self.w, 128, 7, type=numpy.float16)
        self.check_scheme("mixpe-w4a8", product(integers(self.x, x_scales, 127), integers(self.w, w_scales, 7),
                                                x_scales, w_scales, 128))

    def test_abq(self):
        x_scales = abs_max(self.x, 256, 127)
        codes, w_scales = shifted(self.w, 5)
        self.check_scheme("abq-w2a8", product(integers(self.x, x_scales, 127), codes, x_scales, w_scales, 256))

    def test_fp8_blocks(self):
        x_scales, w_scales = abs_max(self.x, 128, 448), abs_max(self.w, 128, 448, rows=128)
        self.check_scheme("fp8-blocks", product(e4m3(self.x / x_scales), e4m3(self.w / w_scales), x_scales,
                                                w_scales, 128))

    def test_weight_only_3bit(self):
        scales = abs_max(self.w, 128, 1, type=numpy.float16)
        middles = ((NF3[1:].astype(float) + NF3[:-1].astype(float)) / 2).astype(F32)
        decoded = NF3[numpy.searchsorted(middles, self.w / scales)] * scales
        ones = numpy.ones_like
        half = [values.astype(numpy.float16).astype(F32) for values in (self.x, decoded)]
        self.check_scheme("weight-only-3bit", product(*half, ones(self.x), ones(self.w), 256))

    def check_refused(self, message, *options):
        ran = self.run_program(*options)
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(len(ran.stderr.strip().splitlines()), 1)
        self.assertIn(message, ran.stderr)

    def test_bad_input(self):
        self.check_refused("'int3' is not a known scheme", "--scheme", "int3")
        self.check_refused("--importance: the format depends on it", "--scheme", "squeezellm-w3a16")
        scheme = self.folder / "scheme.json"
        scheme.write_text('{"weights": "nf4", "activations": "int8-row", "unit": "int8", "scales": "end"}')
        self.check_refused("weights are no integers", "--scheme", scheme)
        scheme.write_text('{"weights": "nf5"}')
        self.check_refused("'nf5' is not a known format", "--scheme", scheme)
        numpy.save(self.folder / "w.npy", self.w * F32(numpy.nan))
        self.check_refused("weights have NaN or Inf at element 0")
        numpy.save(self.folder / "w.npy", self.w[:, :100])
        self.check_refused("activations have 256 columns and weights 100; both need one per input")
        numpy.save(self.folder / "x.npy", self.x[:, :100])
        self.check_refused("groups of 64 do not divide rows of 100", "--scheme", "weight-only-int4")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
