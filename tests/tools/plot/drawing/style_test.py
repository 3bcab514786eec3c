"""Tests the style of pictures."""
import unittest

from drawing import style


class Style(unittest.TestCase):
    def test_looks_are_distinguishable_without_colours(self):
        names = ["bf16", "full-loop", "semi-loop", *(f"other {number}" for number in range(8))]
        looks = style.looks(names)
        self.assertEqual(len({look.marker for look in looks.values()}), len(names))
        self.assertEqual(style.looks(["other", "bf16"])["bf16"], looks["bf16"])

    def test_fonts_for_columns_of_papers_are_small_but_legible(self):
        self.addCleanup(style.use)
        style.use(is_small=True)
        self.assertGreaterEqual(min(style.SMALL, style.NORMAL, style.LARGE), 7)
        self.assertLess(style.inches(1), 1)
        style.use()
        self.assertEqual(style.inches(1), 1)


if __name__ == "__main__":
    unittest.main()
