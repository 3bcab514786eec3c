"""Series of steps: error feedback, and FP8-LM's factor."""
import unittest

import equarx
import numpy


def steps(count, ranks=4, elements=3000):
    random = numpy.random.default_rng(5)
    return [random.standard_normal((ranks, elements)).astype("f4") for _ in range(count)]


class Feedback(unittest.TestCase):
    def test_nothing_is_lost_over_steps(self):
        for options in ({"format": "int4"}, {"format": "int8", "algorithm": "two-shot"},
                        {"format": "fp8lm-e4m3"}, {"format": "global-qsgd-int8", "algorithm": "binomial-tree"},
                        {"format": "global-qsgd-exp8", "algorithm": "binomial-tree"}):
            with self.subTest(**options):
                lost = numpy.zeros((4, 3000), "f4")
                delivered = brought = 0
                for gradients in steps(5):
                    delivered = delivered + equarx.allreduce(gradients, feedback=lost, **options).result.astype("f8")
                    brought = brought + gradients.sum(0, dtype="f8")
                self.assertGreater(numpy.abs(lost).max(), 0)
                numpy.testing.assert_allclose(delivered + lost.sum(0, dtype="f8"), brought, atol=1e-4)

    def test_unsuitable_feedback_is_refused(self):
        gradients = steps(1)[0]
        for wrong in (numpy.zeros((4, 2999), "f4"), numpy.zeros((3, 3000), "f4"), numpy.zeros((4, 3000)),
                      numpy.zeros((4, 6000), "f4")[:, ::2], [0.0]):
            with self.assertRaisesRegex(equarx.InputError, r"float32 array of shape \(4, 3000\)"):
                equarx.allreduce(gradients, "int8", feedback=wrong)
        fixed = numpy.zeros((4, 3000), "f4")
        fixed.flags.writeable = False
        with self.assertRaisesRegex(equarx.InputError, "writable"):
            equarx.allreduce(gradients, "int8", feedback=fixed)
        with self.assertRaisesRegex(equarx.InputError, "shares memory"):
            equarx.allreduce(gradients, "int8", feedback=gradients)
        lost = numpy.zeros((4, 3000), "f4")
        with self.assertRaisesRegex(equarx.InputError, "applies to sums"):
            equarx.all_gather(gradients, "int8", feedback=lost)
        with self.assertRaisesRegex(equarx.InputError, "use another algorithm"):
            equarx.allreduce(gradients, "int8", algorithm="recursive-doubling", feedback=lost)
        with self.assertRaisesRegex(equarx.InputError, "remove hadamard"):
            equarx.allreduce(gradients, "int8", hadamard=True, feedback=lost)
        self.assertEqual(numpy.abs(lost).max(), 0)


class Mu(unittest.TestCase):
    def test_mu_is_halved_where_sums_saturate_and_grows_elsewhere(self):
        mu = equarx.AutomaticMu()
        same = numpy.full((4, 512), 448, "f4")  # the sum is four times the largest code
        for value in (1.0, 0.5, 0.25):
            self.assertEqual(mu.value, value)
            outcome = equarx.allreduce(same, "fp8lm-e4m3", mu=mu.value)
            self.assertEqual(outcome.at_largest_fraction, 1.0 if value > 0.125 else 0.0)
            mu.update(outcome)
        self.assertEqual(mu.value, 0.125)  # at 1/4 the sum is just the largest code
        outcome = equarx.allreduce(same, "fp8lm-e4m3", mu=mu.value)
        self.assertEqual(outcome.at_largest_fraction, 0.0)
        mu.update(outcome)
        self.assertAlmostEqual(mu.value, 0.125 * 2 ** (1 / 1000), places=12)

    def test_wrong_factors_and_outcomes_of_other_formats_are_refused(self):
        for wrong in (0, -1, float("nan"), float("inf"), "1"):
            with self.assertRaisesRegex(equarx.InputError, "a number above 0"):
                equarx.AutomaticMu(wrong)
        with self.assertRaisesRegex(equarx.InputError, "fp8lm-e4m3 and fp8lm-e5m2"):
            equarx.AutomaticMu().update(equarx.allreduce(steps(1)[0], "int8"))


if __name__ == "__main__":
    unittest.main()
