"""The first notebook shows a result, its parts, an own array and two mistakes; and leaves no file unless asked."""
import os
import re
import tempfile
import unittest

import notebook


class FirstSteps(notebook.Script):
    name = "first_steps"

    def test_a_figure_is_saved_only_if_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = notebook.ran_script(self.name, folder=folder)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertEqual(os.listdir(folder), [])

    def test_the_table_is_that_of_the_program(self):
        self.assertIn("AllReduce of 2048 x 4096 bf16 (16.00 MiB) on each of 8 x tpu-v5e, slice 4x2", self.printed)

    def test_parts_of_the_time_are_all_of_it(self):
        parts = re.findall(r"^\w+: (payload .*bubbles .*)$", self.printed, re.M)
        self.assertEqual(len(parts), 2)
        for line in parts:
            self.assertAlmostEqual(sum(map(float, re.findall(r"([\d.]+)%", line))), 100, delta=0.3)

    def test_small_tensors_gain_nothing_and_large_ones_do(self):
        speedups = [float(text) for text in re.findall(r"iB: ([\d.]+)x$", self.printed, re.M)]
        self.assertEqual(len(speedups), 4)
        self.assertEqual(speedups, sorted(speedups))
        self.assertLess(speedups[0], 1)
        self.assertGreater(speedups[-1], 1.7)

    def test_the_error_of_an_own_array_is_what_numpy_finds(self):
        [(found, by_hand)] = re.findall(r"^MSE (\S+); by hand (\S+)$", self.printed, re.M)
        self.assertEqual(found, by_hand)

    def test_more_elements_to_a_scale_are_a_larger_error(self):
        [strided, blocks] = re.findall(r": (\d+) elements share a scale, SQNR ([\d.]+) dB$", self.printed, re.M)
        self.assertLess(int(strided[0]), int(blocks[0]))
        self.assertGreater(float(strided[1]), float(blocks[1]))

    def test_mistakes_are_told_with_place_and_remedy(self):
        self.assertIn("did you mean 'int8'?", self.printed)
        self.assertIn("pointer: /collectives/1/format\n", self.printed)
        self.assertIn("convert it with .astype('float32')", self.printed)


if __name__ == "__main__":
    unittest.main()
