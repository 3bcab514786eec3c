"""Tests pictures over tensor size for sweeps."""
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
        self.assertIn("paper: no gain", text)

    def test_other_baselines_have_no_figures_of_the_paper(self):
        self.write(json.loads(json.dumps(made_up_sweep.lines()).replace('"format": "bf16"', '"format": "fp32"')))
        self.run_plot("speedup", "results.jsonl")
        self.assertNotIn("paper", (self.folder / "speedup.svg").read_text())

    def hatched(self, entries: list[dict]) -> dict[str, bool]:
        """True by slice if its panel hatches the sizes without a gain according to the paper."""
        style.use()
        figure = speedup_by_size.draw(point_files.read([self.write(entries)]).rows())
        return {axes.get_title(loc="left").split()[1]: any(patch.get_hatch() for patch in axes.patches)
                for axes in figure.axes}

    def test_small_tensors_are_hatched_on_the_slice_of_the_paper(self):
        self.assertEqual(self.hatched(made_up_sweep.lines()), {"2x2": False, "4x2": True})
        large = made_up_sweep.lines(axes={"/tensor/bytes": ["2 MiB", "16 MiB", "64 MiB"]})
        self.assertEqual(self.hatched(large), {"4x2": False})

    def test_other_collectives_have_their_names(self):
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
