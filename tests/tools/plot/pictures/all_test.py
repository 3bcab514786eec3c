"""Tests properties of all pictures of studies."""
import unittest
from unittest import mock

import made_up_study
from legible import check_legible, drawn_texts
from picture_case import PictureCase

from drawing import sheet, style
from read import paper


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

    def test_texts_are_legible(self):
        for name, figure in self.all_figures():
            with self.subTest(name):
                check_legible(self, figure)

    def test_pictures_for_papers_are_legible(self):
        self.addCleanup(sheet.configure, sheet.Settings())
        sheet.configure(sheet.Settings(width=178 / sheet.INCH_MM))
        with mock.patch.object(style, "use"):  # called for every figure of these tests
            for name, figure in self.all_figures():
                with self.subTest(name):
                    self.assertAlmostEqual(figure.get_size_inches()[0] * sheet.INCH_MM, 178)
                    check_legible(self, figure)

    def test_every_picture_names_its_source(self):
        for name, figure in self.all_figures():
            with self.subTest(name):
                [text] = [text for text, _ in drawn_texts(figure) if text.startswith(sheet.SIMULATED)]
                elsewhere = {"paper": "; sources of the figures: next to each",
                             **dict.fromkeys(["time", "breakdown", "tails"], "")}
                self.assertTrue(text.endswith(elsewhere.get(name, f"; {paper.CITATION}")), text)
                self.assertEqual("points, hash" in text, name != "paper")

    def test_the_paper_is_cited_only_with_its_figures(self):
        sizes = [row for row in made_up_study.sizes() if row["topology"] == "slice 4x2"]
        rows = {"speedup": (sizes, "sizes"), "error": (made_up_study.six(), "six"),
                "breakdown": (made_up_study.six(), "six"), "prefill_time": (made_up_study.prefills(), ""),
                "prefill_speedup": (made_up_study.prefills(), "")}
        for kind, (made, experiment) in rows.items():
            with self.subTest(kind=kind):
                self.assertEqual("paper" in self.words(kind, made, experiment), kind != "breakdown")
                elsewhere = [row | {"hardware": "tpu-v6e"} for row in made]
                self.assertNotIn("paper", self.words(kind, elsewhere, experiment))
            with self.subTest(kind=kind, format="int4"):
                others = [row if row["label"] == "bf16" else row | {"format": "int4"} for row in made]
                # The paper also reports the time of a prefill without quantization.
                self.assertEqual("paper" in self.words(kind, others, experiment), kind == "prefill_time")

    def words(self, kind: str, rows: list[dict], experiment: str) -> str:
        return "\n".join(text for text, _ in drawn_texts(self.figure(kind, rows, experiment)))


if __name__ == "__main__":
    unittest.main()
