"""Tests the picture of sensitivities."""
import unittest

import made_up_run
from legible import check_legible, drawn_texts
from picture_case import PictureCase

from drawing import sheet, style
from pictures import sensitivity
from read import sensitivities
from read.errors import InputError


class Sensitivity(PictureCase):
    def setUp(self):
        super().setUp()
        style.use()

    def figure(self, content: dict, label: str = ""):
        path = self.folder / "result.json"
        made_up_run.write_result(path, content)
        return sensitivity.draw(sensitivities.read(path, label))

    def texts(self, figure) -> list[str]:
        return [text for text, _ in drawn_texts(figure)]

    def column(self, figure, head: str) -> list[str]:
        """The texts below the head of a column, from the top."""
        boxes = dict(drawn_texts(figure))
        found = [(-box.y0, text) for text, box in drawn_texts(figure)
                 if abs(box.x1 - boxes[head].x1) < 2 and box.y1 < boxes[head].y0]
        return [text for _, text in sorted(found)]

    def test_bars_are_sorted_elasticities(self):
        content = made_up_run.sensitivities()
        content["sensitivity"].reverse()
        [axes] = self.figure(content).axes
        bars = sorted(axes.patches, key=lambda bar: -axes.transData.transform(bar.get_xy())[1])
        # Bars of negative width lie to the left.
        self.assertEqual([round(bar.get_width(), 6) for bar in bars], [-0.9, -0.45, 0.3, 0.15, 0.001, 0.0005])
        self.assertEqual({bar.get_x() for bar in bars}, {0.0})
        self.assertEqual([text.get_text() for text in axes.get_yticklabels()],
                         ["link_bandwidth", "barrier_time", "hop_latency"])
        self.assertGreater(axes.get_ylim()[0], axes.get_ylim()[1])
        for place, bar in enumerate(bars):
            self.assertEqual(round(bar.get_y() + bar.get_height() / 2), place // 2)

    def test_hatches_are_distinguishable_and_match_the_legend(self):
        labels = [f"collective {place}" for place in range(len(sensitivity.LOOKS))]
        figure = self.figure(made_up_run.sensitivities(labels))
        hatches = [bar.get_hatch() for bar in figure.axes[0].patches[:len(labels)]]
        self.assertEqual(len(set(hatches)), len(labels))
        in_legends = {text.get_text(): patch.get_hatch() for legend in figure.legends
                      for text, patch in zip(legend.get_texts(), legend.get_patches())}
        self.assertEqual(in_legends, dict(zip(labels, hatches)))

    def test_rejects_too_many_collectives(self):
        labels = [f"collective {place}" for place in range(len(sensitivity.LOOKS) + 1)]
        with self.assertRaisesRegex(InputError, "9 collectives.* --label"):
            self.figure(made_up_run.sensitivities(labels))
        self.assertEqual(len(self.figure(made_up_run.sensitivities(labels), labels[0]).axes[0].patches), 3)

    def test_columns_have_the_values_of_parameters(self):
        figure = self.figure(made_up_run.sensitivities())
        self.assertEqual(self.column(figure, "value"), ["45 GB/s", "380 ns", "360 ns"])
        self.assertEqual(self.column(figure, "class"), ["datasheet", "assumed", "calibrated"])
        self.assertEqual(self.column(figure, "uncertain by"), ["-", "50 %", "2 %"])
        self.assertEqual(self.column(figure, "elasticity"),
                         ["-0.900", "-0.450", "+0.300", "+0.150", "+0.001", "+0.001"])
        # 0.3 x 50 %; 0.15 x 50 %; 0.001 x 2 %
        self.assertEqual(self.column(figure, "contribution"), ["-", "-", "15.00 %", "7.50 %", "0.00 %", "0.00 %"])

    def test_large_uncertainties_have_no_exponent(self):
        content = made_up_run.sensitivities()
        content["sensitivity"][1]["relative_uncertainty"] = 12.341
        self.assertEqual(self.column(self.figure(content), "uncertain by"), ["-", "1230 %", "2 %"])

    def test_one_collective_has_its_own_order_and_count(self):
        content = made_up_run.sensitivities()
        content["sensitivity"][1]["runs"][1]["time"] = 0.8
        figure = self.figure(content, "int8")
        [axes] = figure.axes
        self.assertEqual([round(bar.get_width(), 6) for bar in axes.patches], [0.8, -0.45])
        texts = self.texts(figure)
        self.assertTrue(any("left out: 3 parameters with elasticities below 0.001" in text for text in texts))
        self.assertNotIn("bf16", texts)

    def test_the_caption_has_the_run_and_omitted_parameters(self):
        texts = "\n".join(self.texts(self.figure(made_up_run.sensitivities())))
        for words in ("AllReduce of 4 MiB of bf16 on 8 x tpu-v5e, mesh 4x2; left out: 2 parameters with",
                      "without elasticity at 0: collective_startup", "contribution: |elasticity|", sheet.SIMULATED):
            self.assertIn(words, texts)

    def test_no_note_if_nothing_is_left_out(self):
        content = made_up_run.sensitivities()
        del content["sensitivity"][3:], content["parameters"]["collective_startup"]
        texts = "\n".join(self.texts(self.figure(content)))
        self.assertNotIn("left out", texts)
        self.assertNotIn("without elasticity", texts)

    def test_uncertain_parameters_at_zero_are_counted(self):
        content = made_up_run.sensitivities()
        content["parameters"]["dma_overhead"] = {"value": "0 s", "class": "measured", "standard_error": "1 ns"}
        self.assertIn("without elasticity at 0: 2 parameters", "\n".join(self.texts(self.figure(content))))

    def test_rejects_results_without_sensitive_parameters(self):
        content = made_up_run.sensitivities()
        del content["sensitivity"][:3]
        with self.assertRaisesRegex(InputError, "nothing to draw.*below 0.001"):
            self.figure(content)

    def test_texts_are_legible(self):
        for labels in (["bf16"], ["bf16", "int8", "a collective with quite a long label"],
                       [f"a collective of rather many, {place}" for place in range(len(sensitivity.LOOKS))]):
            with self.subTest(labels):
                check_legible(self, self.figure(made_up_run.sensitivities(labels)))


if __name__ == "__main__":
    unittest.main()
