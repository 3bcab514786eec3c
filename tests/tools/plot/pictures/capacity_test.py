"""Tests the picture of capacity plans."""
import unittest

import made_up_run
from legible import check_legible, drawn_texts
from picture_case import DrawnCase

from pictures import capacity
from read import capacity as plan_file


class CapacityPicture(DrawnCase):
    def figure(self, content: dict):
        made_up_run.write_result(self.folder / "plan.json", content)
        return capacity.draw(plan_file.read(self.folder / "plan.json"))

    def test_candidates_and_steady_states(self):
        figure = self.figure(made_up_run.plan())
        check_legible(self, figure)
        [axes] = figure.axes
        lines = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
        self.assertIn(([35, 30], [100, 200]), lines)  # of four chips
        self.assertIn(([35, 30], [50, 100]), lines)
        self.assertIn(([25], [200]), lines)  # a steady state
        texts = [text for text, _ in drawn_texts(figure)]
        for words in ("1  4 x h100: fp8, KV bf16, sums int8, $2.5 per million tokens",
                      "2  1 x tpu-v4: fp8, KV bf16", "output tokens/s per user", "limit of TPOT"):
            self.assertIn(words, texts)

    def test_the_command_draws_it(self):
        made_up_run.write_result(self.folder / "plan.json", made_up_run.plan())
        ran = self.run_plot("plan", "plan.json", "--format", "svg")
        self.assertEqual((ran.stdout, ran.stderr), ("plan.svg\n", ""))

    def test_nothing_within_the_limits_is_refused(self):
        content = made_up_run.plan() | {"ranked": []}
        made_up_run.write_result(self.folder / "plan.json", content)
        self.check_refused(["plan.json", "nothing meets the limits"], "plan", "plan.json")


if __name__ == "__main__":
    unittest.main()
