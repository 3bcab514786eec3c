"""Tests the picture of verdicts."""
import unittest

import made_up_run
import made_up_step
from legible import check_legible, drawn_texts
from picture_case import DrawnCase

from pictures import answers, verdicts
from read import verdicts as verdicts_file

GROUPS = [made_up_run.group_advice("sum gradients", "yes", 1.2), made_up_run.group_advice("gather", "no", 0.9),
          made_up_run.group_advice("sum activations", "unclear", 1.0, "the interval includes 1.00x"),
          made_up_run.group_advice("a group with a name as long as those of programs", "no", None,
                                   "no configuration within the limits shortens the step, which is long to write")]


class VerdictsPicture(DrawnCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "advice.json"

    def figure(self, content: dict):
        made_up_run.write_result(self.path, content)
        return verdicts.draw(verdicts_file.read(self.path))

    def texts(self, figure) -> list[str]:
        return [text for text, _ in drawn_texts(figure)]

    def dots(self, figure) -> list[tuple]:
        """Speedup, row, colour and marker of each verdict."""
        return [(line.get_xdata()[0], line.get_ydata()[0], line.get_color(), line.get_marker())
                for line in figure.axes[0].lines if line.get_marker() in ("o", "X", "D")]

    def test_a_step_and_its_groups_have_speedups_with_verdicts(self):
        figure = self.figure(made_up_run.step_advice(GROUPS))
        check_legible(self, figure)
        look = {answer: (one.colour, one.marker) for answer, one in answers.LOOKS.items()}
        self.assertEqual(self.dots(figure), [(1.25, 0, *look["yes"]), (1.2, 1, *look["yes"]), (0.9, 2, *look["no"]),
                                             (1.0, 3, *look["unclear"])])
        texts = self.texts(figure)
        self.assertEqual([texts.count(answer) for answer in ("yes", "no", "unclear")], [2, 2, 1])
        for answer, one in answers.LOOKS.items():
            colours = {text.get_color() for text in figure.axes[0].texts if text.get_text() == answer}
            self.assertEqual(colours, {one.colour})
        for words in ("whole step", "1 of 4 groups; 200 ms unquantized, 160 ms advised", "1.20x to 1.30x", "30.0 dB",
                      "39.5 dB", "512 KiB", "0.90x", "quantize: unclear", "68 % interval", "unquantized, 1.00x",
                      "Step on 16 x tpu-v5e, slice 4x4; mesh: data=4, model=4"):
            self.assertIn(words, texts)

    def test_intervals_and_the_reference_line(self):
        axes = self.figure(made_up_run.step_advice(GROUPS[:1])).axes[0]
        ends = [tuple(point[0] for point in bar.get_segments()[0]) for bar in axes.collections]
        for (low, high), (least, most) in zip(ends, [(1.2, 1.3), (1.19, 1.22)]):
            self.assertAlmostEqual(low, least)
            self.assertAlmostEqual(high, most)
        self.assertIn([1, 1], [list(line.get_xdata()) for line in axes.lines])
        self.assertLess(axes.get_xlim()[0], 1)

    def test_a_step_that_is_not_to_be_quantized_has_no_speedup(self):
        content = made_up_run.step_advice(GROUPS[-1:], quantize="no", speedup=1.0)
        del content["runs"][1:]
        figure = self.figure(content)
        check_legible(self, figure)
        self.assertEqual(self.dots(figure), [])
        self.assertIn("200 ms; no quantized group", self.texts(figure))

    def test_machines_without_curves_have_rows(self):
        without = made_up_run.advice(sizes=[])
        refused = made_up_run.advice(quantized=None, quantize="no", speedup=None, uncertainty=None,
                                     nearest={"label": "equarx int4"})
        figure = self.figure(made_up_run.sites(without, refused, None))
        check_legible(self, figure)
        self.assertEqual([dot[:2] for dot in self.dots(figure)], [(1.75, 0)])
        for words in ("AllReduce of 4 MiB of bf16 on each chip", "equarx int8, compared with ring bf16", "36.0 dB",
                      "no candidate within the limits; nearest: equarx int4", "chip 2, mesh 4x2", "too many links"):
            self.assertIn(words, self.texts(figure))

    def test_machines_on_which_every_candidate_breaks_the_contract_have_rows(self):
        broken = made_up_run.advice(quantized=None, quantize="no", speedup=None, uncertainty=None,
                                    broken={"promise": "one-rounding"})
        figure = self.figure(made_up_run.sites(made_up_run.advice(sizes=[]), broken))
        check_legible(self, figure)
        self.assertIn("every candidate breaks one-rounding or another promise", self.texts(figure))

    def test_the_command_draws_curves_where_there_are_some(self):
        made_up_run.write_result(self.path, made_up_run.advice())
        self.check_pictures(self.run_plot("advice", "advice.json").stdout.split(), ["advice"])
        self.assertIn("break-even size", (self.folder / "advice.svg").read_text())
        made_up_run.write_result(self.path, made_up_run.advice(sizes=[]))
        self.run_plot("advice", "advice.json", "--format", "svg")
        self.assertIn("quantize?", (self.folder / "advice.svg").read_text())

    def test_the_command_names_version_and_configuration_of_a_step(self):
        made_up_run.write_result(self.path, made_up_run.step_advice(GROUPS))
        ran = self.run_plot("advice", "advice.json", "--format", "svg")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("simulated with equarx-sim 9.8.7, config abc", (self.folder / "advice.svg").read_text())

    def test_rejects_other_and_malformed_results(self):
        made_up_run.write_result(self.path, made_up_step.result())
        self.check_refused(["a result of", "of a step; advice needs advice of"], "advice", "advice.json")
        content = made_up_run.step_advice([dict(GROUPS[0])])
        del content["advice"]["groups"][0]["step_speedup"]
        made_up_run.write_result(self.path, content)
        self.check_refused(["malformed", "no key 'step_speedup'"], "advice", "advice.json")
        made_up_run.write_result(self.path, made_up_run.result([4, 2]))
        self.check_refused(["advice needs advice of"], "advice", "advice.json")


if __name__ == "__main__":
    unittest.main()
