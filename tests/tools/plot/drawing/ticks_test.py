"""Tests ticks of axes."""
import unittest

from drawing import ticks


class Ticks(unittest.TestCase):
    def test_ticks_are_round_and_inside(self):
        self.assertEqual(ticks.decade_ticks(1e-6, 1e-2), [1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
        self.assertEqual(ticks.decade_ticks(0.15, 2), [0.2, 0.5, 1, 2])

    def test_the_last_size_and_if_possible_the_first_have_labels(self):
        self.assertEqual(ticks.size_exponents(12, 28, 4), [12, 16, 20, 24, 28])
        self.assertEqual(ticks.size_exponents(16, 26, 3), [16, 21, 26])
        self.assertEqual(ticks.size_exponents(16, 27, 3), [19, 23, 27])
        self.assertEqual(ticks.size_exponents(20, 20, 3), [20])


if __name__ == "__main__":
    unittest.main()
