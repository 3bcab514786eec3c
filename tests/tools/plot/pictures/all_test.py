"""Tests what all pictures of studies have in common."""
import unittest

import made_up_study
from legible import check_legible, drawn_texts
from picture_case import PictureCase

from drawing import style
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

    def test_no_text_covers_another_or_is_cut_off(self):
        for name, figure in self.all_figures():
            with self.subTest(name):
                check_legible(self, figure)

    def test_every_picture_names_its_source(self):
        for name, figure in self.all_figures():
            with self.subTest(name):
                texts = [text for text, _ in drawn_texts(figure)]
                elsewhere = {"paper": "; sources of the figures: beside each",
                             **dict.fromkeys(["time", "breakdown", "tails"], "")}
                self.assertIn(style.SIMULATED + elsewhere.get(name, f"; {paper.CITATION}"), texts)

    def test_the_paper_is_cited_only_where_a_figure_of_it_is_drawn(self):
        rows = {"time": made_up_study.sizes(), "speedup": made_up_study.sizes(), "error": made_up_study.six(),
                "breakdown": made_up_study.six(), "tails": made_up_study.activations(),
                "prefill_time": made_up_study.prefills(), "prefill_speedup": made_up_study.prefills()}
        experiments = {"time": "sizes", "speedup": "sizes", "error": "six", "breakdown": "six",
                       "tails": "activations"}
        for kind, made in rows.items():
            for change in ({"hardware": "tpu-v6e"}, {"format": "int4"}):
                with self.subTest(kind=kind, change=change):
                    changed = [row if "format" in change and row["label"] == "bf16" else row | change for row in made]
                    figure = self.figure(kind, changed, experiments.get(kind, ""))
                    texts = "\n".join(text for text, _ in drawn_texts(figure))
                    # The paper has the time of a prefill without quantization, too.
                    self.assertEqual("paper" in texts, kind == "prefill_time" and "format" in change)


if __name__ == "__main__":
    unittest.main()
