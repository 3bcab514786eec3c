"""Tests how points of a sweep that was changed on the way are told apart."""
import unittest

import made_up_sweep
from picture_case import PictureCase

from read import held, point_files


def of_base(base: str, first_key: int, **changes) -> list[dict]:
    """The lines of a sweep over sizes, of that base."""
    lines = made_up_sweep.lines(axes={"/tensor/bytes": ["1 MiB", "2 MiB"]}, **changes)
    return [dict(line, base=base, key=f"{first_key + line['point']:016x}") for line in lines]


class Bases(PictureCase):
    def read(self, entries: list[dict], name: str = "results.jsonl"):
        return point_files.read([made_up_sweep.write(self.folder / name, entries)])

    def test_what_bases_differ_in_is_an_axis(self):
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

    def test_a_new_collective_is_no_axis_and_repeated_runs_are_left_out(self):
        lines = of_base("b", 10)
        for line in lines:
            line["config"]["collectives"] = line["config"]["collectives"] + [{"label": "new", "algorithm": "ring"}]
        points = self.read(of_base("a", 0) + lines)
        self.assertEqual(points.axes(), ["/tensor/bytes"])
        self.assertEqual({point.key for point in points.points}, {f"{key:016x}" for key in (10, 11)})

    def test_of_earlier_contents_of_a_file_the_last_count(self):
        points = self.read(of_base("a", 0) + of_base("a", 10))
        self.assertEqual([point.key[-2:] for point in points.points], ["0a", "0a", "0b", "0b"])

    def test_a_failure_before_a_file_was_changed_does_not_count(self):
        lines = of_base("a", 0)
        points = self.read([made_up_sweep.failed(lines[0]), made_up_sweep.failed(lines[2])] + of_base("a", 10)[:2])
        self.assertEqual([(point.key[-2:], point.label) for point in points.points],
                         [("0a", "plain"), ("0a", "quick"), ("01", "")])

    def test_points_of_a_failed_base_have_its_axes(self):
        failed = made_up_sweep.failed(of_base("b", 20)[0])
        points = self.read(of_base("a", 0) + of_base("b", 10, hardware="tpu-v6e") + [failed])
        self.assertEqual([point.axes["/hardware"] for point in points.points if point.failed()], ["tpu-v6e"])

    def test_lines_without_a_base_stay_as_they_are(self):
        lines = [{name: value for name, value in line.items() if name != "base"}
                 for line in of_base("a", 0) + of_base("b", 10, hardware="tpu-v6e")]
        points = self.read(lines)
        self.assertEqual((points.axes(), len(points.points)), (["/tensor/bytes"], 8))


if __name__ == "__main__":
    unittest.main()
