"""Tests what is in the picture of a tuning."""
import unittest

import made_up_run
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

    def test_every_member_of_the_front_has_its_place_and_its_row(self):
        figure = self.figure(made_up_run.tuning(members=4))
        check_legible(self, figure)
        texts = [text for text, _ in drawn_texts(figure)]
        for number in "1234":
            self.assertEqual(texts.count(number), 2, number)  # beside its point, and in the list
        for time in ("100.0 us", "200.0 us", "400.0 us", "800.0 us"):
            self.assertIn(time, texts)
        places = [(line.get_xdata()[0], line.get_ydata()[0]) for line in figure.axes[0].lines
                  if len(line.get_xdata()) == 1]
        for member in made_up_run.tuning(members=4)["front"]:
            self.assertIn((member["time_s"], member["nmse"]), places)

    def test_schemes_are_told_apart(self):
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

    def test_limits_are_said_and_drawn_where_they_are_near(self):
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

    def test_files_that_are_no_tuning_are_refused(self):
        good = made_up_run.tuning(members=2)
        cases = [({}, "not a result of 'equarx-sim tune CONFIG --json'"),
                 ({"hardware": "tpu-v5e", "collectives": []}, "a configuration, as 'equarx-sim tune -o' writes"),
                 (dict(good, front=[]), "the front has 0 members"), (dict(good, best=7), "'best' is 7"),
                 (dict(good, front=[dict(good["front"][0], nmse=0)]), "must be above 0")]
        for content, words in cases:
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                tuned.read(self.write(content))
        lines = self.folder / "results.jsonl"
        lines.write_text('{"run": 1}\n{"run": 2}\n')
        with self.assertRaisesRegex(InputError, "an object in each line, like the results of a sweep"):
            tuned.read(lines)

    def test_it_says_which_version_and_configuration(self):
        path = self.write(dict(made_up_run.tuning(members=2), version="9.8.7", config_hash="abc"))
        self.run_plot("pareto", path)
        self.assertIn("simulated with equarx-sim 9.8.7, config abc; errors", (self.folder / "pareto.svg").read_text())

    def test_the_command_draws_it_and_refuses_what_is_for_others(self):
        path = self.write(made_up_run.tuning(members=2))
        ran = self.run_plot("pareto", path)
        self.assertEqual(ran.stdout.split(), ["pareto.png", "pareto.svg"], ran.stderr)
        self.check_refused(["--label", "is for"], "pareto", path, "--label", "bf16")
        self.check_refused(["pareto takes one JSON file"], "pareto", path, path)


if __name__ == "__main__":
    unittest.main()
