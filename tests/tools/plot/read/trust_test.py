"""Tests notes on uncalibrated chips."""
import unittest

import made_up_run
import made_up_study
import made_up_sweep
from picture_case import PictureCase

from read import csv_file, point_files, trust

V4 = f"tpu-v4: {trust.NOTE}"


def marked(entries: list[dict], calibrated: bool) -> list[dict]:
    """Lines of a sweep with the calibration of the chip."""
    for entry in entries:
        entry["run"]["calibrated"] = calibrated
    return entries


class Trust(PictureCase):
    def points(self, entries: list[dict]):
        return point_files.read([made_up_sweep.write(self.folder / "results.jsonl", entries)])

    def test_chips_are_named_once_without_folders(self):
        self.assertEqual(trust.note([]), "")
        self.assertEqual(trust.note(["tpu-v4", "my/chip.json", "tpu-v4"]), f"chip.json, tpu-v4: {trust.NOTE}")

    def test_points_and_their_rows(self):
        calibrated = marked(made_up_sweep.lines(), True)
        not_calibrated = marked(made_up_sweep.lines(hardware="tpu-v4"), False)
        for entry in not_calibrated:
            entry["key"] += "b"
        for entries, expected in ((made_up_sweep.lines(), ""), (calibrated, ""), (not_calibrated, V4),
                                  ([*calibrated, *not_calibrated], V4)):
            points = self.points(entries)
            self.assertEqual(trust.of_points(points.points), expected)
            self.assertEqual(trust.of_rows(points.rows()), expected)

    def test_chips_have_their_file_and_changes(self):
        hardware = {"based_on": "chips/mine.json", "link_bandwidth": "90 GB/s"}
        points = self.points(marked(made_up_sweep.lines(hardware=hardware), False))
        expected = f"mine.json (link_bandwidth 90 GB/s): {trust.NOTE}"
        self.assertEqual(trust.of_points(points.points), expected)
        self.assertEqual(trust.of_rows(points.rows()), expected)

    def test_a_point_that_failed_has_no_times(self):
        failed = [made_up_sweep.failed(entry) for entry in marked(made_up_sweep.lines(hardware="tpu-v4"), False)]
        self.assertEqual(trust.of_points(self.points(failed).points), "")

    def test_a_table_has_the_chip_only_as_an_axis(self):
        for axis, expected in (("/hardware", V4), ("/topology/slice", f"a chip: {trust.NOTE}")):
            path = self.folder / "results.csv"
            path.write_text(f"point,key,{axis},label,time_s,calibrated\n0,ab,tpu-v4,bf16,1e-4,false\n")
            self.assertEqual(trust.of_points(point_files.read([path]).points), expected)

    def test_notes_for_expected_rows_except_closed_forms(self):
        rows = [dict(row, hardware="tpu-v4", calibrated="no") for row in made_up_study.paper_rows()]
        formulas = [row for row in rows if row["role"] == "closed form"]
        self.assertNotEqual(formulas, [])
        for some, expected in ((rows, V4), (formulas, ""), ([dict(row, calibrated="yes") for row in rows], ""),
                               (made_up_study.paper_rows(), "")):
            made_up_study.write(self.folder / "rows.csv", some)
            self.assertEqual(trust.of_rows(csv_file.read_table(self.folder / "rows.csv", ["what"])), expected)

    def test_results_of_runs_and_of_tunings(self):
        run, tuning = made_up_run.result([4, 2]), made_up_run.tuning(members=2)
        run["config"]["hardware"] = tuning["config"]["hardware"] = "tpu-v4"
        for content, part in ((run, run["runs"][0]), (tuning, tuning)):
            self.assertEqual(trust.of_result(content), "")
            part["calibrated"] = True
            self.assertEqual(trust.of_result(content), "")
            part["calibrated"] = False
            self.assertEqual(trust.of_result(content), V4)


if __name__ == "__main__":
    unittest.main()
