"""Tests the picture of heavy-tailed values."""
import unittest

import made_up_study
from legible import drawn_texts
from picture_case import PictureCase


class Tails(PictureCase):
    def test_both_values_are_joined_with_their_difference(self):
        figure = self.figure("tails", made_up_study.activations(), "activations")
        [axes] = figure.axes
        joined = [list(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
        self.assertEqual(joined, [[49, 49.3], [37.25, 28.75], [25, 28.5], [2.5, -4]])
        bold = {text.get_text(): text.get_weight() for text in axes.texts}
        self.assertEqual({difference: bold[difference] for difference in
                          ["+0.3 dB", "-8.5 dB", "+3.5 dB", "-6.5 dB"]},
                         {"+0.3 dB": "normal", "-8.5 dB": "bold", "+3.5 dB": "normal", "-6.5 dB": "bold"})
        low, high = axes.get_xlim()
        self.assertTrue(low < -4 and 49.3 < high, (low, high))

    def test_the_baseline_is_left_out_with_a_note(self):
        figure = self.figure("tails", made_up_study.activations(), "activations")
        labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        self.assertEqual(labels, ["bf16", "int8", "fp8-e4m3", "int4"])
        self.assertTrue(any("not drawn: fp32" in text and "145 and 146 dB" in text
                            for text, _ in drawn_texts(figure)))

    def tails(self, *changes, without=()) -> None:
        """Writes the rows of tails, changed: (row, column, value); some left out."""
        rows = made_up_study.activations()
        for row, column, value in changes:
            rows[row][column] = value
        made_up_study.write_points(self.folder / "results.jsonl",
                                   [row for place, row in enumerate(rows) if place not in without])

    def test_rejects_labels_with_one_kind_of_values(self):
        self.tails(without=[7])
        self.check_refused(["line 3", "'int8'", "'files'"], "tails", "results.jsonl")
        self.tails(without=[2])
        self.check_refused(["line 7", "'int8'", "'normal'"], "tails", "results.jsonl")

    def test_rejects_other_kinds_of_values(self):
        self.tails((7, "values", "uniform"))
        self.check_refused(["line 8", "'uniform'", "'normal'", "'files'"], "tails", "results.jsonl")
        self.tails((7, "values", ""))
        self.check_refused(["line 8", "'values'", "empty"], "tails", "results.jsonl")

    def test_rejects_missing_and_invalid_sqnr(self):
        self.tails((7, "sqnr_db", ""))
        self.check_refused(["line 8", "'int8'", "no SQNR"], "tails", "results.jsonl")
        for value in ("nan", "inf", "loud"):
            with self.subTest(value=value):
                self.tails((7, "sqnr_db", value))
                self.check_refused(["line 8", "'sqnr_db'", value], "tails", "results.jsonl")

    def test_rejects_duplicate_rows_and_a_sole_baseline(self):
        self.tails((2, "label", "bf16"))
        self.check_refused(["line 3", "second", "bf16"], "tails", "results.jsonl")
        self.tails(without=[1, 2, 3, 4, 6, 7, 8, 9])
        self.check_refused(["line 1", "only the baseline"], "tails", "results.jsonl")


if __name__ == "__main__":
    unittest.main()
