"""Tests what all pictures of studies have in common."""
import unittest

import made_up_study
from legible import check_legible, drawn_texts
from picture_case import PictureCase

from drawing import style


class All(PictureCase):
    def all_figures(self):
        yield "time", self.figure("time", made_up_study.sizes(), "sizes")
        yield "speedup", self.figure("speedup", made_up_study.sizes(), "sizes")
        yield "error", self.figure("error", made_up_study.six(), "six")
        yield "formats", self.figure("error", made_up_study.formats(), "formats")
        yield "breakdown", self.figure("breakdown", made_up_study.formats(), "formats")
        yield "tails", self.figure("tails", made_up_study.activations(), "activations")
        yield "prefill_time", self.figure("prefill_time", made_up_study.prefills())
        yield "prefill_speedup", self.figure("prefill_speedup", made_up_study.prefills())
        yield "paper", self.figure("paper", made_up_study.paper_rows())

    def test_no_text_covers_another_or_is_cut_off(self):
        for name, figure in self.all_figures():
            with self.subTest(name):
                check_legible(self, figure)

    def test_every_picture_names_its_source(self):
        for name, figure in self.all_figures():
            with self.subTest(name):
                texts = [text for text, _ in drawn_texts(figure)]
                elsewhere = f"{style.SIMULATED}; sources of the figures: beside each"
                self.assertIn(elsewhere if name == "paper" else style.SOURCE, texts)


if __name__ == "__main__":
    unittest.main()
