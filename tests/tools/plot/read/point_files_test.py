"""Tests which files of points are read for which pictures."""
import argparse
import unittest

import made_up_study
import made_up_sweep
from picture_case import PictureCase

from kinds import KINDS


class PointFiles(PictureCase):
    def write(self, entries: list[dict]):
        return made_up_sweep.write(self.folder / "results.jsonl", entries)

    def test_what_is_not_of_a_sweep_is_refused(self):
        self.write(made_up_sweep.lines())
        self.check_refused(["paper", "rows.csv"], "paper", "results.jsonl")
        self.check_refused(["experiment"], "time", "results.jsonl", "--experiment", "sizes")
        self.check_refused(["experiment"], "sweep", "results.jsonl", "--experiment", "sizes")
        self.check_refused(["results.jsonl", "no experiment", "reproduce"], "study", ".")
        self.check_refused(["phase", "prefill"], "prefill_time", "results.jsonl")
        (self.folder / "results.csv").write_text("point,key,/tensor/bytes,label\n0,a,1 MiB,plain\n")
        self.check_refused(["results.csv", "results.jsonl"], "time", "results.csv")
        (self.folder / "points.csv").write_text("experiment\nsizes\n")
        self.check_refused(["--where", "results.jsonl"], "time", "points.csv", "--where", "/a=1")
        self.check_refused(["--where"], "study", ".", "--where", "/a=1")
        self.check_refused(["AXIS=VALUE"], "time", "results.jsonl", "--where", "minishards")

    def test_a_study_in_the_format_of_a_sweep_is_drawn_by_experiment(self):
        lines = made_up_sweep.lines()
        entries = [dict(line, experiment=name) for name in ("sizes", "others") for line in lines]
        self.write(entries)
        header = ",".join(made_up_study.paper_rows()[0])
        (self.folder / "rows.csv").write_text(f"{header}\n")
        self.check_pictures(self.run_plot("study", ".").stdout.split(), ["time", "speedup"])
        self.check_pictures(self.run_plot("time", "results.jsonl", "--experiment", "others").stdout.split(),
                            ["time_others"])
        self.check_refused(["'six'", "there is: sizes, others"], "error", "results.jsonl")
        axes = ["--x", "/tensor/bytes", "--y", "/topology/slice", "--label", "quick"]
        self.check_refused(["several experiments", "--experiment", "sizes, others"], "sweep", "results.jsonl", *axes)
        ran = self.run_plot("sweep", "results.jsonl", *axes, "--experiment", "others")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_a_table_of_a_study_gives_the_same_picture_as_lines_of_the_same_numbers(self):
        rows = [dict(row, experiment="sizes") for row in made_up_study.sizes()]
        entries = [self.line(number, row) for number, row in enumerate(rows)]
        lines = self.write(entries)
        drawn = self.figure("time", rows, "sizes")
        [other] = KINDS["time"].figures(argparse.Namespace(kind="time", inputs=[lines], experiment="sizes",
                                                           where=[])).values()
        places = [[[list(line.get_xdata()), list(line.get_ydata())] for axes in figure.axes for line in axes.lines]
                  for figure in (drawn, other)]
        self.assertEqual(*places)

    @staticmethod
    def line(number: int, row: dict) -> dict:
        """The row as a line of results.jsonl."""
        tensor = {"bytes": f"{row['tensor_bytes']} B", "dtype": "bf16", "values": {"distribution": "normal"}}
        config = {"hardware": row["hardware"], "topology": {"slice": row["topology"].split()[1]}, "baseline": "bf16",
                  "collective": "all-reduce", "collectives": [{"label": row["label"]}], "tensor": tensor}
        return {"point": number, "key": f"{number:016x}", "version": "9.8.7", "experiment": row["experiment"],
                "axes": {"/topology/slice": row["topology"], "/tensor/bytes": row["tensor_bytes"]}, "config": config,
                "run": {name: row[name] for name in ("label", "chips", "time_s", "speedup", "lower_bound_s")}}


if __name__ == "__main__":
    unittest.main()
