"""Reads stored formats by slow NumPy code, and compares with equarx-sim quantize bit for bit.

Usage: stored_test.py EQUARX_SIM FOLDER_OF_FORMATS [unittest arguments]
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM = FORMATS = ""
F32 = numpy.float32
NF4 = numpy.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
                   -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
                   0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
                   0.7229568362236023, 1.0], F32)


def nearest(table, value):
    """Index of the nearest entry, against FP32 means; the lower one of two."""
    index = 0
    while index + 1 < len(table) and value > F32((float(table[index]) + float(table[index + 1])) / 2):
        index += 1
    return index


def nf4(values):
    flat = values.ravel()
    decoded = []
    for first in range(0, flat.size, 64):
        group = flat[first:first + 64]
        scale = max(abs(group).max(), numpy.finfo(F32).tiny)
        decoded += [NF4[nearest(NF4, F32(x / scale))] * scale for x in group]
    return numpy.array(decoded, F32).reshape(values.shape)


def gptq(values):
    """RTN with zero points; the scale is rounded to FP16 first."""
    decoded = numpy.empty_like(values)
    for row in range(values.shape[0]):
        for first in range(0, values.shape[1], 128):
            group = values[row, first:first + 128]
            low, high = min(group.min(), F32(0)), max(group.max(), F32(0))
            scale = F32(numpy.float16(F32(high - low) / F32(15)))
            zero = numpy.rint(F32(-low / scale))
            codes = numpy.clip(numpy.rint(group / scale) + zero, 0, 15)
            decoded[row, first:first + 128] = (codes - zero).astype(F32) * scale
    return decoded


def best_centres(values, weights, count):
    """Optimal weighted k-means by dynamic programming over all cuts."""
    order = numpy.argsort(values, kind="stable")
    x, w = values[order].astype(float), weights[order].astype(float)
    size = len(x)
    total, first, second = (numpy.concatenate([[0], numpy.cumsum(w * x**power)]) for power in (0, 1, 2))

    def costs(end):
        weight, mean = total[end] - total[:end], first[end] - first[:end]
        return second[end] - second[:end] - mean**2 / weight

    errors = numpy.full(size + 1, numpy.inf)
    errors[0] = 0
    cuts = []
    for _ in range(count):
        layer, cut = numpy.full(size + 1, numpy.inf), numpy.zeros(size + 1, int)
        for end in range(1, size + 1):
            candidates = errors[:end] + costs(end)
            cut[end] = candidates.argmin()
            layer[end] = candidates[cut[end]]
        errors = layer
        cuts.append(cut)
    centres, end = [], size
    for cut in reversed(cuts):
        begin = cut[end]
        centres.append((first[end] - first[begin]) / (total[end] - total[begin]))
        end = begin
    return numpy.array(centres[::-1], F32).astype(numpy.float16).astype(F32)


def squeezellm(values, importance):
    flat, weight = values.ravel(), importance.ravel()
    apart = numpy.zeros(flat.size, bool)
    apart[numpy.argsort(-abs(flat), kind="stable")[:round(0.0045 * flat.size)]] = True
    rest = [i for i in numpy.argsort(-weight, kind="stable") if not apart[i]]
    apart[rest[:round(0.0005 * flat.size)]] = True
    apart = apart.reshape(values.shape)
    decoded = numpy.empty_like(values)
    for row in range(values.shape[0]):
        kept = ~apart[row]
        table = best_centres(values[row, kept], importance[row, kept], 8)
        decoded[row] = [table[nearest(table, x)] for x in values[row]]
    decoded[apart] = values[apart].astype(numpy.float16).astype(F32)
    return decoded


class Stored(unittest.TestCase):
    """Formats of configs/formats on values with outliers."""

    def setUp(self):
        random = numpy.random.default_rng(1)
        self.values = random.standard_t(5, (8, 512)).astype(F32)
        self.importance = (random.standard_normal((8, 512))**2 + 1e-3).astype(F32)
        temporary = tempfile.TemporaryDirectory(prefix="equarx-stored-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        numpy.save(self.folder / "values.npy", self.values)
        numpy.save(self.folder / "importance.npy", self.importance)

    def decoded(self, name, *options):
        output = self.folder / f"{name}.npy"
        subprocess.run([PROGRAM, "quantize", self.folder / "values.npy", "--format",
                        pathlib.Path(FORMATS) / f"{name}.json", "-o", output, *options],
                       check=True, stdout=subprocess.DEVNULL)
        return numpy.load(output)

    def check_equal(self, decoded, expected):
        numpy.testing.assert_array_equal(decoded.view("uint32"), expected.view("uint32"))

    def test_nf4(self):
        self.check_equal(self.decoded("nf4"), nf4(self.values))

    def test_gptq(self):
        self.check_equal(self.decoded("gptq-int4-g128"), gptq(self.values))

    def test_squeezellm(self):
        decoded = self.decoded("squeezellm-3bit", "--importance", self.folder / "importance.npy")
        self.check_equal(decoded, squeezellm(self.values, self.importance))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    PROGRAM, FORMATS = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
