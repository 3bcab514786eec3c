"""Tests the picture of times."""
import unittest

import made_up_study
from picture_case import PictureCase


class TimeBySize(PictureCase):
    def test_slices_are_sorted_by_chips_and_lines_by_size(self):
        figure = self.figure("time", list(reversed(made_up_study.sizes())), "sizes")
        slices = [axes.get_title(loc="left").split()[1] for axes in figure.axes]
        self.assertEqual(slices, ["2x2", "4x2", "4x4"])
        for axes in figure.axes:
            for line in axes.lines:
                self.assertEqual(list(line.get_xdata()), sorted(made_up_study.SIZES))


if __name__ == "__main__":
    unittest.main()
