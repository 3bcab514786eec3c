"""Tests the picture of prefills' times."""
import unittest

import made_up_study
from legible import drawn_texts
from picture_case import PictureCase


class PrefillTime(PictureCase):
    def test_bars_end_at_the_time_of_1024_tokens_and_have_all_parts(self):
        rows = made_up_study.prefill("gemma3-12b", "slice 2x2", 36, 13)
        [axes] = self.figure("prefill_time", rows).axes
        self.assertEqual(len(axes.patches), 4 * len(rows))
        for i, row in enumerate(rows):
            parts = axes.patches[4 * i:4 * i + 4]
            top = max(bar.get_y() + bar.get_height() for bar in parts)
            self.assertAlmostEqual(top, 1e3 * row["time_s"] * 1024 / row["tokens"])
            self.assertEqual(len({bar.get_x() for bar in parts}), 1)
            self.assertEqual(len({(bar.get_hatch(), bar.get_facecolor()) for bar in parts}), 4)

    def test_bars_have_label_and_time(self):
        rows = made_up_study.prefill("gemma3-12b", "slice 2x2", 36, 13)
        texts = [text for text, _ in drawn_texts(self.figure("prefill_time", rows))]
        for row in rows:
            self.assertTrue(any(text.startswith(f"{row['label']}  ") for text in texts))
        self.assertIn("bf16  120.4 ms", [text for text in texts if "120" in text])

    def test_times_of_the_paper_are_marked_on_matching_bars(self):
        figure = self.figure("prefill_time", made_up_study.prefills())
        marks = [[(round(float(line.get_xdata()[0]), 2), round(float(line.get_ydata()[0]), 2)) for line in axes.lines]
                 for axes in figure.axes]
        self.assertEqual(marks, [[], [(2.72, 60.64), (3.28, 48.72)]])


if __name__ == "__main__":
    unittest.main()
