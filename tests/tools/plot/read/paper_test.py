"""Tests where pictures mark what the paper reports."""
import unittest

import made_up_study
from picture_case import PictureCase


class Paper(PictureCase):
    def test_paper_is_not_marked_on_another_machine(self):
        cases = [("speedup", made_up_study.sizes(), "sizes"), ("error", made_up_study.six(), "six")]
        for kind, rows, experiment in cases:
            elsewhere = [dict(row, hardware="tpu-v5e (dma_queue 3)") for row in rows]
            figure = self.figure(kind, elsewhere, experiment)
            marks = [line for axes in figure.axes for line in axes.lines
                     if 1.8 in line.get_ydata() or 0.0014 in line.get_ydata()]
            self.assertEqual(marks, [])

    def test_the_paper_is_not_marked_on_what_it_does_not_report(self):
        for change in ({"hardware": "tpu-v6e"}, {"hardware": "tpu-v5e (link_bandwidth 90 GB/s)"}, {"batch": 2},
                       {"topology": "slice 8x8"}, {"model": "llama3-8b"}):
            rows = [dict(row, **change) for row in made_up_study.prefill("gemma3-27b", "slice 4x4", 20, 30)]
            for kind in ("prefill_time", "prefill_speedup"):
                [axes] = self.figure(kind, rows).axes
                self.assertEqual([line for line in axes.lines if len(line.get_xdata()) == 1], [], change)


if __name__ == "__main__":
    unittest.main()
