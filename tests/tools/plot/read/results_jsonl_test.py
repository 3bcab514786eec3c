"""Tests how the lines of a sweep are read."""
import pathlib
import unittest

import made_up_sweep
from picture_case import PictureCase

from read import point_files
from read.errors import InputError


class ResultsJsonl(PictureCase):
    def read(self, entries: list[dict], name: str = "results.jsonl"):
        return point_files.read([made_up_sweep.write(self.folder / name, entries)])

    def test_points_have_what_the_lines_say(self):
        [_, point] = self.read([dict(line, experiment="e")
                                for line in made_up_sweep.lines(axes={"/a": [{"b": 1}], "/c": ["d"]})]).points
        self.assertEqual((point.line, point.number, point.key, point.label, point.experiment),
                         (2, 0, "0" * 16, "quick", "e"))
        self.assertEqual(point.axes, {"/a": '{"b": 1}', "/c": "d"})
        self.assertEqual(point.values["numerics/nmse"], "1e-05")
        self.assertEqual(point.config["hardware"], "tpu-v5e")

    def test_the_last_lines_of_a_point_count(self):
        [plain, quick] = made_up_sweep.lines(axes={"/a": [1]})
        again = self.read([made_up_sweep.failed(plain), plain, quick, dict(quick, run=dict(quick["run"], speedup=7))])
        self.assertEqual([(point.label, point.line) for point in again.points], [("plain", 2), ("quick", 4)])

    def test_the_same_point_of_two_experiments_is_two(self):
        lines = made_up_sweep.lines(axes={"/a": [1]})
        points = self.read([dict(line, experiment=name) for name in ("one", "two") for line in lines])
        self.assertEqual((len(points.points), len(points.keys())), (4, 1))

    def test_files_are_put_together_in_the_order_of_their_points(self):
        lines = made_up_sweep.lines()
        late = made_up_sweep.write(self.folder / "late.jsonl", lines[6:])
        early = made_up_sweep.write(self.folder / "early.jsonl", [dict(line, version="9.8.6") for line in lines[:6]])
        points = point_files.read([late, early])
        self.assertEqual([point.number for point in points.points], [line["point"] for line in lines])
        self.assertEqual(points.versions, ["9.8.6", "9.8.7"])

    def cut(self, kept: int) -> pathlib.Path:
        """A file whose last line has so many letters left."""
        path = made_up_sweep.write(self.folder / "results.jsonl", made_up_sweep.lines())
        *lines, last = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines) + last[:kept])
        return path

    def test_a_last_line_that_was_cut_off_is_left_out_with_a_note(self):
        for kind, options in (("speedup", ()), ("sweep", ("--label", "plain", "--x", "/tensor/bytes", "--y",
                                                          "/topology/slice"))):
            with self.subTest(kind):
                self.cut(40)
                ran = self.run_plot(kind, "results.jsonl", *options, "--format", "svg")
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertEqual(ran.stderr, "plot: note: results.jsonl: its last line, 12, was cut off and is left "
                                             "out\n")
                self.assertEqual(len(ran.stdout.split()), 1)

    def test_a_last_line_without_its_end_is_whole(self):
        self.cut(-1)
        ran = self.run_plot("speedup", "results.jsonl", "--format", "svg")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_a_line_that_is_broken_elsewhere_is_refused(self):
        path = self.cut(40)
        path.write_text(path.read_text() + "\n")
        self.check_refused(["line 12"], "speedup", "results.jsonl")
        (self.folder / "results.jsonl").write_text('{"point": 1')
        ran = self.run_plot("speedup", "results.jsonl")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))

    def test_lines_that_are_none_are_named(self):
        good = made_up_sweep.lines()[0]
        for change in ({"point": "x"}, {"axes": 3}, {"run": 3}):
            with self.subTest(change), self.assertRaisesRegex(InputError, "results.jsonl, line 2: .*equarx-sim sweep"):
                self.read([good, good | change])
        for missing in ("point", "key", "axes", "version"):
            broken = {name: value for name, value in good.items() if name != missing}
            with self.subTest(missing), self.assertRaisesRegex(InputError, missing):
                self.read([broken])

    def test_files_that_are_not_there_or_no_text(self):
        with self.assertRaisesRegex(InputError, "none.jsonl: No such file"):
            point_files.read([pathlib.Path("none.jsonl")])
        path = self.folder / "bad.jsonl"
        path.write_bytes(b"\xff\xfe")
        with self.assertRaisesRegex(InputError, "not a text file"):
            point_files.read([path])


if __name__ == "__main__":
    unittest.main()
