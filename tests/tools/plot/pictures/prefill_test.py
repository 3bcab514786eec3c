"""Tests what both pictures of prefills share."""
import unittest

import made_up_study
from legible import check_legible
from picture_case import PictureCase


class Prefill(PictureCase):
    def test_there_is_a_panel_for_each_model_with_the_fewest_chips_first(self):
        for kind in ("prefill_time", "prefill_speedup"):
            titles = [axes.get_title(loc="left") for axes in self.figure(kind, made_up_study.prefills()).axes]
            self.assertEqual(titles, ["gemma3-12b on slice 2x2 (4 chips)", "gemma3-27b on slice 4x4 (16 chips)"])

    def test_one_model_has_one_panel(self):
        rows = made_up_study.prefill("gemma3-12b", "slice 2x2", 36, 13)
        for kind in ("prefill_time", "prefill_speedup"):
            figure = self.figure(kind, rows)
            self.assertEqual(len(figure.axes), 1)
            check_legible(self, figure)

    def refused(self, words: list[str], kind: str, rows: list[dict]) -> None:
        made_up_study.write(self.folder / "points.csv", rows)
        self.check_refused(words, kind, "points.csv")

    def test_rows_that_cannot_be_drawn_are_refused(self):
        rows = made_up_study.prefill("gemma3-12b", "slice 2x2", 36, 13)
        for kind in ("prefill_time", "prefill_speedup"):
            self.refused(["line 2", "'prefill'"], kind, made_up_study.six())
            self.refused(["line 20", "second", "bf16"], kind, [*rows, rows[0]])
            self.refused(["line 3", "tpu-v4"], kind, [rows[0], dict(rows[1], hardware="tpu-v4")])
            self.refused(["line 3", "'batch'"], kind, [rows[0], dict(rows[1], batch=2)])
            self.refused(["line 2", "'tokens'"], kind, [dict(rows[0], tokens=0)])
        self.refused(["line 2", "matrix_s + attention_s", "time_s"], "prefill_time", [dict(rows[0], time_s=1)])
        self.refused(["line 2", "nothing to compare"], "prefill_speedup", [rows[0]])
        self.refused(["line 3", "'speedup'"], "prefill_speedup", [rows[0], dict(rows[1], speedup="")])


if __name__ == "__main__":
    unittest.main()
