"""Tests the picture of speedups."""
import unittest

import made_up_study
from picture_case import PictureCase


class SpeedupBySize(PictureCase):
    def test_speedup_marks_the_paper_on_its_slice_alone(self):
        figure = self.figure("speedup", made_up_study.sizes(), "sizes")
        marked = {axes.get_title(loc="left"): [line.get_ydata()[0] for line in axes.lines
                                               if list(line.get_xdata()) == [32 * 2**20]]
                  for axes in figure.axes}
        self.assertEqual(marked, {"slice 2x2 (4 chips)": [], "slice 4x2 (8 chips)": [1.8, 1.6],
                                  "slice 4x4 (16 chips)": []})


if __name__ == "__main__":
    unittest.main()
