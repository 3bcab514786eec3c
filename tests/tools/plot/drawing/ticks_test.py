"""Tests how axes are labelled."""
import unittest

from drawing import ticks


class Ticks(unittest.TestCase):
    def test_ticks_are_round_and_inside(self):
        self.assertEqual(ticks.decade_ticks(1e-6, 1e-2), [1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
        self.assertEqual(ticks.decade_ticks(0.15, 2), [0.2, 0.5, 1, 2])


if __name__ == "__main__":
    unittest.main()
