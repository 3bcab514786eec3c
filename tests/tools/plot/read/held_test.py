"""Tests how axes are held for one picture."""
import unittest

import made_up_sweep
from picture_case import PictureCase

from read import held, point_files

SLICES, SIZES = made_up_sweep.SLICES, made_up_sweep.SIZES
MINISHARDS = "/collectives/quick/minishards"


class Held(PictureCase):
    def write(self, entries: list[dict]):
        return made_up_sweep.write(self.folder / "results.jsonl", entries)

    def test_other_axes_must_be_held_and_may_be_held_at_several_values(self):
        axes = {MINISHARDS: [1, 2], "/topology/slice": SLICES, "/tensor/bytes": SIZES}
        path = self.write(made_up_sweep.lines(axes=axes))
        self.check_refused([MINISHARDS, "--where"], "time", "results.jsonl")
        self.check_refused(["'3'", "there is: 1, 2"], "time", "results.jsonl", "--where", f"{MINISHARDS}=3")
        self.check_refused(["'/minishards'", "nearest"], "time", "results.jsonl", "--where", "/minishards=3")
        where = ["--where", f"{MINISHARDS}=2", "--where", "/tensor/bytes=16 MiB"]
        self.assertEqual(self.run_plot("time", "results.jsonl", *where).returncode, 0)
        self.check_refused(["second row for plain", "--where", "/tensor/bytes"], "error", "results.jsonl",
                           *where[:2], "--where", "/topology/slice=4x2")
        self.check_refused(["second row for plain", "some of: /topology/slice"], "breakdown", "results.jsonl", *where)
        ran = self.run_plot("breakdown", "results.jsonl", *where, "--where", "/topology/slice=4x2")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        both = {"/tensor/bytes": SIZES[:2], MINISHARDS: ["1"], "/topology/slice": ["2x2"]}
        self.assertEqual(len(held.rows(point_files.read([path]), both)), 4)

    def test_values_of_axes_that_are_objects_are_held_by_their_words(self):
        self.write(made_up_sweep.lines(axes={"/tensor/values": [{"files": ["a/b.npy"]}, {"distribution": "normal"}]}))
        ran = self.run_plot("breakdown", "results.jsonl", "--where", "/tensor/values=files b.npy")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.check_refused(["there is: files b.npy, distribution normal"], "breakdown", "results.jsonl", "--where",
                           "/tensor/values=uniform")

    def test_failed_points_are_left_out(self):
        entries = made_up_sweep.lines()
        path = self.write([*entries[:-2], made_up_sweep.failed(entries[-1])])
        self.assertEqual(len(held.rows(point_files.read([path]), {})), len(entries) - 2)
        self.write([made_up_sweep.failed(entries[0])])
        self.check_refused(["no point succeeded"], "time", "results.jsonl")


if __name__ == "__main__":
    unittest.main()
