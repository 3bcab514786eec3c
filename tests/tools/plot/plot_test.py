"""Tests the command tools/plot/plot.py: what it writes, and what it refuses."""
import pathlib
import unittest

import made_up_study
from picture_case import PictureCase

NAMES = ["time", "speedup", "error", "error_formats", "breakdown", "breakdown_formats", "tails", "prefill_time",
         "prefill_speedup", "paper"]


class Plot(PictureCase):
    def test_study_writes_all_pictures_into_its_folder_and_prints_their_paths(self):
        made_up_study.write_study(self.folder)
        ran = self.run_command("study", self.folder)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        paths = ran.stdout.split()
        self.check_pictures(paths, NAMES)
        with self.subTest("the same input gives the same files"):
            self.run_command("study", ".", "-o", "again")
            for path in paths:
                again = self.folder / "again" / pathlib.Path(path).name
                self.assertEqual((self.folder / path).read_bytes(), again.read_bytes(), path)

    def test_one_picture_goes_where_it_is_told_and_folders_are_made(self):
        made_up_study.write_points(self.folder / "results.jsonl", made_up_study.sizes())
        ran = self.run_plot("time", "results.jsonl", "-o", "new/folder")
        self.check_pictures(ran.stdout.split(), ["time"])
        self.assertTrue((self.folder / "new" / "folder" / "time.png").exists())

    def test_inputs_are_put_together(self):
        rows = made_up_study.six()
        made_up_study.write_points(self.folder / "a.jsonl", rows[:3])
        made_up_study.write_points(self.folder / "b.jsonl", rows[3:])
        ran = self.run_plot("breakdown", "a.jsonl", "b.jsonl")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("semi-loop all-gather", self.texts_of("breakdown.svg"))
        self.assertIn("full-loop both", self.texts_of("breakdown.svg"))

    def texts_of(self, name: str) -> str:
        # matplotlib draws text as outlines, and names each in a comment.
        return (self.folder / name).read_text()

    def test_help_has_examples(self):
        ran = self.run_command("--help")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("plot.py study results/", ran.stdout)

    def test_an_error_leaves_nothing_behind(self):
        made_up_study.write_study(self.folder)
        (self.folder / "rows.csv").unlink()
        self.check_refused(["rows.csv"], "study", ".", "-o", "pictures")
        self.assertFalse((self.folder / "pictures").exists())

    def test_wrong_usage(self):
        self.points()
        (self.folder / "file").write_text("")
        self.check_refused(["'pie'", "--help"], "pie", "results.jsonl")
        self.check_refused(["INPUT"], "time")
        self.check_refused(["one folder"], "study", "a", "b")
        self.check_refused(["--experiment"], "study", ".", "--experiment", "six")
        self.check_refused(["file"], "error", "results.jsonl", "-o", "file")
        self.check_refused(["--label"], "error", "results.jsonl", "--label", "bf16")
        self.check_refused(["one JSON file"], "links", "a", "b")
        self.check_refused(["--experiment", "links"], "links", "a", "--experiment", "six")


if __name__ == "__main__":
    unittest.main()
