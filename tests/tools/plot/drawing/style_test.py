"""Tests what all pictures share."""
import unittest

from legible import drawn_texts

from drawing import style


class Style(unittest.TestCase):
    def setUp(self):
        style.use()
        self.addCleanup(style.set_origin, "")

    def test_names_have_looks_that_differ_without_colours(self):
        names = ["bf16", "full-loop", "semi-loop", *(f"other {number}" for number in range(8))]
        looks = style.looks(names)
        self.assertEqual(len({look.marker for look in looks.values()}), len(names))
        self.assertEqual(style.looks(["other", "bf16"])["bf16"], looks["bf16"])

    def test_panels_are_in_rows_as_equal_as_can_be(self):
        self.assertEqual([style.across(panels) for panels in (1, 4, 5, 7, 9)], [1, 4, 3, 4, 3])
        figure, panels = style.frame(11, 3, style.Margins(), 5)
        self.assertEqual((len(figure.axes), len(panels)), (5, 5))

    def test_the_source_line_names_the_origin(self):
        style.set_origin("9.8.7")
        figure = style.page(6, 4)
        style.caption(figure, "title", "subtitle", style.source("paper: someone"))
        self.assertIn(f"{style.SIMULATED} 9.8.7; paper: someone", [text for text, _ in drawn_texts(figure)])


if __name__ == "__main__":
    unittest.main()
