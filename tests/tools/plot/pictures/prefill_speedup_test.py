"""Tests the picture of prefills' speedups."""
import unittest

import made_up_study
from picture_case import PictureCase


class PrefillSpeedup(PictureCase):
    def test_speedups_of_the_paper_are_marked_on_matching_lines(self):
        figure = self.figure("prefill_speedup", made_up_study.prefills())
        marks = [sorted((int(line.get_xdata()[0]), line.get_ydata()[0]) for line in axes.lines
                        if line.get_markerfacecolor() == "none") for axes in figure.axes]
        self.assertEqual(marks, [[(2048, 1.1), (4096, 1.1), (8192, 1.1)], [(4096, 1.25)]])

    def test_lines_are_sorted_and_omit_the_baseline(self):
        rows = list(reversed(made_up_study.prefill("gemma3-12b", "slice 2x2", 36, 13)))
        [axes] = self.figure("prefill_speedup", rows).axes
        lines = [line for line in axes.lines if len(line.get_xdata()) > 2]
        self.assertEqual([list(line.get_xdata()) for line in lines], [made_up_study.TOKENS] * 2)


if __name__ == "__main__":
    unittest.main()
