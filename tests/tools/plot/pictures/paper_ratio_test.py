"""Tests the picture of simulated against reported figures."""
import unittest

import made_up_study
from legible import check_legible
from picture_case import PictureCase


class PaperRatio(PictureCase):
    def test_long_names_are_legible(self):
        rows = made_up_study.paper_rows()
        rows[2].update(what="a configuration that needs very many words " * 4, source="a long source " * 9)
        check_legible(self, self.figure("paper", rows))

    def test_upper_bounds_have_no_lower_end_and_calibrations_come_last(self):
        rows = [row for row in made_up_study.paper_rows()
                if row["kind"] == "at most" or row["role"] == "calibration"]
        [axes] = self.figure("paper", rows).axes
        calibration, ceiling = sorted(axes.patches, key=lambda band: -band.get_y())
        self.assertEqual(ceiling.get_x(), axes.get_xlim()[0])
        self.assertAlmostEqual(ceiling.get_x() + ceiling.get_width(), 1.05)
        self.assertAlmostEqual(calibration.get_x(), 0.99)

    def test_a_tolerance_above_the_figure_has_no_lower_end(self):
        rows = made_up_study.paper_rows()[:1]
        rows[0]["tolerance"] = "1.3"
        [axes] = self.figure("paper", rows).axes
        [band] = axes.patches
        self.assertEqual(band.get_x(), axes.get_xlim()[0])
        self.assertAlmostEqual(band.get_x() + band.get_width(), 2.3)

    def test_figures_outside_their_tolerance_are_crossed_out(self):
        crosses = [line for line in self.figure("paper", made_up_study.paper_rows()).axes[0].lines
                   if line.get_marker() == "x"]
        self.assertEqual([float(line.get_xdata()[0]) for line in crosses], [0.00042 / 0.0003])

    def test_rejects_invalid_rows(self):
        for column, value in {"role": "guess", "within": "maybe", "ratio": "0", "tolerance": "10"}.items():
            with self.subTest(column=column):
                rows = made_up_study.paper_rows()
                rows[1][column] = value
                made_up_study.write(self.folder / "rows.csv", rows)
                self.check_refused(["rows.csv, line 3", f"'{column}'", value], "paper", "rows.csv")


if __name__ == "__main__":
    unittest.main()
