"""Tests formatting and parsing of quantities."""
import unittest

from words import quantities


class Quantities(unittest.TestCase):
    def test_sizes_are_in_binary_units(self):
        for size, text in {1: "1 B", 1023: "1023 B", 1024: "1 KiB", 32 * 2**20: "32 MiB",
                           1.5 * 2**30: "1.5 GiB"}.items():
            self.assertEqual(quantities.size_text(size), text)

    def test_times_have_a_suitable_unit(self):
        for time, text in {1e-3: "1 ms", 1000 * 1e-6: "1 ms", 350.7e-6: "350.7 us", 2e-9: "2 ns", 0: "0 ns",
                           5e-10: "0.5 ns", 12: "12 s"}.items():
            self.assertEqual(quantities.time_text(time), text)

    def test_decimal_sizes_are_sizes(self):
        self.assertEqual(quantities.size_of("1500 kB"), 1.5e6)
        self.assertEqual(quantities.size_of("2 GB"), 2e9)

    def test_numbers_have_a_fixed_number_of_digits(self):
        self.assertEqual([quantities.measured_time(time) for time in (374e-6, 593.9e-6, 1e-3, 12e-9)],
                         ["374.0 us", "593.9 us", "1.000 ms", "12.00 ns"])
        self.assertEqual([quantities.significant(number, 3) for number in (36, 36.1, 123, 5e-5)],
                         ["36.0", "36.1", "123", "5.00e-05"])

    def test_errors_have_a_common_format(self):
        self.assertEqual([quantities.error_text(error) for error in (2e-4, 5e-5, 0.01, 0.5)],
                         ["2e-4", "5e-5", "0.01", "0.5"])


if __name__ == "__main__":
    unittest.main()
