"""Reads the published loops of GPTQ, SliM-LLM and AWQ in NumPy, and compares with equarx-sim quantize bit for bit.

Usage: stored_inputs_test.py EQUARX_SIM FOLDER_OF_FORMATS [unittest arguments]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM = FORMATS = ""
F32 = numpy.float32
LENGTH = 128


def f16(values):
    return numpy.asarray(values, F32).astype(numpy.float16).astype(F32)


def min_max(values, bits):
    """Scale and zero point of each row, with 0 in its range."""
    most = F32(2**bits - 1)
    low, high = numpy.minimum(values.min(1), F32(0)), numpy.maximum(values.max(1), F32(0))
    scale = f16((high - low) / most)
    return scale, numpy.clip(numpy.rint(numpy.clip(-low / scale, 0, most)), 0, most)


def searched(values, bits):
    """Ranges from 1 down to 0.9 of the full one with the least sum of |error|^2.4."""
    most = F32(2**bits - 1)
    low, high = numpy.minimum(values.min(1), F32(0)), numpy.maximum(values.max(1), F32(0))
    best = numpy.full(len(values), numpy.inf)
    scale, zero = numpy.zeros(len(values), F32), numpy.zeros(len(values), F32)
    for step in range(51):
        factor = F32(1.0 - step / 50 * (1.0 - 0.9))
        one = f16((factor * high - factor * low) / most)
        origin = numpy.rint(numpy.clip(-(factor * low) / one, 0, most)).astype(F32)
        errors = [sum(abs(float(q) - float(x))**2.4 for q, x in zip(decoded, row))
                  for decoded, row in zip(rounded(values, one, origin, bits), values)]
        less = numpy.array(errors) < best
        best[less], scale[less], zero[less] = numpy.array(errors)[less], one[less], origin[less]
    return scale, zero


def binary(values, _):
    """Lower of two levels and their distance."""
    mean, size = values.astype(float).mean(1), abs(values.astype(float)).mean(1)
    return f16(2 * size), f16(mean - size)


def rounded(values, scale, zero, bits):
    """Decoded values of rows with their scales."""
    if bits == 1:
        codes = numpy.clip(numpy.rint((values - zero[:, None]) / scale[:, None]), 0, 1)
        return codes.astype(F32) * scale[:, None] + zero[:, None]
    codes = numpy.clip(numpy.rint(values / scale[:, None]) + zero[:, None], 0, 2**bits - 1)
    return (codes - zero[:, None]).astype(F32) * scale[:, None]


def root_of(hessian):
    """Upper Cholesky factor of the inverse of the damped Hessian, as published."""
    damped = hessian + numpy.diag(numpy.full(len(hessian), 0.01 * numpy.diag(hessian).mean()))
    return numpy.linalg.cholesky(numpy.linalg.inv(damped)).T


def gptq(weights, hessian, bits_of_groups, find, blocksize=128):
    """gptq.py: columns in order, blocks updated lazily."""
    rest, root, decoded = weights.astype(float), root_of(hessian), numpy.zeros_like(weights)
    for begin in range(0, rest.shape[1], blocksize):
        end = min(begin + blocksize, rest.shape[1])
        block, errors = rest[:, begin:end].copy(), numpy.zeros((len(rest), end - begin))
        for i in range(end - begin):
            column, bits = begin + i, bits_of_groups[(begin + i) // LENGTH]
            if column % LENGTH == 0:
                fit = binary if bits == 1 else find
                scale, zero = fit(block[:, i:i + LENGTH].astype(F32), bits)
            decoded[:, column] = rounded(block[:, i:i + 1].astype(F32), scale, zero, bits)[:, 0]
            errors[:, i] = (block[:, i] - decoded[:, column]) / root[column, column]
            block[:, i:] -= errors[:, i:i + 1] @ root[column:column + 1, column:end]
        rest[:, end:] -= errors @ root[begin:end, end:]
    return decoded


def softmax(outputs):
    exponents = numpy.exp(outputs - outputs.max(1, keepdims=True))
    return numpy.maximum(exponents / exponents.sum(1, keepdims=True), 1e-6)


def slim_widths(weights, tokens, hessian, bits):
    """slim_gptq.py and bitsearch.py: number of groups with other bits, by least divergence."""
    groups = weights.shape[1] // LENGTH
    salience = (weights.astype(float) / numpy.diag(root_of(hessian)))**2
    order = salience.reshape(len(weights), groups, LENGTH).sum((0, 2)).argsort()
    exact, best, found = softmax(tokens.astype(float) @ weights.T.astype(float)), numpy.inf, None
    for count in range(groups // 2 + 1):
        widths = numpy.full(groups, bits)
        widths[order[:count]] -= 1
        widths[order[groups - count:]] += 1
        parts = [weights[:, g * LENGTH:(g + 1) * LENGTH] for g in range(groups)]
        decoded = numpy.hstack([rounded(part, *(binary if width == 1 else searched)(part, width), width)
                                for part, width in zip(parts, widths)])
        outputs = softmax(tokens.astype(float) @ decoded.T.astype(float))
        divergence = (outputs * numpy.log(outputs / exact)).sum()
        if divergence < best:
            best, found = divergence, widths
    return found


def awq_plain(weights):
    """quantizer.py: int4 with zero points, ranges of at least 1e-5."""
    decoded = numpy.empty_like(weights)
    for first in range(0, weights.shape[1], LENGTH):
        group = weights[:, first:first + LENGTH]
        scale = f16(numpy.maximum((group.max(1) - group.min(1)) / F32(15), F32(6.6666666e-07)))
        zero = numpy.rint(numpy.clip(-group.min(1) / scale, 0, 15))
        decoded[:, first:first + LENGTH] = rounded(group, scale, zero, 4)
    return decoded


def awq(weights, tokens):
    """auto_scale.py for one layer."""
    magnitudes = abs(tokens.astype(float)).mean(0)
    best, found = numpy.inf, None
    for step in range(20):
        factors = numpy.maximum(magnitudes**(step / 20), 1e-4)
        factors = (factors / numpy.sqrt(factors.max() * factors.min())).astype(F32)
        decoded = awq_plain(weights * factors) / factors
        error = (((weights.astype(float) - decoded) @ tokens.T.astype(float))**2).mean()
        if error < best:
            best, found = error, decoded
    return found


class StoredByInputs(unittest.TestCase):
    """Formats of configs/formats on a layer with correlated inputs."""

    def setUp(self):
        random = numpy.random.default_rng(1)
        self.weights = random.standard_t(5, (24, 512)).astype(F32)
        self.weights[:, 128:256] *= 3
        mixed = random.standard_normal((96, 512)) @ random.standard_normal((512, 512)) / 20
        self.tokens = (mixed * random.uniform(0.1, 3, 512) / 100).astype(F32)
        temporary = tempfile.TemporaryDirectory(prefix="equarx-inputs-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        numpy.save(self.folder / "weights.npy", self.weights)
        numpy.save(self.folder / "inputs.npy", self.tokens)

    def hessian(self):
        exact = self.tokens.astype(float)
        return 2 / len(exact) * exact.T @ exact

    def run_quantize(self, format, *options):
        output = self.folder / "decoded.npy"
        done = subprocess.run([PROGRAM, "quantize", self.folder / "weights.npy", "--format", format, "-o", output,
                               *options], check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return numpy.load(output), done.stdout

    def decoded(self, name, *options):
        return self.run_quantize(pathlib.Path(FORMATS) / f"{name}.json", *options)

    def check_equal(self, decoded, expected):
        numpy.testing.assert_array_equal(decoded.view("uint32"), expected.view("uint32"))

    def check_outputs(self, report, decoded):
        """The report has the error of the layer's outputs."""
        exact = self.weights.astype(float) @ self.tokens.T
        error = (self.weights.astype(float) - decoded) @ self.tokens.T
        line = next(line for line in report.splitlines() if "NMSE of outputs" in line)
        self.assertAlmostEqual(float(line.split()[-1]) / ((error**2).sum() / (exact**2).sum()), 1, 3)

    def test_gptq(self):
        decoded, report = self.decoded("gptq-int4-g128-feedback", "--inputs", self.folder / "inputs.npy")
        self.check_equal(decoded, gptq(self.weights, self.hessian(), [4] * 4, min_max))
        self.check_outputs(report, decoded)

    def test_gptq_with_a_hessian(self):
        hessian = self.hessian().astype(F32)
        numpy.save(self.folder / "hessian.npy", hessian)
        decoded, _ = self.decoded("gptq-int4-g128-feedback", "--hessian", self.folder / "hessian.npy")
        self.check_equal(decoded, gptq(self.weights, hessian.astype(float), [4] * 4, min_max))

    def test_gptq_with_the_largest_inputs_first(self):
        format = json.loads((pathlib.Path(FORMATS) / "gptq-int4-g128-feedback.json").read_text())
        format["feedback"]["order"] = "largest"
        (self.folder / "format.json").write_text(json.dumps(format))
        decoded, _ = self.run_quantize(self.folder / "format.json", "--inputs", self.folder / "inputs.npy")
        hessian = self.hessian()
        order = numpy.argsort(-numpy.diag(hessian), kind="stable")
        root = root_of(hessian[order][:, order])
        fits = [min_max(self.weights[:, first:first + LENGTH], 4) for first in range(0, 512, LENGTH)]
        rest, expected = self.weights[:, order].astype(float), numpy.zeros_like(self.weights)
        for place, column in enumerate(order):
            expected[:, column] = rounded(rest[:, place:place + 1].astype(F32), *fits[column // LENGTH], 4)[:, 0]
            error = (rest[:, place] - expected[:, column]) / root[place, place]
            rest -= numpy.outer(error, root[place])
        self.check_equal(decoded, expected)

    def test_slim_llm(self):
        decoded, report = self.decoded("slim-llm-2bit", "--inputs", self.folder / "inputs.npy")
        widths = slim_widths(self.weights, self.tokens, self.hessian(), 2)
        self.assertGreater(len(set(widths)), 1)
        self.assertIn(f"{(widths == 1).sum()} with 1 bit, ", report)
        self.check_equal(decoded, gptq(self.weights, self.hessian(), widths, searched))

    def test_awq(self):
        decoded, report = self.decoded("awq-int4-g128", "--inputs", self.folder / "inputs.npy")
        self.check_equal(decoded, awq(self.weights, self.tokens))
        self.check_outputs(report, decoded)
        self.assertIn("column factors", report)
        plain, _ = self.decoded("awq-int4-g128")
        self.check_equal(plain, awq_plain(self.weights))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    PROGRAM, FORMATS = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
