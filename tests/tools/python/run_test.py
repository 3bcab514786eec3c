"""equarx.run(): equal to the program, wherever it runs."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import equarx

CONFIG = "configs/experiments/allreduce_v5e_4x2.json"
SMALL = {"/tensor/bytes": "128 KiB", "/collectives/1/minishards": 1}
PROGRAM = pathlib.Path(os.environ["EQUARX_BUILD"], "equarx-sim")


def printed(*arguments, overrides=()) -> str:
    """Output of the program."""
    sets = [word for pointer, value in dict(overrides).items() for word in ("--set", f"{pointer}={value}")]
    return subprocess.run([PROGRAM, "run", CONFIG, *arguments, *sets], check=True, capture_output=True, text=True).stdout


def refused(*arguments, **options) -> equarx.InputError:
    """The error of a run that must fail."""
    try:
        equarx.run(*arguments, **options)
    except equarx.InputError as error:
        return error
    raise AssertionError("nothing was refused")


class SameAsTheProgram(unittest.TestCase):
    def test_the_result_matches_the_program_for_either_engine(self):
        for engine in ("simgrid", "direct"):
            with self.subTest(engine):
                overrides = {**SMALL, "/engine": engine}
                result = equarx.run(CONFIG, overrides)
                self.assertEqual(result.to_dict(), json.loads(printed("--json", overrides=overrides)))
                self.assertEqual(str(result), printed(overrides=overrides))

    def test_the_faster_engine_is_chosen_by_default(self):
        here = equarx.run(CONFIG, SMALL)
        there = json.loads(printed("--json", overrides=SMALL))
        self.assertEqual({run["engine"] for run in there["runs"]}, {"simgrid"})
        for run in there["runs"]:
            mine = here.runs[run["label"]]
            self.assertEqual((mine.engine, mine.engine_reason), ("direct", "one of many runs"))
            self.assertAlmostEqual(mine.time / run["time_s"], 1, delta=1e-9)
            self.assertEqual(mine.numerics.to_dict(), run["numerics"])
        self.assertEqual(here.to_dict()["config_hash"], there["config_hash"])

    def test_options_match_the_program(self):
        overrides = {**SMALL, "/engine": "direct", "/numerics": "off"}
        result = equarx.run(CONFIG, overrides, links=True, sensitivity=True, uncertainty=True).to_dict()
        self.assertIn("links", result["runs"][0])
        self.assertEqual(result["runs"][0]["uncertainty"]["samples"], 200)
        self.assertTrue(result["sensitivity"])

    def test_a_dict_is_as_good_as_a_file(self):
        config = json.loads(pathlib.Path(CONFIG).read_text())
        self.assertEqual(equarx.run(config, SMALL).to_dict(), equarx.run(pathlib.Path(CONFIG), SMALL).to_dict())

    def test_files_may_have_comments(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "new.json")
            subprocess.run([PROGRAM, "config", "new", "collective", "-o", file], check=True, capture_output=True)
            for engine in ("direct", "simgrid"):
                result = equarx.run(file, {"/tensor/shape": [64, 1024], "/engine": engine})
                self.assertEqual(list(result.runs), ["bf16", "int8", "fp8"])
            swept = equarx.sweep(file, {"/numerics": ["off"], "/tensor/bytes": ["128 KiB"]})
            self.assertEqual(len(swept), 3)

    def test_numpy_numbers_are_accepted(self):
        import numpy
        overrides = {**SMALL, "/collectives/1/minishards": numpy.int64(1), "/tensor/shape": numpy.array([64, 1024])}
        self.assertEqual(equarx.run(CONFIG, overrides).config["tensor"]["shape"], [64, 1024])

    def test_a_resolved_configuration_gives_the_same_result(self):
        result = equarx.run(CONFIG, SMALL)
        self.assertEqual(equarx.run(result.config).to_dict(), result.to_dict())

    def test_relative_paths_refer_to_the_current_folder(self):
        chip = subprocess.run([PROGRAM, "hardware", "tpu-v5e", "--json"], check=True, capture_output=True).stdout
        config = json.loads(pathlib.Path(CONFIG).read_text())
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        equarx.run(config, {**SMALL, "/engine": "simgrid"})  # its helper was started here
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mine.json").write_bytes(chip)
            os.chdir(folder)
            for engine in ("simgrid", "direct"):
                equarx.run(config, {**SMALL, "/engine": engine, "/hardware": "./mine.json"})
            os.chdir(before)


class Shapes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = equarx.run(CONFIG, SMALL)

    def test_runs_have_their_fields_as_attributes(self):
        run = self.result.runs["full-loop"]
        self.assertEqual(run.time, run["time_s"])
        self.assertEqual(run.speedup, run.to_dict()["speedup"])
        self.assertEqual(run.numerics.sqnr_db, run["numerics"]["sqnr_db"])
        self.assertEqual(self.result.baseline.label, "bf16")
        with self.assertRaisesRegex(AttributeError, "there is no 'tme'; there are label, "):
            _ = run.tme

    def test_changes_by_callers_do_not_affect_results(self):
        self.result.to_dict()["runs"].clear()
        self.result.config.clear()
        self.result.runs.clear()
        self.assertEqual(len(self.result.runs), 2)
        self.assertTrue(self.result.config)

    def test_rows_are_flat(self):
        rows = self.result.to_rows()
        self.assertEqual([row["label"] for row in rows], ["bf16", "full-loop"])
        self.assertEqual(rows[1]["numerics/mse"], self.result.runs["full-loop"].numerics.mse)
        self.assertFalse([value for row in rows for value in row.values() if isinstance(value, (dict, list))])

    def test_a_frame_has_the_rows(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, "needs pandas .*to_rows"):
                self.result.to_frame()
            return
        self.assertEqual(list(self.result.to_frame()["label"]), ["bf16", "full-loop"])

    def picture(self):
        """The axes that plot() makes."""
        try:
            import matplotlib
        except ImportError:
            self.skipTest("without Matplotlib")
        matplotlib.use("agg")
        return self.result.plot()

    def test_a_picture_has_a_bar_for_each_run(self):
        ax = self.picture()
        self.assertEqual([label.get_text() for label in ax.get_yticklabels()], ["bf16", "full-loop"])
        self.assertIs(self.result.plot(ax), ax)

    def test_the_legend_of_a_picture_covers_no_bar(self):
        ax = self.picture()
        ax.figure.canvas.draw()
        legend = ax.get_legend().get_window_extent()
        self.assertFalse(legend.overlaps(ax.get_window_extent()))
        self.assertLessEqual(legend.x1, ax.figure.bbox.x1)

    def test_notebooks_show_the_table(self):
        self.assertIn("full-loop", self.result._repr_html_())
        self.assertTrue(self.result._repr_html_().startswith("<pre>"))
        self.assertRegex(repr(self.result), r"^Result\(Run\(bf16: [\d.]+ us, 1.000x\), ")

    def test_notebooks_show_a_label_as_text_and_never_as_markup(self):
        label = "</pre><img src=x onerror=alert(1)>"
        html = equarx.run(CONFIG, {**SMALL, "/collectives/full-loop/label": label})._repr_html_()
        self.assertIn("&lt;/pre&gt;&lt;img src=x onerror=alert(1)&gt;", html)
        self.assertEqual(html.count("<"), 2)  # from <pre> and </pre>

    def test_a_failed_run_has_no_time(self):
        fails = {"links": [{"between": ["(0,0)", "(0,1)"], "fails_at": "0 s"}]}
        run = equarx.run(CONFIG, {**SMALL, "/faults": fails}).runs["bf16"]
        self.assertIsNone(run.time)
        self.assertIn("(0,1)", run.failure.link)
        self.assertIn("failed", repr(run))


class Steps(unittest.TestCase):
    """A step: a workload, whose variants are its collectives."""

    CONFIG = "configs/experiments/gemma3_12b_prefill_v5e_2x2.json"
    OVERRIDES = {"/workload/tokens": 64, "/numerics": "off"}

    def test_the_result_matches_the_program(self):
        sets = [word for pointer, value in self.OVERRIDES.items() for word in ("--set", f"{pointer}={value}")]
        shown = subprocess.run([PROGRAM, "run", self.CONFIG, "--json", *sets], check=True, capture_output=True, text=True)
        result = equarx.run(self.CONFIG, self.OVERRIDES)
        self.assertEqual(result.to_dict(), json.loads(shown.stdout))
        self.assertEqual(list(result.runs), ["bf16", "full-loop", "semi-loop"])
        self.assertEqual(result.runs["full-loop"].collectives[0]["tasks"], 96)

    def test_a_picture_has_compute_and_exposed_communication(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("without Matplotlib")
        matplotlib.use("agg")
        ax = equarx.run(self.CONFIG, self.OVERRIDES).plot()
        self.assertEqual([text.get_text() for text in ax.get_legend().get_texts()], ["compute", "exposed communication"])

    def test_tensors_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("whole step", str(refused(self.CONFIG, self.OVERRIDES, tensors=folder)))


class Mistakes(unittest.TestCase):
    def test_messages_and_pointers_match_the_program(self):
        wrong = {"/tensor/bytes": "2 potatoes", "/tensor/bites": 1, "/collectives/1/format": "int9",
                 "/hardware": "tpu-v99", "/topology/slice": "3x3x3"}
        for pointer, value in wrong.items():
            for engine in ("simgrid", "direct"):
                with self.subTest(pointer, engine=engine):
                    error = refused(CONFIG, {"/engine": engine, pointer: value})
                    ran = subprocess.run([PROGRAM, "run", CONFIG, "--set", f"{pointer}={value}"], capture_output=True,
                                         text=True, check=False)
                    self.assertEqual(ran.returncode, 2)
                    self.assertEqual(f"equarx-sim: error: {error}\n", ran.stderr)
                    self.assertTrue(error.pointer.startswith(pointer.rsplit("/", 1)[0]), error.pointer)

    def test_each_error_is_one_sentence(self):
        for arguments, message in [
                (("configs/none.json",), r"^.*configs/none.json.*$"),
                ((7,), "^a configuration must be a dict or the path of a JSON file, not a int$"),
                ((CONFIG, [1]), "^overrides must be a dict of JSON pointers"),
                ((CONFIG, {"tensor": 1}), "^overrides: 'tensor' is not a JSON pointer; write it like /tensor/bytes$"),
                ((CONFIG, {"/tensor": {1, 2}}), "^configuration: a set is no value of a configuration"),
                ((CONFIG, {"/tensor/sample": float("nan")}), "^configuration: Out of range float values"),
                (({},), "^/hardware: ")]:
            with self.subTest(arguments):
                error = refused(*arguments)
                self.assertRegex(str(error), message)
                self.assertNotIn("\n", str(error))

    def test_an_error_is_a_value_error_that_can_be_pickled(self):
        import pickle
        error = refused(CONFIG, {"/tensor/bytes": "2 potatoes"})
        self.assertIsInstance(error, ValueError)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.pointer), (str(error), "/tensor/bytes"))


if __name__ == "__main__":
    unittest.main()
