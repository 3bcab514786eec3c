"""Tests what is in the pictures: no text covers another, and the numbers are where they belong."""
import unittest

from picture_case import PictureCase

import plot
import style
import synthetic
from legible import check_legible, drawn_texts


class Pictures(PictureCase):
    def setUp(self):
        super().setUp()
        style.use()

    def figure(self, kind: str, rows: list[dict], experiment: str = ""):
        path = self.folder / "input.csv"
        synthetic.write(path, rows)
        return plot.draw(kind, [path], experiment)

    def all_figures(self):
        yield "time", self.figure("time", synthetic.sizes(), "sizes")
        yield "speedup", self.figure("speedup", synthetic.sizes(), "sizes")
        yield "error", self.figure("error", synthetic.six(), "six")
        yield "formats", self.figure("error", synthetic.formats(), "formats")
        yield "breakdown", self.figure("breakdown", synthetic.formats(), "formats")
        yield "tails", self.figure("tails", synthetic.activations(), "activations")
        yield "prefill_time", self.figure("prefill_time", synthetic.prefills())
        yield "prefill_speedup", self.figure("prefill_speedup", synthetic.prefills())
        yield "paper", self.figure("paper", synthetic.paper_rows())

    def test_no_text_covers_another_or_is_cut_off(self):
        for name, figure in self.all_figures():
            with self.subTest(name):
                check_legible(self, figure)

    def test_this_check_can_fail(self):
        figure = self.figure("paper", synthetic.paper_rows())
        figure.text(0.02, 0.95, "on top of the title")
        with self.assertRaises(self.failureException):
            check_legible(self, figure)

    def test_points_at_the_same_place_still_get_legible_labels(self):
        rows = synthetic.six()
        for row in rows[1:]:
            row.update(speedup=1.8, mse=0.0014, mse_vs_baseline=0.0014)
        check_legible(self, self.figure("error", rows, "six"))

    def test_long_names_are_legible(self):
        rows = synthetic.paper_rows()
        rows[2].update(what="a configuration that needs very many words " * 4, source="a long source " * 9)
        check_legible(self, self.figure("paper", rows))

    def test_every_picture_names_its_source(self):
        for name, figure in self.all_figures():
            with self.subTest(name):
                texts = [text for text, _ in drawn_texts(figure)]
                elsewhere = f"{style.SIMULATED}; sources of the figures: beside each"
                self.assertIn(elsewhere if name == "paper" else style.SOURCE, texts)

    def test_speedup_marks_the_paper_on_its_slice_alone(self):
        figure = self.figure("speedup", synthetic.sizes(), "sizes")
        marked = {axes.get_title(loc="left"): [line.get_ydata()[0] for line in axes.lines
                                               if list(line.get_xdata()) == [32 * 2**20]]
                  for axes in figure.axes}
        self.assertEqual(marked, {"slice 2x2 (4 chips)": [], "slice 4x2 (8 chips)": [1.8, 1.6],
                                  "slice 4x4 (16 chips)": []})

    def test_paper_is_not_marked_on_another_machine(self):
        cases = [("speedup", synthetic.sizes(), "sizes"), ("error", synthetic.six(), "six")]
        for kind, rows, experiment in cases:
            elsewhere = [dict(row, hardware="tpu-v4") for row in rows]
            figure = self.figure(kind, elsewhere, experiment)
            marks = [line for axes in figure.axes for line in axes.lines
                     if 1.8 in line.get_ydata() or 0.0014 in line.get_ydata()]
            self.assertEqual(marks, [])

    def test_slices_are_in_order_of_chips_and_lines_in_order_of_size(self):
        figure = self.figure("time", list(reversed(synthetic.sizes())), "sizes")
        slices = [axes.get_title(loc="left").split()[1] for axes in figure.axes]
        self.assertEqual(slices, ["2x2", "4x2", "4x4"])
        for axes in figure.axes:
            for line in axes.lines:
                self.assertEqual(list(line.get_xdata()), sorted(synthetic.SIZES))

    def test_error_is_filled_against_the_baseline_and_hollow_against_the_exact_sum(self):
        row = synthetic.six()[1]
        [axes] = self.figure("error", [row], "six").axes
        faces = {line.get_ydata()[0]: line.get_markerfacecolor() for line in axes.lines
                 if len(line.get_ydata()) == 1}
        self.assertEqual(faces[row["mse"]], "white")
        self.assertNotEqual(faces[row["mse_vs_baseline"]], "white")

    def test_no_error_is_outside_the_panel_and_both_of_a_row_are_joined(self):
        row = dict(synthetic.six()[1], mse=1e-5, mse_vs_baseline=0.9)
        [axes] = self.figure("error", [row], "six").axes
        low, high = axes.get_ylim()
        self.assertTrue(low < row["mse"] and row["mse_vs_baseline"] < high, (low, high))
        self.assertIn([0.9, 1e-5], [list(line.get_ydata()) for line in axes.lines])

    def test_bars_end_where_the_time_ends(self):
        rows = synthetic.six()
        [axes] = self.figure("breakdown", rows, "six").axes
        for place, row in enumerate(rows):
            ends = [bar.get_x() + bar.get_width() for bar in axes.patches
                    if abs(bar.get_y() + bar.get_height() / 2 - place) < 0.1]
            self.assertAlmostEqual(max(ends), row["time_s"], places=9)

    def test_tails_join_both_values_and_write_their_difference(self):
        figure = self.figure("tails", synthetic.activations(), "activations")
        [axes] = figure.axes
        joined = [list(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
        self.assertEqual(joined, [[49, 49.3], [37.25, 28.75], [25, 28.5], [2.5, -4]])
        bold = {text.get_text(): text.get_weight() for text in axes.texts}
        self.assertEqual({difference: bold[difference] for difference in
                          ["+0.3 dB", "-8.5 dB", "+3.5 dB", "-6.5 dB"]},
                         {"+0.3 dB": "normal", "-8.5 dB": "bold", "+3.5 dB": "normal", "-6.5 dB": "bold"})
        low, high = axes.get_xlim()
        self.assertTrue(low < -4 and 49.3 < high, (low, high))

    def test_tails_leave_the_baseline_out_and_say_so(self):
        figure = self.figure("tails", synthetic.activations(), "activations")
        labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        self.assertEqual(labels, ["bf16", "int8", "fp8-e4m3", "int4"])
        self.assertTrue(any("Not drawn: fp32" in text and "145 and 146 dB" in text
                            for text, _ in drawn_texts(figure)))

    def test_a_ceiling_is_open_to_the_left_and_calibrations_come_last(self):
        rows = [row for row in synthetic.paper_rows()
                if row["kind"] == "at most" or row["role"] == "calibration"]
        [axes] = self.figure("paper", rows).axes
        calibration, ceiling = sorted(axes.patches, key=lambda band: -band.get_y())
        self.assertEqual(ceiling.get_x(), axes.get_xlim()[0])
        self.assertAlmostEqual(ceiling.get_x() + ceiling.get_width(), 1.05)
        self.assertAlmostEqual(calibration.get_x(), 0.99)

    def test_what_is_outside_its_tolerance_is_crossed_out(self):
        crosses = [line for line in self.figure("paper", synthetic.paper_rows()).axes[0].lines
                   if line.get_marker() == "x"]
        self.assertEqual([float(line.get_xdata()[0]) for line in crosses], [0.00042 / 0.0003])


if __name__ == "__main__":
    unittest.main()
