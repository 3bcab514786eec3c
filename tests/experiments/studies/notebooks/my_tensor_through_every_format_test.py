"""The conclusions of the notebook agree with its tables."""
import re
import unittest

import equarx

import notebook


class MyTensor(notebook.Script):
    name = "my_tensor_through_every_format"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        lines = re.findall(r"^(\S+) +([\d.]+) +(inf|[\d.]+) +([\d.]+) +([\d.]+)$", cls.printed, re.M)
        cls.rows = {name: tuple(map(float, numbers)) for name, *numbers in lines}  # bits, once, full-loop, semi-loop
        lines = re.findall(r"^(\S+) +([\d.]+) +([\d.]+) or less +([\d.]+) +([\d.]+)%$", cls.printed, re.M)
        cls.channels = {name: tuple(map(float, numbers)) for name, *numbers in lines}  # all, worst, median, clipped

    def test_every_format_is_listed(self):
        self.assertEqual(set(self.rows), {entry["name"] for entry in equarx.formats()
                                          if not entry["shared_scale"]})

    def test_a_sum_costs_more_than_one_quantization_and_semi_loop_less(self):
        for name, (bits, once, full, semi) in self.rows.items():
            if bits < 32:
                with self.subTest(name):
                    self.assertTrue(3 <= once - full <= 9)
            if bits < 16:
                with self.subTest(name):
                    # Less where the error is nearly as large as the sum: four bits, stochastic rounding.
                    self.assertTrue((0.8 if full < 4 else 1.3) <= semi - full <= 4)

    def test_the_error_of_one_quantization_does_not_predict_that_of_a_sum(self):
        lost = {name: once - full for name, (_, once, full, _) in self.rows.items()}
        self.assertAlmostEqual(lost["fp8-e4m3"], 3, delta=0.5)
        self.assertAlmostEqual(lost["mxfp8-e4m3"], 8, delta=0.5)
        self.assertEqual(self.rows["fp8-e4m3"][0], self.rows["mxfp8-e4m3"][0])
        self.assertEqual(self.channels["fp8-e4m3"][3], 0)
        self.assertGreater(self.channels["mxfp8-e4m3"][3], 0)

    def test_six_bits_match_eight(self):
        for six, eight in (("mxfp6-e2m3", "mxfp8-e4m3"), ("mxfp6-e3m2", "mxfp8-e5m2")):
            for of_six, of_eight in zip(self.rows[six][1:], self.rows[eight][1:]):
                self.assertAlmostEqual(of_six, of_eight, delta=1.5)

    def test_nvfp4_is_the_best_format_of_four_bits(self):
        self.assertAlmostEqual(self.rows["nvfp4"][2] - self.rows["mxfp4"][2], 6, delta=0.5)
        self.assertEqual(self.rows["nvfp4"][0] - self.rows["mxfp4"][0], 0.25)
        self.assertGreater(self.rows["mxfp4"][2], self.rows["int4"][2])

    def test_equal_sqnr_hides_different_errors(self):
        int8, fp8 = self.channels["int8"], self.channels["fp8-e4m3"]
        self.assertAlmostEqual(int8[0], fp8[0], delta=1)
        self.assertAlmostEqual(int8[0] - int8[1], 9, delta=0.5)
        self.assertLess(fp8[2] - fp8[1], int8[2] - int8[1])
        self.assertLess(fp8[2], int8[2])


if __name__ == "__main__":
    unittest.main()
