"""Tests points of a sweep that was edited between runs."""
import unittest

import made_up_sweep
from picture_case import PictureCase

from read import held, point_files


def of_base(base: str, first_key: int, **changes) -> list[dict]:
    """The lines of a sweep over sizes, with that base."""
    lines = made_up_sweep.lines(axes={"/tensor/bytes": ["1 MiB", "2 MiB"]}, **changes)
    return [dict(line, base=base, key=f"{first_key + line['point']:016x}") for line in lines]


class Bases(PictureCase):
    def read(self, entries: list[dict], name: str = "results.jsonl"):
        return point_files.read([made_up_sweep.write(self.folder / name, entries)])

    def test_differences_of_bases_are_axes(self):
        points = self.read(of_base("a", 0) + of_base("b", 10, hardware="tpu-v6e"))
        self.assertEqual(points.axes(), ["/tensor/bytes", "/hardware"])
        self.assertEqual([point.axes["/hardware"] for point in points.points][:4],
                         ["tpu-v5e", "tpu-v5e", "tpu-v6e", "tpu-v6e"])
        where = {"/hardware": ["tpu-v6e"]}
        rows = [point.row() for point in points.points if held.is_at(point, where)]
        self.assertEqual([row.text("hardware") for row in rows], ["tpu-v6e"] * 4)

    def test_collectives_are_compared_by_their_labels(self):
        lines = of_base("b", 10)
        for line in lines:
            line["config"]["collectives"] = [dict(each, format="int4" if each["label"] == "quick" else each["format"])
                                             for each in reversed(line["config"]["collectives"])]
        points = self.read(of_base("a", 0) + lines)
        self.assertEqual(points.axes(), ["/tensor/bytes", "/collectives/quick/format"])

    def test_an_added_collective_is_no_axis(self):
        lines = of_base("b", 10)
        for line in lines:
            line["config"]["collectives"] = line["config"]["collectives"] + [{"label": "new", "algorithm": "ring"}]
        points = self.read(of_base("a", 0) + lines)
        self.assertEqual(points.axes(), ["/tensor/bytes"])
        self.assertEqual({point.key for point in points.points}, {f"{key:016x}" for key in (10, 11)})

    def test_points_of_the_last_contents_of_a_file_count(self):
        points = self.read(of_base("a", 0) + of_base("a", 10))
        self.assertEqual([point.key[-2:] for point in points.points], ["0a", "0a", "0b", "0b"])

    def test_failures_before_an_edit_do_not_count(self):
        lines = of_base("a", 0)
        points = self.read([made_up_sweep.failed(lines[0]), made_up_sweep.failed(lines[2])] + of_base("a", 10)[:2])
        self.assertEqual([(point.key[-2:], point.label) for point in points.points],
                         [("0a", "plain"), ("0a", "quick"), ("01", "")])

    def test_failed_points_have_axes_of_their_base(self):
        failed = made_up_sweep.failed(of_base("b", 20)[0])
        points = self.read(of_base("a", 0) + of_base("b", 10, hardware="tpu-v6e") + [failed])
        self.assertEqual([point.axes["/hardware"] for point in points.points if point.failed()], ["tpu-v6e"])

    def test_lines_without_a_base_are_kept(self):
        lines = [{name: value for name, value in line.items() if name != "base"}
                 for line in of_base("a", 0) + of_base("b", 10, hardware="tpu-v6e")]
        points = self.read(lines)
        self.assertEqual((points.axes(), len(points.points)), (["/tensor/bytes"], 8))


if __name__ == "__main__":
    unittest.main()
