"""Tests the picture of errors."""
import unittest

import made_up_study
from legible import check_legible
from picture_case import PictureCase


class ErrorBySpeedup(PictureCase):
    def test_labels_of_identical_points_are_legible(self):
        rows = made_up_study.six()
        for row in rows[1:]:
            row.update(speedup=1.8, mse=0.0014, mse_vs_baseline=0.0014)
        check_legible(self, self.figure("error", rows, "six"))

    def test_error_is_filled_against_the_baseline_and_hollow_against_the_exact_sum(self):
        row = made_up_study.six()[1]
        [axes] = self.figure("error", [row], "six").axes
        faces = {line.get_ydata()[0]: line.get_markerfacecolor() for line in axes.lines
                 if len(line.get_ydata()) == 1}
        self.assertEqual(faces[row["mse"]], "white")
        self.assertNotEqual(faces[row["mse_vs_baseline"]], "white")

    def test_both_errors_of_a_row_are_joined_within_the_panel(self):
        row = dict(made_up_study.six()[1], mse=1e-5, mse_vs_baseline=0.9)
        [axes] = self.figure("error", [row], "six").axes
        low, high = axes.get_ylim()
        self.assertTrue(low < row["mse"] and row["mse_vs_baseline"] < high, (low, high))
        self.assertIn([0.9, 1e-5], [list(line.get_ydata()) for line in axes.lines])

    def test_rejects_rows_without_numerics(self):
        self.points((1, "mse", ""), (1, "mse_vs_baseline", ""))
        self.check_refused(["line 2", "'full-loop both'", "numerics"], "error", "results.jsonl")


if __name__ == "__main__":
    unittest.main()
