"""Tests files of points by picture."""
import unittest

import made_up_study
import made_up_sweep
from picture_case import PictureCase


class PointFiles(PictureCase):
    def write(self, entries: list[dict]):
        return made_up_sweep.write(self.folder / "results.jsonl", entries)

    def test_rejects_files_and_options_of_other_kinds(self):
        self.write(made_up_sweep.lines())
        self.check_refused(["is results.jsonl", "paper needs rows.csv"], "paper", "results.jsonl")
        self.check_refused(["experiment"], "time", "results.jsonl", "--experiment", "sizes")
        self.check_refused(["experiment"], "sweep", "results.jsonl", "--experiment", "sizes")
        self.check_refused(["results.jsonl", "no experiment", "reproduce"], "study", ".")
        self.check_refused(["phase", "prefill"], "prefill_time", "results.jsonl")
        (self.folder / "results.csv").write_text("point,key,/tensor/bytes,label\n0,a,1 MiB,plain\n")
        self.check_refused(["results.csv", "results.jsonl"], "time", "results.csv")
        (self.folder / "points.csv").write_text("experiment,label\nsizes,plain\n")
        self.check_refused(["points.csv is a table with the columns 'experiment', 'label'", "needs results.jsonl"],
                           "time", "points.csv")
        self.check_refused(["results.jsonl", "No such file"], "study", "nowhere")
        self.check_refused(["--where"], "study", ".", "--where", "/a=1")
        self.check_refused(["AXIS=VALUE"], "time", "results.jsonl", "--where", "minishards")

    def test_studies_are_drawn_by_experiment(self):
        lines = made_up_sweep.lines()
        entries = [dict(line, experiment=name) for name in ("sizes", "others") for line in lines]
        self.write(entries)
        header = ",".join(made_up_study.paper_rows()[0])
        (self.folder / "rows.csv").write_text(f"{header}\n")
        self.check_pictures(self.run_plot("study", ".").stdout.split(), ["time", "speedup"])
        self.check_pictures(self.run_plot("time", "results.jsonl", "--experiment", "others").stdout.split(),
                            ["time_others"])
        ran = self.run_plot("time", "results.jsonl", "--experiment", "others", "--where", "/topology/slice=4x2")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.check_refused(["'six'", "there is: sizes, others"], "error", "results.jsonl")
        axes = ["--x", "/tensor/bytes", "--y", "/topology/slice", "--label", "quick"]
        self.check_refused(["several experiments", "--experiment", "sizes, others"], "sweep", "results.jsonl", *axes)
        ran = self.run_plot("sweep", "results.jsonl", *axes, "--experiment", "others")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
