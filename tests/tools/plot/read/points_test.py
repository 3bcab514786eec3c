"""Tests points of sweeps and studies."""
import unittest

import made_up_sweep
from picture_case import PictureCase

from read import point_files
from read.errors import InputError
from read.points import value_names


class OfPoints(PictureCase):
    def read(self, entries: list[dict]):
        return point_files.read([made_up_sweep.write(self.folder / "results.jsonl", entries)])

    def test_axes_and_labels_keep_their_order(self):
        points = self.read(made_up_sweep.lines())
        self.assertEqual(points.axes(), ["/topology/slice", "/tensor/bytes"])
        self.assertEqual(points.labels(), ["plain", "quick"])
        self.assertEqual(points.experiments(), [])

    def test_varied_axes(self):
        lines = made_up_sweep.lines(axes={"/a": [1, [2]], "/b": ["only"], "/c": [{"x": 1}, {"x": 2}]})
        self.assertEqual(self.read(lines).varied_axes(), ["/a", "/c"])

    def test_the_digest_is_of_the_configurations_in_any_order(self):
        lines = made_up_sweep.lines()
        digest = self.read(lines).digest()
        self.assertEqual(self.read(lines[::-1]).digest(), digest)
        self.assertNotEqual(self.read(lines[2:]).digest(), digest)

    def test_experiments_are_chosen_by_name(self):
        lines = made_up_sweep.lines(axes={"/a": [1]})
        points = self.read([dict(line, experiment=name) for name in ("one", "two") for line in lines])
        self.assertEqual(points.experiments(), ["one", "two"])
        self.assertEqual({point.experiment for point in points.of("two").points}, {"two"})
        with self.assertRaisesRegex(InputError, "no experiment 'three'; there is: one, two"):
            points.of("three")

    def test_values_are_found_by_path_or_its_end(self):
        lines = made_up_sweep.lines(axes={"/a": [1]})
        lines[1]["run"] |= {"lower_bound_s": None, "mse": "?", "huge": float("inf")}
        [_, point] = self.read(lines).points
        self.assertEqual([point.value(name) for name in ("speedup", "nmse", "numerics/nmse")], [1.5, 1e-5, 1e-5])
        self.assertEqual([point.value(name) for name in ("lower_bound_s", "none", "huge")], [None, None, None])
        with self.assertRaisesRegex(InputError, "'algorithm' of point 0 is 'equarx'"):
            point.value("algorithm")
        self.assertIn("breakdown/payload_s", value_names([point]))
        self.assertNotIn("algorithm", value_names([point]))

    def test_failed_points_have_no_rows(self):
        lines = made_up_sweep.lines(axes={"/a": [1, 2]})
        points = self.read([*lines[:2], made_up_sweep.failed(lines[2])])
        self.assertEqual([point.failed() for point in points.points], [False, False, True])
        self.assertEqual(len(points.rows()), 2)

    def test_points_that_do_not_fit_have_no_rows(self):
        lines = made_up_sweep.lines(axes={"/a": [1, 2]})
        points = self.read([*lines[:2], made_up_sweep.too_large(lines[2])])
        self.assertEqual([point.does_not_fit for point in points.points], [False, False, True])
        self.assertEqual(len(points.rows()), 2)


if __name__ == "__main__":
    unittest.main()
