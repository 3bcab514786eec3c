"""Tests both pictures of prefills."""
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
        made_up_study.write_points(self.folder / "results.jsonl", rows)
        self.check_refused(words, kind, "results.jsonl")

    def test_rejects_unsuitable_rows(self):
        rows = made_up_study.prefill("gemma3-12b", "slice 2x2", 36, 13)
        for kind in ("prefill_time", "prefill_speedup"):
            self.refused(["line 1", "'prefill'"], kind, made_up_study.six())
            self.refused(["line 19", "second", "bf16"], kind, [*rows, rows[0]])
            self.refused(["line 2", "tpu-v4"], kind, [rows[0], dict(rows[1], hardware="tpu-v4")])
            self.refused(["line 2", "'batch'"], kind, [rows[0], dict(rows[1], batch=2)])
            self.refused(["line 1", "'tokens'"], kind, [dict(rows[0], tokens=0)])
        self.refused(["line 1", "matrix_s + attention_s", "time_s"], "prefill_time", [dict(rows[0], time_s=1)])
        self.refused(["line 1", "nothing to compare"], "prefill_speedup", [rows[0]])
        self.refused(["line 2", "'speedup'"], "prefill_speedup", [rows[0], dict(rows[1], speedup="")])


if __name__ == "__main__":
    unittest.main()
