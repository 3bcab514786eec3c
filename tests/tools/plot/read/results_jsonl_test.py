"""Tests reading the lines of a sweep."""
import pathlib
import unittest

import made_up_sweep
from picture_case import PictureCase

from read import point_files
from read.errors import InputError


class ResultsJsonl(PictureCase):
    def read(self, entries: list[dict], name: str = "results.jsonl"):
        return point_files.read([made_up_sweep.write(self.folder / name, entries)])

    def test_points_have_the_values_of_their_lines(self):
        [_, point] = self.read([dict(line, experiment="e")
                                for line in made_up_sweep.lines(axes={"/a": [{"b": 1}], "/c": ["d"]})]).points
        self.assertEqual((point.line, point.number, point.key, point.label, point.experiment),
                         (2, 0, "0" * 16, "quick", "e"))
        self.assertEqual(point.axes, {"/a": '{"b": 1}', "/c": "d"})
        self.assertEqual(point.values["numerics/nmse"], "1e-05")
        self.assertEqual(point.config["hardware"], "tpu-v5e")

    def test_the_last_lines_of_a_repeated_point_count(self):
        [plain, quick] = made_up_sweep.lines(axes={"/a": [1]})
        again = self.read([made_up_sweep.failed(plain), plain, quick, dict(quick, run=dict(quick["run"], speedup=7))])
        self.assertEqual([(point.label, point.line) for point in again.points], [("plain", 2), ("quick", 4)])

    def test_experiments_do_not_share_points(self):
        lines = made_up_sweep.lines(axes={"/a": [1]})
        points = self.read([dict(line, experiment=name) for name in ("one", "two") for line in lines])
        self.assertEqual((len(points.points), len(points.keys())), (4, 1))

    def test_files_are_combined_in_order_of_points(self):
        lines = made_up_sweep.lines()
        late = made_up_sweep.write(self.folder / "late.jsonl", lines[6:])
        early = made_up_sweep.write(self.folder / "early.jsonl", [dict(line, version="9.8.6") for line in lines[:6]])
        points = point_files.read([late, early])
        self.assertEqual([point.number for point in points.points], [line["point"] for line in lines])
        self.assertEqual(points.versions, ["9.8.6", "9.8.7"])

    def cut(self, kept: int) -> pathlib.Path:
        """Writes a file whose last line is truncated to that length."""
        path = made_up_sweep.write(self.folder / "results.jsonl", made_up_sweep.lines())
        *lines, last = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines) + last[:kept])
        return path

    def test_a_truncated_last_line_is_left_out_with_a_note(self):
        for kind, options in (("speedup", ()), ("sweep", ("--label", "plain", "--x", "/tensor/bytes", "--y",
                                                          "/topology/slice"))):
            with self.subTest(kind):
                self.cut(40)
                ran = self.run_plot(kind, "results.jsonl", *options, "--format", "svg")
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertEqual(ran.stderr, "plot: note: results.jsonl: line 12, the last one, is truncated and left "
                                             "out\n")
                self.assertEqual(len(ran.stdout.split()), 1)

    def test_a_last_line_without_a_newline_is_complete(self):
        self.cut(-1)
        ran = self.run_plot("speedup", "results.jsonl", "--format", "svg")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_rejects_other_malformed_lines(self):
        path = self.cut(40)
        path.write_text(path.read_text() + "\n")
        self.check_refused(["line 12"], "speedup", "results.jsonl")
        (self.folder / "results.jsonl").write_text('{"point": 1')
        ran = self.run_plot("speedup", "results.jsonl")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))

    def test_malformed_lines_are_named(self):
        good = made_up_sweep.lines()[0]
        for change in ({"point": "x"}, {"axes": 3}, {"run": 3}):
            with self.subTest(change), self.assertRaisesRegex(InputError, "results.jsonl, line 2: .*equarx-sim sweep"):
                self.read([good, good | change])
        for missing in ("point", "key", "axes", "version"):
            broken = {name: value for name, value in good.items() if name != missing}
            with self.subTest(missing), self.assertRaisesRegex(InputError, missing):
                self.read([broken])

    def test_rejects_missing_and_binary_files(self):
        with self.assertRaisesRegex(InputError, "none.jsonl: No such file"):
            point_files.read([pathlib.Path("none.jsonl")])
        path = self.folder / "bad.jsonl"
        path.write_bytes(b"\xff\xfe")
        with self.assertRaisesRegex(InputError, "not a text file"):
            point_files.read([path])


if __name__ == "__main__":
    unittest.main()
