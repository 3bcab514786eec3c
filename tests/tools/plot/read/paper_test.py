"""Tests the rows of the figures of the paper."""
import pathlib
import unittest

import made_up_study
from picture_case import PictureCase

from read import paper, point_files
from read.row import Row

SPEEDUPS = {"full-loop both": 1.8, "semi-loop both": 1.6, "full-loop all-gather": 1.3, "semi-loop all-gather": 1.3}
OTHERS = {"hardware": ["tpu-v6e", "my-tpu-v5e", "tpu-v5e (link_bandwidth 90 GB/s)"], "topology": ["slice 4x4"],
          "collective": ["AllGather"], "baseline_format": ["int8", ""], "dtype": ["fp32"], "algorithm": ["torus"],
          "format": ["int4", "fp8-e4m3"], "quantize": ["reduce-scatter", ""], "ring": ["", "ring"],
          "faults": ["yes"], "phase": ["decode"]}


class Paper(PictureCase):
    def rows(self, rows: list[dict]) -> list[Row]:
        made_up_study.write_points(self.folder / "results.jsonl", rows)
        return point_files.read([self.folder / "results.jsonl"]).rows()

    def test_figures_belong_to_matching_rows(self):
        found = {row.text("label"): paper.point(row) for row in self.rows(made_up_study.six())}
        self.assertEqual({label: point.speedup for label, point in found.items() if point}, SPEEDUPS)

    def test_figures_of_the_paper_do_not_depend_on_labels(self):
        rows = self.rows([dict(row, label=f"mine {number}") for number, row in enumerate(made_up_study.six()[1:])])
        self.assertEqual([paper.point(row) is not None for row in rows], [True, False, True, True, False, True])

    def test_figures_do_not_belong_to_different_rows(self):
        row = self.rows(made_up_study.six()[:2])[1]
        self.assertEqual(paper.point(row).speedup, 1.8)
        for column, values in OTHERS.items():
            for value in values:
                with self.subTest(column=column, value=value):
                    self.assertIsNone(paper.point(Row(pathlib.Path("x"), 1, row.cells | {column: value})))

    def test_errors_of_the_paper_need_its_size_and_values(self):
        row = self.rows(made_up_study.six()[:2])[1]
        self.assertTrue(paper.same_experiment(row))
        for change in ({"tensor_bytes": "1024"}, {"values": "uniform"}):
            self.assertFalse(paper.same_experiment(Row(row.path, row.line, row.cells | change)))

    def test_figures_of_prefills_belong_to_matching_rows(self):
        rows = self.rows(made_up_study.prefills())
        found = [(row.text("model"), row.text("label"), int(row.number("tokens")), paper.prefill(row).speedup)
                 for row in rows if paper.prefill(row)]
        self.assertEqual(sorted(found), [("gemma3-12b", "full-loop", tokens, 1.1) for tokens in (2048, 4096, 8192)]
                         + [("gemma3-27b", "bf16", 4096, 1.0), ("gemma3-27b", "semi-loop", 4096, 1.25)])
        row = next(row for row in rows if paper.prefill(row) and row.text("label") == "semi-loop")
        for change in ({"hardware": "tpu-v6e"}, {"format": "int4"}, {"quantize": "all-gather"}, {"batch": "2"},
                       {"topology": "mesh 4x4"}, {"phase": "decode"}, {"dtype": "fp32"}):
            with self.subTest(change):
                self.assertIsNone(paper.prefill(Row(row.path, row.line, row.cells | change)))

    def test_a_chip_may_be_a_file(self):
        [row] = self.rows([dict(made_up_study.six()[1], hardware="configs/hardware/tpu-v5e.json")])
        self.assertIsNotNone(paper.point(row))


if __name__ == "__main__":
    unittest.main()
