"""Tests the cells of points of a sweep."""
import unittest

import made_up_sweep
from picture_case import PictureCase

from read import point_files


class PointCells(PictureCase):
    def rows(self, entries: list[dict]):
        return point_files.read([made_up_sweep.write(self.folder / "results.jsonl", entries)]).rows()

    def test_rows_have_cells_of_run_machine_and_tensor(self):
        rows = self.rows(made_up_sweep.lines(axes={"/tensor/bytes": ["1500 kB"]}))
        self.assertEqual([row.text("label") for row in rows], ["plain", "quick"])
        expected = {"hardware": "tpu-v5e", "topology": "slice 4x2", "collective": "AllReduce", "baseline": "plain",
                    "values": "normal", "algorithm": "equarx", "format": "int8", "dtype": "bf16"}
        self.assertEqual({column: rows[1].text(column) for column in expected}, expected)
        numbers = {"chips": 8, "tensor_bytes": 1.5e6, "speedup": 1.5, "payload_s": 0.5e-4, "sqnr_db": 50.0,
                   "mse_vs_baseline": 2e-4, "lower_bound_s": 1e-4 / 3}
        for column, number in numbers.items():
            self.assertAlmostEqual(rows[1].number(column), number)
        self.assertFalse(rows[1].has("model"))

    def test_sizes_of_shapes_files_and_prefills(self):
        [row, _] = self.rows(made_up_sweep.lines(
            axes={"/x": [1]}, tensor={"shape": [3, 5], "dtype": "fp32", "values": {"files": ["a.npy"]}},
            workload={"model": "m", "phase": "prefill", "tokens": 7, "batch": 2}))
        self.assertEqual([row.text(name) for name in ("tensor_bytes", "values", "model", "phase", "tokens", "batch")],
                         ["60", "files", "m", "prefill", "7", "2"])

    def test_ends_of_intervals(self):
        [plain, quick] = made_up_sweep.lines(axes={"/x": [1]})
        ends = {"time_low_s": 1e-6, "time_high_s": 3e-6, "speedup_low": 1.25, "speedup_high": 1.75}
        quick["run"]["uncertainty"] = {"samples": 200} | ends
        rows = self.rows([plain, quick])
        self.assertEqual({end: rows[1].number(end) for end in ends}, ends)
        self.assertFalse(any(map(rows[0].has, ends)))

    def test_malformed_lines_are_named(self):
        for change in ({"tensor": {}}, {"topology": 7}, {"collectives": []}, {"collective": "all"},
                       {"tensor": {"bytes": "many", "dtype": "bf16", "values": {"distribution": "normal"}}}):
            with self.subTest(change=change):
                made_up_sweep.write(self.folder / "results.jsonl", made_up_sweep.lines(**change))
                self.check_refused(["results.jsonl, line 1"], "time", "results.jsonl")
        entries = made_up_sweep.lines()
        del entries[1]["config"]
        made_up_sweep.write(self.folder / "results.jsonl", entries)
        self.check_refused(["line 2", "'config'"], "time", "results.jsonl")


if __name__ == "__main__":
    unittest.main()
