"""Tests the pictures of prefills: bars, lines and what the paper reports are where they belong."""
import unittest

from picture_case import PictureCase

import plot
import style
import synthetic
from legible import check_legible, drawn_texts


class Prefill(PictureCase):
    def setUp(self):
        super().setUp()
        style.use()

    def figure(self, kind: str, rows: list[dict]):
        path = self.folder / "input.csv"
        synthetic.write(path, rows)
        return plot.draw(kind, [path], "")

    def test_there_is_a_panel_for_each_model_with_the_fewest_chips_first(self):
        for kind in ("prefill_time", "prefill_speedup"):
            titles = [axes.get_title(loc="left") for axes in self.figure(kind, synthetic.prefills()).axes]
            self.assertEqual(titles, ["gemma3-12b on slice 2x2 (4 chips)", "gemma3-27b on slice 4x4 (16 chips)"])

    def test_one_model_has_one_panel(self):
        rows = synthetic.prefill("gemma3-12b", "slice 2x2", 36, 13)
        for kind in ("prefill_time", "prefill_speedup"):
            figure = self.figure(kind, rows)
            self.assertEqual(len(figure.axes), 1)
            check_legible(self, figure)

    def test_bars_end_at_the_time_of_1024_tokens_and_have_all_parts(self):
        rows = synthetic.prefill("gemma3-12b", "slice 2x2", 36, 13)
        [axes] = self.figure("prefill_time", rows).axes
        self.assertEqual(len(axes.patches), 4 * len(rows))
        for i, row in enumerate(rows):
            parts = axes.patches[4 * i:4 * i + 4]
            top = max(bar.get_y() + bar.get_height() for bar in parts)
            self.assertAlmostEqual(top, 1e3 * row["time_s"] * 1024 / row["tokens"])
            self.assertEqual(len({bar.get_x() for bar in parts}), 1)
            self.assertEqual(len({(bar.get_hatch(), bar.get_facecolor()) for bar in parts}), 4)

    def test_every_bar_says_what_it_is_and_its_whole_time(self):
        rows = synthetic.prefill("gemma3-12b", "slice 2x2", 36, 13)
        texts = [text for text, _ in drawn_texts(self.figure("prefill_time", rows))]
        for row in rows:
            self.assertTrue(any(text.startswith(f"{row['label']}  ") for text in texts))
        self.assertIn("bf16  120.4 ms", [text for text in texts if "120" in text])

    def test_times_of_the_paper_are_marked_on_their_bars_alone(self):
        figure = self.figure("prefill_time", synthetic.prefills())
        marks = [[(round(float(line.get_xdata()[0]), 2), round(float(line.get_ydata()[0]), 2)) for line in axes.lines]
                 for axes in figure.axes]
        self.assertEqual(marks, [[], [(2.72, 60.64), (3.28, 48.72)]])

    def test_speedups_of_the_paper_are_marked_on_their_lines_alone(self):
        figure = self.figure("prefill_speedup", synthetic.prefills())
        marks = [sorted((int(line.get_xdata()[0]), line.get_ydata()[0]) for line in axes.lines
                        if line.get_markerfacecolor() == "none") for axes in figure.axes]
        self.assertEqual(marks, [[(2048, 1.1), (4096, 1.1), (8192, 1.1)], [(4096, 1.25)]])

    def test_the_paper_is_not_marked_on_what_it_does_not_report(self):
        for change in ({"hardware": "tpu-v6e"}, {"batch": 2}, {"topology": "slice 8x8"}, {"model": "llama3-8b"}):
            rows = [dict(row, **change) for row in synthetic.prefill("gemma3-27b", "slice 4x4", 20, 30)]
            for kind in ("prefill_time", "prefill_speedup"):
                [axes] = self.figure(kind, rows).axes
                self.assertEqual([line for line in axes.lines if len(line.get_xdata()) == 1], [], change)

    def test_lines_have_all_tokens_in_order_and_the_baseline_has_none(self):
        rows = list(reversed(synthetic.prefill("gemma3-12b", "slice 2x2", 36, 13)))
        [axes] = self.figure("prefill_speedup", rows).axes
        lines = [line for line in axes.lines if len(line.get_xdata()) > 2]
        self.assertEqual([list(line.get_xdata()) for line in lines], [synthetic.TOKENS] * 2)

    def refused(self, words: list[str], kind: str, rows: list[dict]) -> None:
        synthetic.write(self.folder / "points.csv", rows)
        self.check_refused(words, kind, "points.csv")

    def test_rows_that_cannot_be_drawn_are_refused(self):
        rows = synthetic.prefill("gemma3-12b", "slice 2x2", 36, 13)
        for kind in ("prefill_time", "prefill_speedup"):
            self.refused(["line 2", "'prefill'"], kind, synthetic.six())
            self.refused(["line 20", "second", "bf16"], kind, [*rows, rows[0]])
            self.refused(["line 3", "tpu-v4"], kind, [rows[0], dict(rows[1], hardware="tpu-v4")])
            self.refused(["line 3", "'batch'"], kind, [rows[0], dict(rows[1], batch=2)])
            self.refused(["line 2", "'tokens'"], kind, [dict(rows[0], tokens=0)])
        self.refused(["line 2", "matrix_s + attention_s", "time_s"], "prefill_time", [dict(rows[0], time_s=1)])
        self.refused(["line 2", "nothing to compare"], "prefill_speedup", [rows[0]])
        self.refused(["line 3", "'speedup'"], "prefill_speedup", [rows[0], dict(rows[1], speedup="")])


if __name__ == "__main__":
    unittest.main()
