"""Tests the picture of contracts."""
import unittest

import made_up_run
from legible import check_legible, drawn_texts
from picture_case import DrawnCase

from pictures import contract
from read import contract as contract_file

LONG = "two-shot fp8-e4m3, owner keeps its sum, residual after rounding, as long as default labels"


class ContractPicture(DrawnCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "contract.json"

    def figure(self, *changes: dict, **options):
        made_up_run.write_result(self.path, made_up_run.contract(*changes, **options))
        return contract.draw(contract_file.read(self.path))

    def texts(self, figure) -> list[str]:
        return [text for text, _ in drawn_texts(figure)]

    def test_collectives_have_errors_distances_and_sizes(self):
        figure = self.figure({}, {"label": LONG, "ranks_identical": False, "ranks_differing": 25},
                             {"nmse": 0, "expected_nmse": None}, {"time_s": 1e-3, "nmse": None})
        check_legible(self, figure)
        errors, distances, sizes = figure.axes
        points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in errors.lines if line.get_marker() == "o"]
        self.assertEqual(points[:2], [(1e-5, 1e-5), (2e-5, 1e-5)])
        self.assertLess(points[2][1], 1e-5 / 4)  # at the tick 0
        self.assertEqual(len(points), 3)
        expected = [line.get_ydata()[0] for line in errors.lines if line.get_marker() == "_"]
        self.assertEqual(expected, [1.1e-5, 1.1e-5])
        self.assertEqual([bar.get_width() for bar in distances.patches[:6]], [50, 20, 10, 10, 5, 5])
        self.assertEqual(len(sizes.patches), 3 * 5)
        texts = self.texts(figure)
        self.assertEqual([texts.count(text) for text in ("75 %", "reference", "the fastest at each size")], [5, 5, 1])
        for words in ("AllReduce of 4 MiB of bf16 on each of 8 x h100, switch 8; values from N(0, 1)", "0", "25 % differ",
                      "7 x bf16", "3 to 4 ULP", "does not run at this size", "NMSE, computed", "4 KiB"):
            self.assertIn(words, texts)

    def test_without_other_sizes_there_are_two_panels(self):
        figure = self.figure({}, {"ulps": made_up_run._ulps([10, 0, 0, 0, 0, 0], nonfinite=10)}, sizes=False)
        check_legible(self, figure)
        self.assertEqual(len(figure.axes), 2)
        self.assertEqual([bar.get_width() for bar in figure.axes[1].patches[7:14]], [50, 0, 0, 0, 0, 0, 50])
        texts = self.texts(figure)
        self.assertIn("NaN or Inf", texts)
        self.assertNotIn("does not run at this size", texts)

    def test_exact_results_only(self):
        figure = self.figure({"nmse": 0, "expected_nmse": None}, sizes=False)
        check_legible(self, figure)
        self.assertNotIn("expected, for independent normal values", self.texts(figure))

    def test_the_command_names_version_and_configuration(self):
        made_up_run.write_result(self.path, made_up_run.contract({}, {}))
        ran = self.run_plot("contract", "contract.json", "--format", "svg")
        self.assertEqual((ran.stdout, ran.stderr), ("contract.svg\n", ""))
        self.assertIn("simulated with equarx-sim 9.8.7, config abc", (self.folder / "contract.svg").read_text())

    def test_rejects_other_and_malformed_results(self):
        made_up_run.write_result(self.path, made_up_run.advice())
        self.check_refused(["contract needs a contract of", "kinds for this file: speedup, advice"], "contract",
                           "contract.json")
        made_up_run.write_result(self.path, made_up_run.contract())
        self.check_refused(["contract.json: no collective"], "contract", "contract.json")
        content = made_up_run.contract({})
        del content["collectives"][0]["ulps"]
        made_up_run.write_result(self.path, content)
        self.check_refused(["malformed", "no key 'ulps'"], "contract", "contract.json")


if __name__ == "__main__":
    unittest.main()
