"""Intervals over seeds and sequences: closed forms, and their coverage."""
import math
import unittest

import quality  # noqa: F401  sets up the module path

import numpy as np

from intervals import NORMAL, STUDENT, over_both, over_seeds, over_sequences

SEEDS = np.array([1.0, 2.0, 6.0])
SEQUENCES = np.array([0.5, -0.5, 1.5, -1.5])


class IntervalsTest(unittest.TestCase):
    def check(self, found: tuple[float, float], mean: float, half: float) -> None:
        self.assertAlmostEqual(found[0], mean)
        self.assertAlmostEqual(found[1], half)

    def test_seeds_alone_have_students_interval(self):
        half = STUDENT[3] * math.sqrt(7 / 3)  # squared deviations of 4, 1 and 9 over 2 degrees of freedom
        self.check(over_seeds(SEEDS), 3, half)
        self.check(over_both(SEEDS[:, None] + np.zeros(4)), 3, half)
        self.check(over_both([[1.0, 1.0], [3.0, 3.0]]), 2, STUDENT[2])
        self.check(over_seeds([5.0]), 5, 0)

    def test_sequences_that_seeds_share_do_not_average_out(self):
        half = NORMAL * math.sqrt(5 / 3 / 4)
        self.check(over_sequences(SEQUENCES), 0, half)
        self.check(over_both(np.zeros((3, 1)) + SEQUENCES), 0, half)
        self.check(over_both([SEQUENCES]), 0, half)

    def test_both_add_as_squares(self):
        self.check(over_both(SEEDS[:, None] + SEQUENCES), 3,
                   math.hypot(STUDENT[3] * math.sqrt(7 / 3), NORMAL * math.sqrt(5 / 12)))

    def test_coverage(self):
        generator = np.random.default_rng(1)
        for seeds, sequences, rest in ((1.0, 1.0, 1.0), (0.0, 1.0, 1.0), (0.0, 0.0, 1.0), (0.1, 2.0, 0.5)):
            covered = 0
            for _ in range(1000):
                mean, half = over_both(seeds * generator.standard_normal((3, 1)) + sequences *
                                       generator.standard_normal(40) + rest * generator.standard_normal((3, 40)))
                covered += abs(mean) <= half
            self.assertGreater(covered, 920, (seeds, sequences, rest))
            self.assertLess(covered, 1000, (seeds, sequences, rest))


if __name__ == "__main__":
    unittest.main()
