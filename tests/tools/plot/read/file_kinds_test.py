"""Tests the identification of files, and errors about files of other kinds."""
import json
import unittest

import made_up_run
import made_up_step
import made_up_study
import made_up_sweep
import made_up_trace
from picture_case import ROOT, PictureCase

from read import file_kinds

CONFIGURATION = {"hardware": "tpu-v5e", "topology": {"slice": "4x2"}, "tensor": {"bytes": "1 MiB"}}
PYTHON = ("Error", "Exception", "NoneType", "Traceback", "column ", "(char")


class FileKinds(PictureCase):
    def of(self, text: str) -> str:
        (self.folder / "file").write_text(text)
        return file_kinds.of(self.folder / "file")

    def test_results_are_identified_by_their_keys(self):
        for content, kind in ((made_up_run.result([4, 2]), file_kinds.RUN), (made_up_step.result(), file_kinds.STEP),
                              (made_up_run.tuning(members=2), file_kinds.TUNING),
                              (CONFIGURATION, file_kinds.EXPERIMENT),
                              (made_up_run.advice(), file_kinds.ADVICE), (made_up_run.sites(None), file_kinds.ADVICE),
                              (made_up_run.comparison(), file_kinds.COMPARISON),
                              (made_up_run.contract({}), file_kinds.CONTRACT),
                              (made_up_run.served(), file_kinds.SERVED),
                              (made_up_run.plan(), file_kinds.PLAN),
                              ({"hardware": "h100", "serving": {}}, file_kinds.SERVED_CONFIG),
                              ({"base": {}, "axes": []}, file_kinds.SWEEP),
                              (made_up_sweep.lines()[0], file_kinds.POINTS),
                              ({"odd": 1}, "a JSON object with the keys 'odd'"), ({}, "an empty JSON object"),
                              ([1], "JSON, but not an object")):
            with self.subTest(kind):
                self.assertEqual(self.of(json.dumps(content, indent=1)), kind)

    def test_files_of_several_lines(self):
        made_up_sweep.write(self.folder / "lines", made_up_sweep.lines())
        self.assertEqual(file_kinds.of(self.folder / "lines"), file_kinds.POINTS)
        made_up_study.write(self.folder / "rows.csv", made_up_study.paper_rows())
        self.assertEqual(file_kinds.of(self.folder / "rows.csv"), file_kinds.ROWS)
        made_up_trace.write(self.folder / "trace.json", ["int8"])
        self.assertEqual(file_kinds.of(self.folder / "trace.json"), file_kinds.TRACE)
        self.assertEqual(self.of("point,key,label\n0,a,int8\n"), file_kinds.TABLE)
        self.assertEqual(self.of("a,b,c,d,e\n"), "a table with the columns 'a', 'b', 'c', 'd', ...")

    def test_other_files(self):
        for text, kind in (("", "an empty file"), ("\n{", "malformed JSON (line 2)"), ("text", "neither JSON nor CSV")):
            self.assertEqual(self.of(text), kind)
        (self.folder / "file").write_bytes(b"\xff\xfe")
        self.assertEqual(file_kinds.of(self.folder / "file"), "not a text file")

    def test_configurations_of_the_program_with_and_without_comments(self):
        for name, kind in (("new/collective", file_kinds.EXPERIMENT), ("new/step", file_kinds.STEP_CONFIG),
                           ("experiments/allreduce_v5e_4x2", file_kinds.EXPERIMENT), ("sweeps/size_and_slice",
                           file_kinds.SWEEP), ("hardware/tpu-v5e", file_kinds.HARDWARE)):
            self.assertEqual(file_kinds.of(ROOT / "configs" / f"{name}.json"), kind)


class WrongFiles(PictureCase):
    def test_every_kind_of_picture_names_file_kind_and_need_without_words_of_python(self):
        (self.folder / "first.json").write_text(json.dumps(CONFIGURATION, indent=2))
        axes = {"sweep": ["--x", "/a", "--y", "/b"]}
        for picture, needs in (("step", "a result of 'equarx-sim run CONFIG --json' of a step"),
                               ("speedup", "results.jsonl of 'equarx-sim sweep' or 'reproduce', or advice of "
                                           "'equarx-sim advise first.json --json'"),
                               ("time", "results.jsonl of 'equarx-sim sweep'"), ("sweep", "results.jsonl of"),
                               ("links", "a result of 'equarx-sim run first.json --json --links'"),
                               ("sensitivity", "a result of 'equarx-sim run first.json --json --sensitivity'"),
                               ("gantt", "a trace of 'equarx-sim run first.json --trace FILE'"),
                               ("pareto", "a result of 'equarx-sim tune first.json --json'"),
                               ("compare", "a comparison of 'equarx-sim compare A.json B.json --json'"),
                               ("contract", "a contract of 'equarx-sim contract first.json --json'"),
                               ("paper", "rows.csv of 'equarx-sim reproduce'"),
                               ("study", "the folder of 'equarx-sim reproduce'")):
            with self.subTest(picture):
                ran = self.run_plot(picture, "first.json", *axes.get(picture, []))
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                self.assertTrue(ran.stderr.startswith(
                    f"plot: first.json is an experiment configuration; {picture} needs {needs}"), ran.stderr)
                self.assertEqual(ran.stderr.count("\n"), 1)
                self.assertFalse([word for word in PYTHON if word in ran.stderr], ran.stderr)

    def test_a_result_for_another_picture_comes_with_the_kind_that_draws_it(self):
        made_up_run.write_result(self.folder / "a.json", made_up_run.comparison())
        self.check_refused(["a.json is a comparison of", "speedup needs", "kinds for this file: compare\n"], "speedup",
                           "a.json")
        made_up_sweep.write(self.folder / "results.jsonl", made_up_sweep.lines())
        self.check_refused(["kinds for this file: time, speedup, breakdown, sweep\n"], "step", "results.jsonl")

    def test_malformed_results_name_the_missing_key(self):
        content = made_up_run.tuning(members=2)
        del content["limits"]
        made_up_run.write_result(self.folder / "tuned.json", content)
        self.check_refused(["plot: tuned.json: malformed; expected a result of 'equarx-sim tune CONFIG --json': "
                            "no key 'limits'\n"], "pareto", "tuned.json")


if __name__ == "__main__":
    unittest.main()
