"""Tests how quantities are written on axes."""
import unittest

from picture_case import PictureCase

import quantities


class Quantities(PictureCase):
    def test_sizes_are_in_binary_units(self):
        for size, text in {1: "1 B", 1023: "1023 B", 1024: "1 KiB", 32 * 2**20: "32 MiB",
                           1.5 * 2**30: "1.5 GiB"}.items():
            self.assertEqual(quantities.size_text(size), text)

    def test_times_are_in_the_unit_that_suits(self):
        for time, text in {1e-3: "1 ms", 1000 * 1e-6: "1 ms", 350.7e-6: "350.7 us", 2e-9: "2 ns", 0: "0 ns",
                           5e-10: "0.5 ns", 12: "12 s"}.items():
            self.assertEqual(quantities.time_text(time), text)

    def test_ticks_are_round_and_inside(self):
        self.assertEqual(quantities.decade_ticks(1e-6, 1e-2), [1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
        self.assertEqual(quantities.decade_ticks(0.15, 2), [0.2, 0.5, 1, 2])


if __name__ == "__main__":
    unittest.main()
