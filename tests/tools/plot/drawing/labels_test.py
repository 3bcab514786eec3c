"""Tests the placement of labels."""
import unittest

from legible import check_legible, drawn_texts

from drawing import labels, sheet, style


class Labels(unittest.TestCase):
    def placed(self, points: list[tuple[float, float]]):
        """A figure with a label for each point."""
        style.use()
        figure, [axes] = sheet.frame(8, 5, sheet.Margins())
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        labels.place(axes, [labels.Label(x, y, f"label {place}") for place, (x, y) in enumerate(points)], [])
        return figure

    def test_labels_of_identical_points_do_not_overlap(self):
        check_legible(self, self.placed([(0.5, 0.5)] * 6))

    def test_labels_are_right_of_points_except_at_the_edge(self):
        figure = self.placed([(0.5, 0.5), (0.99, 0.2)])
        [axes] = figure.axes
        boxes = dict(drawn_texts(figure))
        self.assertGreater(boxes["label 0"].x0, axes.transData.transform((0.5, 0.5))[0])
        self.assertLess(boxes["label 1"].x1, axes.transData.transform((0.99, 0.2))[0])


if __name__ == "__main__":
    unittest.main()
