"""The first notebook shows a result, its breakdown, sums of arrays and two errors; it writes a file only on request."""
import os
import re
import tempfile
import unittest

import notebook


class FirstSteps(notebook.Script):
    name = "first_steps"

    def test_a_figure_is_saved_only_on_request(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = notebook.ran_script(self.name, folder=folder)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertEqual(os.listdir(folder), [])

    def test_the_table_is_the_program_s(self):
        self.assertIn("AllReduce of 2048 x 4096 bf16 (16.00 MiB) on each of 8 x tpu-v5e, slice 4x2", self.printed)

    def test_parts_of_the_time_add_up(self):
        parts = re.findall(r"^\w+: (payload .*idle .*)$", self.printed, re.M)
        self.assertEqual(len(parts), 2)
        for line in parts:
            self.assertAlmostEqual(sum(map(float, re.findall(r"([\d.]+)%", line))), 100, delta=0.3)

    def test_int8_is_slower_for_small_tensors_and_faster_for_large_ones(self):
        speedups = [float(text) for text in re.findall(r"iB: ([\d.]+)x$", self.printed, re.M)]
        self.assertEqual(len(speedups), 4)
        self.assertEqual(speedups, sorted(speedups))
        self.assertLess(speedups[0], 1)
        self.assertGreater(speedups[-1], 1.7)

    def test_the_error_of_an_array_equals_numpy_s(self):
        [(found, numpy)] = re.findall(r"^MSE (\S+); NumPy: (\S+)$", self.printed, re.M)
        self.assertEqual(found, numpy)

    def test_more_elements_per_scale_give_a_larger_error(self):
        [strided, blocks] = re.findall(r": (\d+) elements share a scale, SQNR ([\d.]+) dB$", self.printed, re.M)
        self.assertLess(int(strided[0]), int(blocks[0]))
        self.assertGreater(float(strided[1]), float(blocks[1]))

    def test_errors_have_a_location_and_a_remedy(self):
        self.assertIn("did you mean 'int8'?", self.printed)
        self.assertIn("pointer: /collectives/1/format\n", self.printed)
        self.assertIn("convert it with .astype('float32')", self.printed)


if __name__ == "__main__":
    unittest.main()
