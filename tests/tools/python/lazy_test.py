"""Lazily aggregated gradients, compared with the papers' equations in NumPy."""
import unittest

import equarx
import numpy
from equarx import _core


def quantized(values, known, bits):
    largest = numpy.abs(values - known).max()
    if largest == 0:
        return known.copy()
    half = largest / (2**bits - 1)
    return known - largest + 2 * half * numpy.floor((values - known + largest + half) / (2 * half))


class Reference:
    """LAQ as in equations 5 to 7 of arXiv 1909.07588."""

    def __init__(self, rate, bits=4, memory=10, weight=0.08, error_weight=3.0, at_most=100):
        self.__dict__.update(locals())
        self.sent = self.last = None
        self.moves, self.uploads, self.bits_sent = [], [], 0

    def step(self, gradients, parameters):
        workers = len(gradients)
        if self.sent is None:
            self.sent, self.error, self.silent = numpy.zeros_like(gradients), numpy.zeros(workers), numpy.zeros(workers)
            first = True
        else:
            first = False
            self.moves.append(numpy.sum((parameters - self.last) ** 2))
        self.last = parameters.copy()
        moved = self.weight * sum(self.moves[-self.memory:]) / (self.rate * workers) ** 2
        self.uploads.append(0)
        for worker, gradient in enumerate(gradients):
            made = gradient if self.bits is None else quantized(gradient, self.sent[worker], self.bits)
            error = numpy.sum((gradient - made) ** 2)
            change = numpy.sum((made - self.sent[worker]) ** 2)
            if first or self.silent[worker] >= self.at_most or \
                    change >= moved + self.error_weight * (error + self.error[worker]):
                self.sent[worker], self.error[worker], self.silent[worker] = made, error, 0
                self.uploads[-1] += 1
                self.bits_sent += 32 * gradient.size if self.bits is None else 32 + self.bits * gradient.size
            else:
                self.silent[worker] += 1
        return self.sent.sum(0)


def least_squares(workers=6, size=20, seed=3):
    random = numpy.random.default_rng(seed)
    inputs = random.standard_normal((workers, 40, size)) * numpy.linspace(0.3, 1, workers)[:, None, None]
    targets = inputs @ random.standard_normal(size) + random.standard_normal((workers, 40))
    return lambda at: numpy.einsum("mni,mn->mi", inputs, inputs @ at - targets) / (40 * workers)


class LazyTest(unittest.TestCase):
    def test_the_golden_vector(self):
        made = _core.lazy_quantize([0.3, -1.2, 0.05, 2], [0.25, -1, 0, 1.5], 3)
        numpy.testing.assert_allclose(made, [0.321429, -1.214286, 0.071429, 2], atol=1e-6)

    def test_rounds_equal_the_equations(self):
        gradients = least_squares()
        for options in ({}, {"bits": 2}, {"bits": None}, {"memory": 3, "weight": 0.3, "at_most": 5},
                        {"weight": 0.0, "error_weight": 0.0}):
            with self.subTest(**options):
                lazy, reference = equarx.Lazy(0.5, **options), Reference(0.5, **options)
                parameters = numpy.zeros(20)
                for _ in range(60):
                    each = gradients(parameters)
                    total = lazy.step(each, parameters)
                    numpy.testing.assert_allclose(total, reference.step(each, parameters), rtol=1e-9, atol=1e-12)
                    parameters = parameters - 0.5 * total
                self.assertEqual(lazy.uploads, reference.uploads)
                self.assertEqual(lazy.bits, reference.bits_sent)
                self.assertEqual(lazy.mask.shape, (60, 6))
                self.assertEqual(lazy.mask.sum(), sum(lazy.uploads))

    def test_a_threshold_of_zero_is_bit_equal_to_always(self):
        gradients, parameters = least_squares(), numpy.zeros(20)
        lazy = equarx.Lazy(0.5, bits=None, weight=0.0, error_weight=0.0)
        for _ in range(30):
            each = gradients(parameters)
            expected = numpy.zeros(20)
            for one in each:
                expected += one
            self.assertEqual(lazy.step(each, parameters).tobytes(), expected.tobytes())
            parameters = parameters - 0.5 * expected
        self.assertEqual(lazy.uploads, [6] * 30)

    def test_uploads_fall_and_the_loss_does_not_rise(self):
        gradients, ends = least_squares(), []
        for options in ({"weight": 0.0, "error_weight": 0.0}, {}):
            lazy, parameters = equarx.Lazy(0.5, **options), numpy.zeros(20)
            for _ in range(400):
                parameters = parameters - 0.5 * lazy.step(gradients(parameters), parameters)
            ends.append((numpy.linalg.norm(gradients(parameters).sum(0)), sum(lazy.uploads)))
        self.assertLess(ends[1][1], 0.8 * ends[0][1])
        self.assertLess(ends[1][0], 1e-3 * numpy.linalg.norm(gradients(numpy.zeros(20)).sum(0)))

    def test_wrong_usage_is_refused(self):
        for wrong, message in (({"rate": 0}, "rate is 0"), ({"rate": 1, "bits": 0}, "bits are 0"),
                               ({"rate": 1, "bits": 25}, "use 1 to 24"), ({"rate": 1, "weight": -1}, "from 0 on"),
                               ({"rate": 1, "at_most": 0}, "at least 1 round"), ({"rate": "x"}, "numbers"),
                               ({"rate": 1, "memory": -1}, "whole numbers")):
            with self.assertRaisesRegex(equarx.InputError, message):
                equarx.Lazy(**wrong)
        lazy = equarx.Lazy(0.1)
        with self.assertRaisesRegex(equarx.InputError, r"gradients have the shape \(2, 3\) and parameters \(2,\)"):
            lazy.step(numpy.zeros((2, 3)), numpy.zeros(2))
        lazy.step(numpy.ones((2, 3)), numpy.zeros(3))
        with self.assertRaisesRegex(equarx.InputError, "an object for each bucket"):
            lazy.step(numpy.ones((3, 3)), numpy.zeros(3))
        before = lazy.bits
        with self.assertRaisesRegex(equarx.InputError, "not finite"):
            lazy.step(numpy.full((2, 3), numpy.nan), numpy.zeros(3))
        self.assertEqual((lazy.bits, len(lazy.uploads)), (before, 1))


if __name__ == "__main__":
    unittest.main()
