"""Tests the error bars of times and speedups."""
import unittest

import made_up_sweep
from legible import check_legible, drawn_texts
from picture_case import PictureCase

from drawing import style
from pictures import speedup_by_size, time_by_size
from read import point_files

WORDS = "68 % interval"
SIZES_IN_BYTES = [2**16, 1.5e6, 2**24]


class Intervals(PictureCase):
    def setUp(self):
        super().setUp()
        style.use()

    def entries(self, labels=("plain", "quick")) -> list[dict]:
        """One slice; intervals of these labels are above the value, as for one-sided ranges."""
        entries = made_up_sweep.lines(axes={"/tensor/bytes": made_up_sweep.SIZES})
        for run in (entry["run"] for entry in entries):
            if run["label"] in labels:
                run["uncertainty"] = {"samples": 200, "time_low_s": 1.1 * run["time_s"],
                                      "time_high_s": 1.4 * run["time_s"], "speedup_low": 1.2 * run["speedup"],
                                      "speedup_high": 1.5 * run["speedup"]}
        return entries

    def figure(self, picture, entries: list[dict]):
        return picture.draw(point_files.read([made_up_sweep.write(self.folder / "results.jsonl", entries)]).rows())

    def bars(self, figure) -> list:
        """Vertical lines of the size axis."""
        return [line for line in figure.axes[0].lines
                if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]

    def texts(self, figure) -> list[str]:
        return [text for text, _ in drawn_texts(figure)]

    def test_bars_have_ends_of_intervals_and_markers_of_lines(self):
        entries = self.entries()
        for picture, low, high, labels in ((time_by_size, "time_low_s", "time_high_s", ["plain", "quick"]),
                                           (speedup_by_size, "speedup_low", "speedup_high", ["quick"])):
            with self.subTest(picture.__name__):
                figure = self.figure(picture, entries)
                drawn = {(line.get_marker(), *line.get_ydata()) for line in self.bars(figure)}
                looks = style.looks(labels)
                runs = [entry["run"] for entry in entries if entry["run"]["label"] in labels]
                self.assertEqual(drawn, {(looks[run["label"]].marker, run["uncertainty"][low],
                                          run["uncertainty"][high]) for run in runs})
                self.assertIn(WORDS, self.texts(figure))
                check_legible(self, figure)

    def test_bars_of_one_size_are_side_by_side(self):
        figure = self.figure(time_by_size, self.entries())
        places = sorted(line.get_xdata()[0] for line in self.bars(figure))
        self.assertEqual(len(set(places)), 6)
        for size, left, right in zip(SIZES_IN_BYTES, places[::2], places[1::2]):
            self.assertLess(left, size)
            self.assertAlmostEqual(left * right / size**2, 1)

    def test_axis_limits_include_intervals(self):
        entries = self.entries()
        entries[-1]["run"]["uncertainty"].update(time_high_s=1.0, speedup_high=40.0)
        for picture, end in ((time_by_size, 1.0), (speedup_by_size, 40.0)):
            self.assertGreater(self.figure(picture, entries).axes[0].get_ylim()[1], end)

    def test_runs_without_intervals_have_no_bars(self):
        for labels, count in (((), 0), (("quick",), 3)):
            with self.subTest(labels):
                figure = self.figure(time_by_size, self.entries(labels))
                self.assertEqual(len(self.bars(figure)), count)
                self.assertEqual(WORDS in self.texts(figure), count > 0)

    def test_rejects_invalid_intervals(self):
        for change, words in (({"time_low_s": 3.0, "time_high_s": 2.0}, ["'time_low_s' is 3", "'time_high_s' is 2"]),
                              ({"time_low_s": None}, ["'time_low_s' is empty"]),
                              ({"time_high_s": 0.0}, ["'time_high_s' is 0"])):
            with self.subTest(change):
                entries = self.entries()
                entries[1]["run"]["uncertainty"].update(change)
                made_up_sweep.write(self.folder / "results.jsonl", entries)
                self.check_refused(["line 2", *words], "time", "results.jsonl")


if __name__ == "__main__":
    unittest.main()
