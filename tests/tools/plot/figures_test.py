"""Tests the figures for command lines, and rejected command lines."""
import unittest

import made_up_run
import made_up_study
from picture_case import PictureCase

NAMES = ["time", "speedup", "error", "breakdown", "paper"]


class Figures(PictureCase):
    def test_rejects_folders_without_results(self):
        self.check_refused(["results.jsonl", "No such file"], "study", self.folder)

    def test_rejects_missing_experiments(self):
        self.points()
        self.check_refused(["results.jsonl", "'sizes'", "six"], "time", "results.jsonl")

    def test_rejects_a_study_without_pictures(self):
        made_up_study.write_study(self.folder)
        made_up_study.write_points(self.folder / "results.jsonl",
                                   [dict(row, experiment="odd") for row in made_up_study.six()])
        header = (self.folder / "rows.csv").read_text().splitlines()[0]
        (self.folder / "rows.csv").write_text(header + "\n")
        self.check_refused(["no picture", "odd"], "study", ".")

    def test_study_works_without_optional_experiments(self):
        made_up_study.write_study(self.folder)
        made_up_study.write_points(self.folder / "results.jsonl", made_up_study.sizes() + made_up_study.six())
        self.check_pictures(self.run_plot("study", ".").stdout.split(), NAMES)

    def test_study_draws_the_pictures_of_its_experiments(self):
        made_up_study.write_study(self.folder)
        made_up_study.write_points(self.folder / "results.jsonl", made_up_study.activations())
        self.check_pictures(self.run_plot("study", ".").stdout.split(), ["tails", "paper"])
        header = (self.folder / "rows.csv").read_text().splitlines()[0]
        (self.folder / "rows.csv").write_text(header + "\n")
        self.check_pictures(self.run_plot("study", ".").stdout.split(), ["tails"])

    def test_study_omits_prefills_of_a_single_collective(self):
        made_up_study.write_study(self.folder)
        prefill = [row for row in made_up_study.prefills() if row["label"] == "bf16"]
        made_up_study.write_points(self.folder / "results.jsonl", prefill)
        self.check_pictures(self.run_plot("study", ".").stdout.split(), ["paper"])

    def test_names_include_other_experiments(self):
        made_up_study.write_study(self.folder)
        rows = [dict(row, experiment="more") for row in made_up_study.activations()]
        made_up_study.write_points(self.folder / "results.jsonl", [*made_up_study.activations(), *rows])
        self.check_pictures(self.run_plot("study", ".").stdout.split(), ["tails", "tails_more", "paper"])
        ran = self.run_plot("tails", "results.jsonl", "--experiment", "more", "-o", "b")
        self.check_pictures(ran.stdout.split(), ["tails_more"])

    def test_links_of_the_only_collective_or_of_a_label(self):
        made_up_run.write_result(self.folder / "result.json", made_up_run.result([4, 4]))
        self.check_pictures(self.run_plot("links", "result.json").stdout.split(), ["links"])
        made_up_run.write_result(self.folder / "result.json", made_up_run.result([4, 4], labels=["bf16", "two shot/8"]))
        ran = self.run_plot("links", "result.json", "--label", "two shot/8", "-o", "new")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.check_pictures(ran.stdout.split(), ["links_two_shot_8"])

    def test_sensitivities_of_all_collectives_or_of_a_label(self):
        made_up_run.write_result(self.folder / "result.json", made_up_run.sensitivities())
        self.check_pictures(self.run_plot("sensitivity", "result.json").stdout.split(), ["sensitivity"])
        ran = self.run_plot("sensitivity", "result.json", "--label", "int8")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.check_pictures(ran.stdout.split(), ["sensitivity_int8"])


if __name__ == "__main__":
    unittest.main()
