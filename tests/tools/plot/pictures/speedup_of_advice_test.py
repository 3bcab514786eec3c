"""Tests the picture of advice."""
import unittest

import made_up_run
from legible import check_legible, drawn_texts
from picture_case import DrawnCase

from pictures import answers, speedup_of_advice
from read import advice

PREFILL = {"model": "gemma3-27b", "phase": "prefill", "tokens": 4096, "batch": 1}


class SpeedupOfAdvice(DrawnCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "advice.json"

    def figure(self, content: dict):
        made_up_run.write_result(self.path, content)
        return speedup_of_advice.draw(advice.read(self.path))

    def texts(self, figure) -> str:
        return "\n".join(text for text, _ in drawn_texts(figure))

    def test_the_curve_the_interval_and_the_break_even_size(self):
        figure = self.figure(made_up_run.advice())
        check_legible(self, figure)
        [axes] = figure.axes
        [curve] = [line for line in axes.lines if len(line.get_xdata()) == 3]
        self.assertEqual((list(curve.get_xdata()), list(curve.get_ydata())),
                         ([2**20, 2**21, 2**22], [0.5, 1.25, 1.75]))
        [ends] = [[tuple(point) for point in segment] for segment in axes.collections[0].get_segments()]
        self.assertEqual(ends, [(2**22, 1.5), (2**22, 1.9)])
        self.assertEqual([line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == ":"], [2**21])
        for words in ("equarx int8", "speedup over ring bf16", "break-even size", "68 % interval",
                      "AllReduce of bf16 on each of 8 x tpu-v5e, mesh 4x2; quantize 4 MiB? yes: 1.75x, 68 % interval "
                      "1.50x to 1.90x"):
            self.assertIn(words, self.texts(figure))

    def test_the_verdict_has_a_colour_a_marker_and_a_label(self):
        for answer in ("yes", "no", "unclear"):
            figure = self.figure(made_up_run.advice(quantize=answer))
            check_legible(self, figure)
            look = answers.LOOKS[answer]
            [dot] = [line for line in figure.axes[0].lines if line.get_marker() == look.marker]
            self.assertEqual((list(dot.get_xdata()), list(dot.get_ydata()), dot.get_color()),
                             ([2**22], [1.75], look.colour))
            self.assertIn(answer, [text for text, _ in drawn_texts(figure)])
            self.assertIn(f"quantize: {answer}", self.texts(figure))

    def test_axis_limits_include_the_interval(self):
        figure = self.figure(made_up_run.advice(uncertainty={"samples": 200, "speedup_low": 1.5, "speedup_high": 4.0}))
        self.assertGreater(figure.axes[0].get_ylim()[1], 4.0)

    def test_without_interval_and_break_even_size(self):
        figure = self.figure(made_up_run.advice(uncertainty=None, pays_from_bytes=None))
        self.assertNotIn("interval", self.texts(figure))
        self.assertNotIn("break-even", self.texts(figure))

    def test_the_interval_of_a_workload_is_not_drawn_on_the_curve_of_one_collective(self):
        content = made_up_run.advice()
        content["config"]["workload"] = PREFILL
        figure = self.figure(content)
        self.assertEqual(list(figure.axes[0].collections), [])
        self.assertIn("Prefill of gemma3-27b, 4096 tokens x 1: 1.75x, 68 % interval 1.50x to 1.90x",
                      self.texts(figure))
        content["of_one_allreduce"] = True
        self.assertEqual(len(self.figure(content).axes[0].collections), 1)

    def test_each_site_has_a_panel_and_others_are_left_out_with_a_note(self):
        made_up_run.write_result(self.path, made_up_run.sites(made_up_run.advice(), None, made_up_run.advice(),
                                                              made_up_run.advice(sizes=[])))
        ran = self.run_plot("speedup", "advice.json", "--format", "svg")
        self.assertEqual((ran.returncode, ran.stderr),
                         (0, "plot: note: advice.json: chip 1, mesh 4x2: left out: too many links\n"
                             "plot: note: advice.json: chip 3, mesh 4x2: left out: other sizes take long to "
                             "simulate\n"))
        text = (self.folder / "speedup.svg").read_text()
        self.assertEqual(text.count("tpu-v5e, mesh 4x2; quantize 4 MiB? yes: 1.75x, 68 % interval -->"), 2)
        self.assertIn("<!-- simulated with equarx-sim 9.8.7 -->", text)

    def test_the_command_names_version_configuration_and_uncalibrated_chips(self):
        made_up_run.write_result(self.path, made_up_run.advice(calibrated=False))
        ran = self.run_plot("speedup", "advice.json", "--format", "svg")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        text = (self.folder / "speedup.svg").read_text()
        self.assertIn("simulated with equarx-sim 9.8.7, config abc", text)
        self.assertIn("tpu-v5e: not calibrated", text)

    def test_rejects_advice_without_a_curve_and_options_of_sweeps(self):
        for changes, words in (({"quantized": None}, "no quantized candidate is within the limits"),
                               ({"quantized": None, "broken": {"promise": "one-rounding"}},
                                "no quantized candidate keeps the contract"),
                               ({"sizes": []}, "other sizes take long to simulate"),
                               ({"plain": {}}, "malformed; expected advice of .*: no key 'label'")):
            with self.subTest(words):
                made_up_run.write_result(self.path, made_up_run.advice(**changes))
                self.assertRegex(self.run_plot("speedup", "advice.json").stderr, rf"^plot: advice.json: .*{words}\n$")
        made_up_run.write_result(self.path, made_up_run.advice())
        self.check_refused(["--where", "advice.json is advice"], "speedup", "advice.json", "--where", "/a=1")
        self.check_refused(["speedup takes one file of advice"], "speedup", "advice.json", "advice.json")


if __name__ == "__main__":
    unittest.main()
