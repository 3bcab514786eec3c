"""Tests the picture of comparisons."""
import unittest

import made_up_run
from legible import check_legible, drawn_texts
from picture_case import PictureCase

from drawing import style
from pictures import comparison as picture
from read import comparison
from read.errors import InputError


class ComparisonPicture(PictureCase):
    def setUp(self):
        super().setUp()
        style.use()
        self.path = self.folder / "compared.json"

    def figure(self, content: dict):
        made_up_run.write_result(self.path, content)
        return picture.draw(comparison.read(self.path))

    def test_each_collective_has_a_bar_for_each_result(self):
        figure = self.figure(made_up_run.comparison())
        check_legible(self, figure)
        [axes] = figure.axes
        self.assertEqual([bar.get_width() for bar in axes.patches], [2e-4, 1e-4, 1e-4, 8e-5])
        self.assertEqual(len({bar.get_hatch() for bar in axes.patches}), 2)
        texts = [text for text, _ in drawn_texts(figure)]
        for text in ("A: a.json", "B: b.json", "200.0 us", "80.00 us", "1.50x", "0.500", "0.800",
                     "different configurations (A, B): /hardware: tpu-v5e, tpu-v6e"):
            self.assertIn(text, texts)

    def test_a_collective_of_one_result_has_no_ratio(self):
        figure = self.figure(made_up_run.comparison([(2e-4, None), (None, 1e-4)]))
        texts = [text for text, _ in drawn_texts(figure)]
        # Two times, two ratios, and four SQNRs are missing.
        self.assertEqual(texts.count("-"), 8)

    def test_many_differences_are_counted(self):
        content = made_up_run.comparison()
        content["configuration"] = [{"pointer": f"/{name}", "a": None, "b": {"x": 1}} for name in "abcde"]
        texts = "\n".join(text for text, _ in drawn_texts(self.figure(content)))
        self.assertIn("/a: none, x 1; /b: none, x 1; /c: none, x 1; 2 more", texts)
        content["configuration"] = []
        self.assertIn("same configuration", [text for text, _ in drawn_texts(self.figure(content))])

    def test_the_command_names_both_versions(self):
        content = made_up_run.comparison()
        content["b"]["version"] = "9.9.0"
        made_up_run.write_result(self.path, content)
        ran = self.run_plot("compare", "compared.json", "--format", "svg")
        self.assertEqual((ran.stdout, ran.stderr), ("compare.svg\n", ""))
        self.assertIn("simulated with equarx-sim 9.8.7 and 9.9.0", (self.folder / "compare.svg").read_text())

    def test_rejects_comparisons_without_times(self):
        with self.assertRaisesRegex(InputError, "neither result has a time"):
            self.figure(made_up_run.comparison([(None, None)]))


if __name__ == "__main__":
    unittest.main()
