"""Tests widths of texts and line breaking."""
import unittest

from drawing import measure, style


class Measure(unittest.TestCase):
    def setUp(self):
        style.use()

    def test_measured_widths_match_drawn_widths(self):
        from drawing import sheet
        figure = sheet.page(6, 2)
        for text in ("slice 4x2 (8 chips)", "i", "WWWW"):
            drawn = figure.text(0, 0, text, size=9.5).get_window_extent().width / figure.dpi
            self.assertAlmostEqual(measure.width(text, 9.5), drawn, delta=0.03)
        self.assertGreater(measure.width("bold", 9.5, bold=True), measure.width("bold", 9.5))

    def test_lines_fit_the_width_and_keep_all_words(self):
        text = "AllReduce of 32 MiB of bf16 on each of 8 x tpu-v5e, slice 4x2; values from N(0, 1)"
        for inches in (1.0, 2.0, 20.0):
            lines = measure.wrapped(text, inches, 8)
            self.assertEqual(" ".join(lines), text)
            self.assertLessEqual(measure.widest(lines, 8), inches)
        self.assertEqual(measure.wrapped("a\nb", 5, 8), ["a", "b"])

    def test_long_words_are_shortened_in_the_middle(self):
        lines = measure.wrapped("file a_very_long_name_of_a_topology_0123456789.json", 1.5, 9.5)
        self.assertEqual(lines[0], "file")
        self.assertLessEqual(measure.widest(lines), 1.5)
        self.assertTrue(lines[1].startswith("a_very") and lines[1].endswith(".json") and measure.CUT in lines[1], lines)


if __name__ == "__main__":
    unittest.main()
