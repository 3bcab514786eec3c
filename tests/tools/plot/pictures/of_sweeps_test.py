"""Tests what pictures of studies show when they are drawn of a sweep."""
import json
import unittest

import made_up_sweep
from legible import check_legible
from picture_case import PictureCase

from drawing import style
from pictures import speedup_by_size
from read import point_files


class OfSweeps(PictureCase):
    def write(self, entries: list[dict]):
        return made_up_sweep.write(self.folder / "results.jsonl", entries)

    def test_pictures_name_the_baseline_the_version_and_the_points(self):
        entries = made_up_sweep.lines()
        self.write([*entries[:-2], made_up_sweep.failed(entries[-1])])
        ran = self.run_plot("speedup", "results.jsonl")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        text = (self.folder / "speedup.svg").read_text()
        for words in ("slice 2x2 (4 chips)", "slice 4x2 (8 chips)", "over the plain AllReduce",
                      "equarx-sim 9.8.7, 6 points (1 failed), hash "):
            self.assertIn(words, text)
        self.assertNotIn("paper: no gain", text)

    def test_a_baseline_of_bf16_on_the_papers_chip_is_beside_the_paper(self):
        self.write(json.loads(json.dumps(made_up_sweep.lines()).replace('"plain"', '"bf16"')))
        self.run_plot("speedup", "results.jsonl")
        self.assertIn("paper: no gain", (self.folder / "speedup.svg").read_text())

    def test_other_collectives_are_called_by_their_names(self):
        self.write(made_up_sweep.lines(collective="all-gather"))
        self.run_plot("time", "results.jsonl")
        text = (self.folder / "time.svg").read_text()
        self.assertIn("time of one AllGather", text)
        self.assertNotIn("AllReduce", text)

    def test_many_topologies_are_in_rows(self):
        slices = [f"{count}x1" for count in range(2, 9)]
        path = self.write(made_up_sweep.lines(axes={"/topology/slice": slices, "/tensor/bytes": made_up_sweep.SIZES}))
        style.use()
        figure = speedup_by_size.draw(point_files.read([path]).rows())
        self.assertEqual(len(figure.axes), 7)
        self.assertEqual(len({round(axes.get_position().y0, 6) for axes in figure.axes}), 2)
        check_legible(self, figure)


if __name__ == "__main__":
    unittest.main()
