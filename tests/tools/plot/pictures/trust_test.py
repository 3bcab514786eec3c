"""Tests that every picture of times or speedups, and no other, notes uncalibrated chips."""
import argparse
import unittest

import made_up_run
import made_up_step
import made_up_study
import made_up_sweep
import made_up_trace
from legible import check_legible, drawn_texts
from picture_case import DrawnCase

from kinds import KINDS, OPTIONS
from read import trust

V4 = f"tpu-v4: {trust.NOTE}"
ROWS = {"time": made_up_study.sizes, "speedup": made_up_study.sizes, "error": made_up_study.six,
        "breakdown": made_up_study.formats, "tails": made_up_study.activations,
        "prefill_time": made_up_study.prefills, "prefill_speedup": made_up_study.prefills,
        "sweep": made_up_study.six}
EXPERIMENTS = {"time": "sizes", "speedup": "sizes", "error": "six", "breakdown": "formats", "tails": "activations"}
RUNS = {"links": lambda: made_up_run.result([4, 4]), "sensitivity": made_up_run.sensitivities,
        "advice": lambda: made_up_run.step_advice([made_up_run.group_advice("sum", "yes", 1.2)])}
MACHINE = {"hardware": "tpu-v4", "topology": {"slice": "2x1"}, "tensor": {"bytes": "1 MiB", "dtype": "bf16"}}


class Trust(DrawnCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "input"

    def write(self, kind: str, calibrated: bool) -> None:
        """Writes an input of that kind with a TPU v4."""
        if kind in ROWS:
            entries = [made_up_study.line(number, dict(row, hardware="tpu-v4", calibrated=calibrated))
                       for number, row in enumerate(ROWS[kind]())]
            made_up_sweep.write(self.path, [entry | {"axes": {"/a": 1}} for entry in entries])
        elif kind == "paper":
            chip = {"hardware": "tpu-v4", "calibrated": "yes" if calibrated else "no"}
            made_up_study.write(self.path, [row | chip for row in made_up_study.paper_rows()])
        elif kind == "gantt":
            made_up_trace.write(self.path, ["int8"], calibrated=calibrated, config=MACHINE)
        elif kind == "step":
            content = made_up_step.result()
            content["variants"] = [variant | {"calibrated": calibrated} for variant in content["variants"]]
            self.write_result(content)
        elif kind == "pareto":
            self.write_result(made_up_run.tuning(members=3) | {"calibrated": calibrated})
        elif kind == "served":
            self.write_result(made_up_run.served(requests=3) | {"calibrated": calibrated})
        elif kind == "plan":
            made_up_run.write_result(self.path, made_up_run.plan(calibrated))
        elif kind == "contract":
            self.write_result(made_up_run.contract({}) | {"calibrated": calibrated})
        else:
            content = RUNS[kind]()
            content["runs"] = [run | {"calibrated": calibrated} for run in content["runs"]]
            self.write_result(content)

    def write_result(self, content: dict) -> None:
        content["config"]["hardware"] = "tpu-v4"
        made_up_run.write_result(self.path, content)

    def figure(self, kind: str, **options):
        none = {name: [] if option.repeated else "" for name, option in OPTIONS.items()}
        given = {"experiment": EXPERIMENTS.get(kind, ""), **options}
        [figure] = KINDS[kind].figures(argparse.Namespace(kind=kind, inputs=[self.path], **none | given)).values()
        return figure

    def options(self, kind: str) -> dict:
        return {"x": "label", "y": "/a", "value": "speedup"} if kind == "sweep" else {}

    def test_every_kind_with_times_has_the_note(self):
        for kind in sorted(set(KINDS) - {"study", "compare"}):  # comparisons do not record it
            for calibrated in (False, True):
                with self.subTest(kind=kind, calibrated=calibrated):
                    self.write(kind, calibrated)
                    figure = self.figure(kind, **self.options(kind))
                    texts = [text for text, _ in drawn_texts(figure)]
                    self.assertEqual(V4 in texts, not calibrated and kind != "tails")
                    check_legible(self, figure)

    def test_a_sweep_has_the_note_for_times_of_drawn_chips(self):
        rows = [dict(row, hardware=chip, calibrated=chip != "tpu-v4")
                for chip in ("tpu-v4", "tpu-v5e") for row in made_up_study.six()]
        entries = [made_up_study.line(number, row) for number, row in enumerate(rows)]
        for entry in entries:
            entry["axes"] = {"/a": 1, "/hardware": entry["config"]["hardware"]}
        made_up_sweep.write(self.path, entries)
        for chip, value, is_noted in (("tpu-v4", "speedup", True), ("tpu-v4", "lower_bound_s", True),
                                     ("tpu-v4", "mse", False), ("tpu-v5e", "speedup", False)):
            with self.subTest(chip=chip, value=value):
                figure = self.figure("sweep", x="label", y="/a", value=value, where=[f"/hardware={chip}"])
                self.assertEqual(V4 in [text for text, _ in drawn_texts(figure)], is_noted)

    def test_notes_are_per_picture_of_a_study(self):
        rows = [dict(row, hardware="tpu-v4", calibrated=False) for row in made_up_study.sizes()]
        made_up_study.write_points(self.folder / "results.jsonl",
                                   [*rows, *(dict(row, calibrated=True) for row in made_up_study.six())])
        made_up_study.write(self.folder / "rows.csv", made_up_study.paper_rows())
        self.run_plot("study", ".")
        noted = {path.stem for path in self.folder.glob("*.svg") if V4 in path.read_text()}
        self.assertEqual(noted, {"time", "speedup"})


if __name__ == "__main__":
    unittest.main()
