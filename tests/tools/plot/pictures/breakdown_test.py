"""Tests the picture of time breakdowns."""
import unittest

import made_up_study
from picture_case import PictureCase


class Breakdown(PictureCase):
    def test_bars_end_where_the_time_ends(self):
        rows = made_up_study.six()
        [axes] = self.figure("breakdown", rows, "six").axes
        for place, row in enumerate(rows):
            ends = [bar.get_x() + bar.get_width() for bar in axes.patches
                    if abs(bar.get_y() + bar.get_height() / 2 - place) < 0.1]
            self.assertAlmostEqual(max(ends), row["time_s"], places=9)

    def test_rejects_a_time_of_zero(self):
        self.points((2, "time_s", 0))
        self.check_refused(["line 3", "'time_s'"], "breakdown", "results.jsonl")

    def test_rejects_parts_with_another_sum(self):
        self.points((1, "idle_s", 1e-4))
        self.check_refused(["line 2", "payload_s + scales_s", "time_s"], "breakdown", "results.jsonl")

    def test_rejects_two_machines(self):
        self.points((3, "hardware", "tpu-v4"))
        self.check_refused(["line 4", "tpu-v4", "tpu-v5e"], "breakdown", "results.jsonl")

    def test_rejects_two_rows_of_one_label(self):
        self.points((3, "label", "bf16"))
        self.check_refused(["line 4", "second", "bf16"], "breakdown", "results.jsonl")


if __name__ == "__main__":
    unittest.main()
