"""Tests what pictures say about where their numbers are from."""
import re
import unittest

import made_up_study
import made_up_sweep
from picture_case import PictureCase


class Origin(PictureCase):
    def texts_of(self, name: str) -> str:
        # matplotlib draws text as outlines, and names each in a comment.
        return (self.folder / name).read_text()

    def test_pictures_of_points_name_the_version_and_the_configurations(self):
        made_up_study.write_points(self.folder / "results.jsonl", made_up_study.six())
        self.run_plot("breakdown", "results.jsonl")
        self.assertIn("<!-- simulated with equarx-sim 9.8.7, 7 points, hash ", self.texts_of("breakdown.svg"))

    def test_of_several_points_those_are_counted_that_are_drawn(self):
        made_up_sweep.write(self.folder / "results.jsonl", made_up_sweep.lines())
        said = {}
        for size in ("64 KiB", "16 MiB"):
            self.run_plot("breakdown", "results.jsonl", "--where", "/topology/slice=4x2", "--where",
                          f"/tensor/bytes={size}", "-o", size)
            [svg] = (self.folder / size).glob("*.svg")
            said[size] = re.search("equarx-sim 9.8.7, 1 of 6 points, hash ([0-9a-f]{16})", svg.read_text())[1]
        self.assertEqual(len(set(said.values())), 2)

    def test_pictures_of_expected_rows_name_what_computed_the_points_beside_them_if_these_are_there(self):
        made_up_study.write_study(self.folder)
        self.run_plot("paper", "rows.csv")
        self.assertIn("<!-- simulated with equarx-sim 9.8.7, ", self.texts_of("paper.svg"))
        (self.folder / "results.jsonl").unlink()
        self.run_plot("paper", "rows.csv")
        self.assertIn("<!-- simulated with equarx-sim; sources", self.texts_of("paper.svg"))


if __name__ == "__main__":
    unittest.main()
