"""Tests the picture of a tuning."""
import unittest

import made_up_run
import made_up_sweep
from legible import check_legible, drawn_texts
from picture_case import PictureCase

from drawing import style
from pictures import pareto
from read import tuned
from read.errors import InputError


class Pareto(PictureCase):
    def setUp(self):
        super().setUp()
        style.use()

    def write(self, content: dict):
        path = self.folder / "tuned.json"
        made_up_run.write_result(path, content)
        return path

    def figure(self, content: dict):
        return pareto.draw(tuned.read(self.write(content)))

    def test_every_member_of_the_front_has_a_point_and_a_row(self):
        figure = self.figure(made_up_run.tuning(members=4))
        check_legible(self, figure)
        texts = [text for text, _ in drawn_texts(figure)]
        for number in "1234":
            self.assertEqual(texts.count(number), 2, number)  # next to its point, and in the list
        for time in ("100.0 us", "200.0 us", "400.0 us", "800.0 us"):
            self.assertIn(time, texts)
        places = [(line.get_xdata()[0], line.get_ydata()[0]) for line in figure.axes[0].lines
                  if len(line.get_xdata()) == 1]
        for member in made_up_run.tuning(members=4)["front"]:
            self.assertIn((member["time_s"], member["nmse"]), places)

    def test_the_best_member_is_marked_only_within_limits(self):
        for limits, words in (({}, ""), ({"max_nmse": 2e-3}, "fastest within the limits"),
                              ({"max_nmse": 2e-3, "max_time_s": 5e-4}, "fastest within the limits"),
                              ({"max_time_s": 5e-4}, "most accurate within the limit")):
            with self.subTest(limits):
                figure = self.figure(made_up_run.tuning(members=3, **limits))
                circles = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "none"]
                bold = [text for text in figure.axes[0].texts if text.get_weight() == "bold"]
                texts = [text for text, _ in drawn_texts(figure)]
                self.assertEqual((len(circles), bool(bold)), (1, True) if words else (0, False))
                self.assertEqual([text for text in texts if "within the limit" in text], [words] * bool(words))

    def test_schemes_are_distinguishable(self):
        content = made_up_run.tuning(members=8)
        for place, member in enumerate(content["front"]):
            member["collective"]["algorithm"] = f"algorithm-{place}"
        looks = style.looks([f"algorithm-{place}" for place in range(8)]).values()
        self.assertEqual(len({(look.colour, look.marker) for look in looks}), 8)
        check_legible(self, self.figure(content))

    def test_long_fronts_are_legible(self):
        content = made_up_run.tuning(members=40)
        for place, member in enumerate(content["front"]):
            member.update(time_s=1e-4 * 1.1**place, nmse=1e-3 / 1.2**place)
        check_legible(self, self.figure(content))

    def test_limits_are_named_and_drawn_if_near(self):
        near = self.figure(made_up_run.tuning(members=3, max_nmse=2e-3, max_time_s=5e-4))
        far = self.figure(made_up_run.tuning(members=3, max_nmse=0.5))
        dotted = [[line for line in figure.axes[0].lines if line.get_linestyle() == ":"] for figure in (near, far)]
        self.assertEqual(len(dotted[0]), 2)
        for figure, words in ((near, "SQNR at least 27.0 dB; at most 500 us"), (far, "SQNR at least 3.0 dB")):
            self.assertTrue(any(words in text for text, _ in drawn_texts(figure)), words)
        self.assertGreater(near.axes[0].get_ylim()[1], 2e-3)
        self.assertLess(far.axes[0].get_ylim()[1], 0.5)

    def test_a_baseline_that_fails_is_left_out(self):
        content = made_up_run.tuning(members=2)
        content["baseline"]["time_s"] = None
        texts = [text for text, _ in drawn_texts(self.figure(content))]
        self.assertFalse(any("baseline" in text for text in texts))

    def test_rejects_other_and_malformed_files(self):
        good = made_up_run.tuning(members=2)
        cases = [({}, "an empty JSON object; this picture needs a result of 'equarx-sim tune CONFIG --json'"),
                 ({"hardware": "tpu-v5e", "topology": {}}, "an experiment configuration; .* 'equarx-sim tune .*json'"),
                 (dict(good, front=[]), "the front has 0 members"), (dict(good, best=7), "'best' is 7"),
                 (dict(good, front=[dict(good["front"][0], nmse=0)]), "must be above 0")]
        for content, words in cases:
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                tuned.read(self.write(content))
        lines = self.folder / "results.jsonl"
        made_up_sweep.write(lines, made_up_sweep.lines())
        with self.assertRaisesRegex(InputError, "is results.jsonl of 'equarx-sim sweep'"):
            tuned.read(lines)

    def test_the_source_line_has_version_and_configuration(self):
        path = self.write(dict(made_up_run.tuning(members=2), version="9.8.7", config_hash="abc"))
        self.run_plot("pareto", path)
        self.assertIn("simulated with equarx-sim 9.8.7, config abc; errors", (self.folder / "pareto.svg").read_text())

    def test_draws_the_file_and_rejects_other_options(self):
        path = self.write(made_up_run.tuning(members=2))
        ran = self.run_plot("pareto", path)
        self.assertEqual(ran.stdout.split(), ["pareto.png", "pareto.svg"], ran.stderr)
        self.check_refused(["--label", "is for"], "pareto", path, "--label", "bf16")
        self.check_refused(["pareto takes one JSON file"], "pareto", path, path)


if __name__ == "__main__":
    unittest.main()
