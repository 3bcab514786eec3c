"""Tests the command tools/plot/plot.py: its files, and its errors."""
import pathlib
import re
import signal
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import made_up_study
from picture_case import PLOT, PictureCase

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

    def test_output_folders_are_created(self):
        made_up_study.write_points(self.folder / "results.jsonl", made_up_study.sizes())
        ran = self.run_plot("time", "results.jsonl", "-o", "new/folder")
        self.check_pictures(ran.stdout.split(), ["time"])
        self.assertTrue((self.folder / "new" / "folder" / "time.png").exists())

    def test_inputs_are_combined(self):
        rows = made_up_study.six()
        made_up_study.write_points(self.folder / "a.jsonl", rows[:3])
        made_up_study.write_points(self.folder / "b.jsonl", rows[3:])
        ran = self.run_plot("breakdown", "a.jsonl", "b.jsonl")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("semi-loop all-gather", self.texts_of("breakdown.svg"))
        self.assertIn("full-loop both", self.texts_of("breakdown.svg"))

    def texts_of(self, name: str) -> str:
        # matplotlib draws text as outlines, and writes it as comments.
        return (self.folder / name).read_text()

    def test_formats_are_chosen_and_the_same_input_gives_the_same_files(self):
        self.points()
        for folder in ("a", "b"):
            ran = self.run_plot("error", "results.jsonl", "--format", "pdf", "--format", "svg", "-o", folder)
            self.assertEqual(ran.stdout.split(), [f"{folder}/error.pdf", f"{folder}/error.svg"])
        for name in ("error.pdf", "error.svg"):
            self.assertEqual((self.folder / "a" / name).read_bytes(), (self.folder / "b" / name).read_bytes())
        self.assertTrue((self.folder / "a" / "error.pdf").read_bytes().startswith(b"%PDF-"))
        self.check_refused(["'gif'", "pdf"], "error", "results.jsonl", "--format", "gif")

    def test_a_title_of_the_user_or_none(self):
        self.points()
        self.run_plot("error", "results.jsonl", "--title", "My own words")
        self.assertIn("<!-- My own words -->", self.texts_of("error.svg"))
        self.assertNotIn("Error against speedup", self.texts_of("error.svg"))
        self.run_plot("error", "results.jsonl", "--title", "")
        self.assertNotIn("Error against speedup", self.texts_of("error.svg"))
        self.run_plot("error", "results.jsonl")
        self.assertIn("<!-- Error against speedup -->", self.texts_of("error.svg"))
        self.check_refused(["--title", "several"], "study", ".", "--title", "x")

    def test_widths_of_columns_pages_and_in_millimetres(self):
        self.points()
        for width, millimetres in (("column", 84), ("page", 178), ("120", 120), ("95.5mm", 95.5)):
            ran = self.run_plot("error", "results.jsonl", "--width", width, "--format", "svg")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            points = float(re.search(r'<svg [^>]*width="([0-9.]+)pt"', self.texts_of("error.svg"))[1])
            self.assertAlmostEqual(points / 72 * 25.4, millimetres, 3)
        for width in ("wide", "10", "-5", "inf", "nan", "1e9"):
            self.check_refused([f"'{width}'", "column", "page", "mm"], "error", "results.jsonl", f"--width={width}")
        made_up_study.write(self.folder / "rows.csv", made_up_study.paper_rows())
        self.check_refused(["--width", "needs a width of", "mm at least"], "paper", "rows.csv", "--width", "column")
        self.assertEqual(self.run_plot("paper", "rows.csv", "--width", "page").returncode, 0)

    def test_help_has_examples(self):
        ran = self.run_command("--help")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("plot.py study results/", ran.stdout)

    def test_a_closed_pipe_is_no_error(self):
        command = subprocess.Popen([sys.executable, "-B", str(PLOT), "--help"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        command.stdout.close()
        self.assertEqual(command.stderr.read(), b"")
        self.assertEqual(command.wait(), -signal.SIGPIPE)

    def test_labels_are_neither_markup_nor_formulas(self):
        for label in ("$\\alpha_{$", "--><script>alert(1)</script>", "</text><image href='x'/>", "%s{0}\\n"):
            with self.subTest(label):
                self.points((2, "label", label))
                self.assertEqual(self.run_plot("error", "results.jsonl", "-o", "pictures").stderr, "")
                root = xml.etree.ElementTree.parse(self.folder / "pictures" / "error.svg").getroot()
                tags = {element.tag.rpartition("}")[2] for element in root.iter()}
                self.assertFalse(tags & {"script", "image"}, tags)

    def test_an_error_writes_no_files(self):
        made_up_study.write_study(self.folder)
        (self.folder / "rows.csv").unlink()
        self.check_refused(["rows.csv"], "study", ".", "-o", "pictures")
        self.assertFalse((self.folder / "pictures").exists())

    def test_rejects_invalid_usage(self):
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
