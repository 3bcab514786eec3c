"""The conclusions of the notebook agree with its output; pandas is used if installed, but not required."""
import importlib.util
import pathlib
import re
import tempfile
import unittest

import notebook

HAS_PANDAS = importlib.util.find_spec("pandas") is not None
SLICES = ["2x2", "4x2", "4x4", "8x8"]
SPEEDUPS = re.compile(r"((?: +\d\.\d\d){7})$", re.M)  # in a line of the table


class SweepingSlices(notebook.Script):
    name = "sweeping_slices"

    def test_a_larger_slice_has_a_smaller_speedup(self):
        speedups = re.findall(r"^(\dx\d): +\d+ us, ([\d.]+)x$", self.printed, re.M)
        self.assertEqual([shape for shape, _ in speedups], SLICES)
        self.assertEqual(sorted((float(text) for _, text in speedups), reverse=True),
                         [float(text) for _, text in speedups])

    def test_no_point_fails(self):
        self.assertIn("112 runs, 0 failures", self.printed)

    @unittest.skipUnless(HAS_PANDAS, "without pandas")
    def test_large_tensors_are_nearly_twice_as_fast_and_small_ones_slower(self):
        lines = [list(map(float, line.split())) for line in SPEEDUPS.findall(self.printed)]
        self.assertEqual(len(lines), 2 * len(SLICES))
        for line in lines:
            self.assertLess(line[0], 0.9)
            self.assertTrue(1.8 <= line[-1] <= 1.95)

    def test_the_break_even_shard_is_equal_on_every_slice_and_twice_as_large_on_v6e(self):
        shards = re.findall(r"^(tpu-v\de) \dx\d: a tensor of +\d+ KiB, a shard of +(\d+) KiB$", self.printed, re.M)
        self.assertEqual(len(shards), 2 * len(SLICES))
        for chip, shard in shards:
            self.assertAlmostEqual(int(shard), {"tpu-v5e": 63, "tpu-v6e": 120}[chip], delta=13)

    def test_assumed_parameters_are_marked(self):
        self.assertRegex(self.printed, r"tpu-v5e: barrier_time 220 ns, assumed, 20 ns to ")
        self.assertRegex(self.printed, r"tpu-v6e: barrier_time 220 ns, assumed, 17.2 ns to ")


@unittest.skipUnless(HAS_PANDAS, "the tests above ran without it")
class WithoutPandas(notebook.Script):
    name = "sweeping_slices"

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as cls.modules:
            pathlib.Path(cls.modules, "pandas.py").write_text("raise ImportError\n")
            super().setUpClass()

    def test_the_missing_package_is_named_and_the_rest_runs(self):
        self.assertIn("a DataFrame needs pandas", self.printed)
        self.assertFalse(SPEEDUPS.search(self.printed))
        self.assertIn("tpu-v6e 8x8: a tensor of ", self.printed)


if __name__ == "__main__":
    unittest.main()
