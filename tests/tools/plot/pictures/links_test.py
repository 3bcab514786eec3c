"""Tests the picture of links."""
import unittest

from matplotlib.colors import to_rgb
from matplotlib.patches import Polygon

import made_up_run
from legible import check_legible, drawn_texts
from picture_case import PictureCase

from drawing import sheet, style
from pictures import links
from read import result


class Links(PictureCase):
    def setUp(self):
        super().setUp()
        style.use()

    def figure(self, content: dict, label: str = ""):
        path = self.folder / "result.json"
        made_up_run.write_result(path, content)
        return links.draw(result.read(path, label))

    def panels(self, figure) -> list:
        """The panels, without the colour bar."""
        return figure.axes[:-1]

    def bars(self, axes) -> list[Polygon]:
        """The bars, without their lanes."""
        return [patch for patch in axes.patches if isinstance(patch, Polygon) and patch.get_linewidth() == 0]

    def lanes(self, axes) -> list[Polygon]:
        return [patch for patch in axes.patches if isinstance(patch, Polygon) and patch.get_linewidth() > 0]

    @staticmethod
    def width(bar: Polygon) -> float:
        """Distance between the corners at the start."""
        points = bar.get_xy()
        return ((points[0] - points[-2]) ** 2).sum() ** 0.5

    @staticmethod
    def tip(bar: Polygon) -> tuple[float, float]:
        return tuple(bar.get_xy()[2])

    def test_directions_of_links_do_not_overlap(self):
        [axes] = self.panels(self.figure(made_up_run.result([3, 4])))
        bars = self.bars(axes)
        self.assertEqual(len(bars), 2 * (3 * 3 + 2 * 4))
        self.assertEqual(len(self.lanes(axes)), len(bars))
        boxes = [bar.get_path().get_extents() for bar in self.lanes(axes)]
        for i, box in enumerate(boxes):
            for other in boxes[:i]:
                self.assertFalse(box.overlaps(other), (box, other))

    def test_lanes_are_on_the_right_hand_side(self):
        # From (0,0) to (0,1), to the right in the picture, whose vertical axis points down.
        [axes] = self.panels(self.figure(made_up_run.result([1, 2], busy=lambda start, end: float(start < end))))
        [bar] = self.bars(axes)
        x, y = self.tip(bar)
        self.assertGreater(x, 0.5)
        self.assertGreater(y, 0.0)
        self.assertGreater(axes.get_ylim()[0], axes.get_ylim()[1])

    def test_width_and_darkness_grow_with_use(self):
        shares = {(0,): 0.2, (1,): 0.5, (2,): 1.0}
        [axes] = self.panels(self.figure(made_up_run.result([4], busy=lambda start, end: shares[min(start, end)])))
        bars = sorted(self.bars(axes), key=self.width)
        self.assertEqual(len(bars), 6)
        for bar, share in zip(bars[::2], sorted(shares.values())):
            self.assertAlmostEqual(self.width(bar), share * links.LANE_WIDTH)
        light = [sum(to_rgb(bar.get_facecolor())) for bar in bars]
        self.assertEqual(light, sorted(light, reverse=True))
        self.assertLess(light[-1], light[0] / 4)

    def test_the_heat_is_monotonic_in_grey(self):
        grey = [0.299 * red + 0.587 * green + 0.114 * blue for red, green, blue, _ in links.HEAT(range(256))]
        self.assertEqual(grey, sorted(grey, reverse=True))

    def test_idle_links_are_empty_lanes(self):
        [axes] = self.panels(self.figure(made_up_run.result([2, 2], busy=lambda start, end: 0.0)))
        self.assertEqual((len(self.bars(axes)), len(self.lanes(axes))), (0, 8))

    def test_the_last_axis_is_horizontal(self):
        [axes] = self.panels(self.figure(made_up_run.result([2, 5])))
        width, height = (abs(high - low) for low, high in (axes.get_xlim(), axes.get_ylim()))
        self.assertGreater(width, height)

    def test_wraparound_is_a_stub_at_each_end(self):
        [axes] = self.panels(self.figure(made_up_run.result([4], wraparound=True)))
        tips = sorted(self.tip(bar)[0] for bar in self.bars(axes))
        self.assertEqual(len(tips), 6 + 4)
        self.assertLess(tips[0], 0)
        self.assertGreater(tips[-1], 3)

    def test_a_third_axis_has_layers_and_diagonal_stubs(self):
        figure = self.figure(made_up_run.result([3, 2, 2]))
        panels = self.panels(figure)
        self.assertEqual([axes.get_title(loc="left")[:7] for axes in panels], ["layer 0", "layer 1", "layer 2"])
        # 4 links within a layer; 4 to each neighbouring layer; two directions.
        self.assertEqual([len(self.bars(axes)) for axes in panels], [2 * 8, 2 * 12, 2 * 8])

    def test_axes_of_one_chip_do_not_count(self):
        [axes] = self.panels(self.figure(made_up_run.result([1, 2, 2])))
        self.assertEqual(len(self.bars(axes)), 8)

    def test_faults_are_marked_on_their_link(self):
        content = made_up_run.result([2, 2])
        content["config"]["faults"] = {"links": [{"between": ["(0,1)", "(0,0)"], "bandwidth_factor": 0.25}]}
        figure = self.figure(content)
        [axes] = self.panels(figure)
        self.assertEqual([(*line.get_xdata(), *line.get_ydata()) for line in axes.lines], [(0.5, 0.0)])
        self.assertIn("fault", [text for text, _ in drawn_texts(figure)])

    def test_the_caption_has_the_run(self):
        content = made_up_run.result([2, 2], busy=lambda start, end: 0.75 if start == (1, 0) else 0.25)
        texts = "\n".join(text for text, _ in drawn_texts(self.figure(content)))
        for words in ("bf16", "AllReduce of 4 MiB of bf16 on 4 x tpu-v5e, mesh 2x2; time 100 us",
                      "8 link directions", "(1,0)->(0,0) 75%", "median 25%", "% of the time", sheet.SIMULATED):
            self.assertIn(words, texts)
        content["runs"][0].update(time_s=None, failure={"time_s": 2e-6})
        texts = "\n".join(text for text, _ in drawn_texts(self.figure(content)))
        self.assertIn("fails at 2 us", texts)

    def test_texts_are_legible(self):
        for lengths, wraparound in (([2], False), ([8], True), ([4, 4], False), ([16, 16], True), ([4, 4, 4], True)):
            with self.subTest(lengths):
                content = made_up_run.result(lengths, wraparound, labels=["a collective with quite a long label"])
                content["config"]["faults"] = {"links": [{"between": [content["runs"][0]["links"][0][end]
                                                                      for end in ("from", "to")]}]}
                check_legible(self, self.figure(content))


if __name__ == "__main__":
    unittest.main()
