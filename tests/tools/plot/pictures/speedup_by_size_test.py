"""Tests the picture of speedups."""
import unittest

import made_up_study
from picture_case import PictureCase


class SpeedupBySize(PictureCase):
    def test_figures_of_the_paper_are_marked_on_its_slice(self):
        figure = self.figure("speedup", made_up_study.sizes(), "sizes")
        marked = {axes.get_title(loc="left"): [line.get_ydata()[0] for line in axes.lines
                                               if list(line.get_xdata()) == [32 * 2**20]]
                  for axes in figure.axes}
        self.assertEqual(marked, {"slice 2x2 (4 chips)": [], "slice 4x2 (8 chips)": [1.8, 1.6],
                                  "slice 4x4 (16 chips)": []})

    def marks(self, rows: list[dict]) -> list[tuple]:
        figure = self.figure("speedup", rows, "sizes")
        return [(line.get_xdata()[0], line.get_ydata()[0]) for axes in figure.axes for line in axes.lines
                if line.get_markerfacecolor() == "none"]

    def test_figures_of_the_paper_depend_on_formats_not_labels(self):
        named = [dict(row, label={"full-loop": "mine"}.get(row["label"], row["label"]))
                 for row in made_up_study.sizes() if row["label"] != "semi-loop"]
        self.assertEqual(self.marks(named), [(32 * 2**20, 1.8)])
        others = [row if row["label"] == "bf16" else dict(row, format="int4") for row in made_up_study.sizes()]
        self.assertEqual(self.marks(others), [])

    def test_figures_beyond_the_line_are_not_marked(self):
        rows = [row for row in made_up_study.sizes() if row["tensor_bytes"] <= 2**24]
        self.assertEqual(self.marks(rows), [])


if __name__ == "__main__":
    unittest.main()
