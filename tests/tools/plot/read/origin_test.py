"""Tests the source line of pictures."""
import re
import unittest

import made_up_study
import made_up_sweep
from picture_case import PictureCase


class Origin(PictureCase):
    def texts_of(self, name: str) -> str:
        # matplotlib draws text as outlines, and writes it as comments.
        return (self.folder / name).read_text()

    def test_pictures_of_points_name_the_version_and_the_configurations(self):
        made_up_study.write_points(self.folder / "results.jsonl", made_up_study.six())
        self.run_plot("breakdown", "results.jsonl")
        self.assertIn("<!-- simulated with equarx-sim 9.8.7, 7 points, hash ", self.texts_of("breakdown.svg"))

    def test_the_source_line_counts_drawn_points(self):
        made_up_sweep.write(self.folder / "results.jsonl", made_up_sweep.lines())
        digests = {}
        for size in ("64 KiB", "16 MiB"):
            self.run_plot("breakdown", "results.jsonl", "--where", "/topology/slice=4x2", "--where",
                          f"/tensor/bytes={size}", "-o", size)
            [svg] = (self.folder / size).glob("*.svg")
            digests[size] = re.search("equarx-sim 9.8.7, 1 of 6 points, hash ([0-9a-f]{16})", svg.read_text())[1]
        self.assertEqual(len(set(digests.values())), 2)

    def test_the_source_line_counts_points_without_runs(self):
        entries = made_up_sweep.lines()
        made_up_sweep.write(self.folder / "r.jsonl", [*entries[:8], made_up_sweep.too_large(entries[8]),
                                                      made_up_sweep.failed(entries[10])])
        self.run_plot("sweep", "r.jsonl", "--x", "/tensor/bytes", "--y", "/topology/slice", "--label", "quick")
        [svg] = self.folder.glob("*.svg")
        self.assertIn("6 points (1 do not fit, 1 failed), hash", svg.read_text())

    def test_the_paper_picture_names_the_version_of_neighbouring_points(self):
        made_up_study.write_study(self.folder)
        self.run_plot("paper", "rows.csv")
        self.assertIn("<!-- simulated with equarx-sim 9.8.7, ", self.texts_of("paper.svg"))
        (self.folder / "results.jsonl").unlink()
        self.run_plot("paper", "rows.csv")
        self.assertIn("<!-- simulated with equarx-sim; sources", self.texts_of("paper.svg"))


if __name__ == "__main__":
    unittest.main()
