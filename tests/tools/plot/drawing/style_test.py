"""Tests how pictures look."""
import unittest

from drawing import style


class Style(unittest.TestCase):
    def test_names_have_looks_that_differ_without_colours(self):
        names = ["bf16", "full-loop", "semi-loop", *(f"other {number}" for number in range(8))]
        looks = style.looks(names)
        self.assertEqual(len({look.marker for look in looks.values()}), len(names))
        self.assertEqual(style.looks(["other", "bf16"])["bf16"], looks["bf16"])

    def test_letters_in_the_column_of_a_paper_are_small_but_can_be_read(self):
        self.addCleanup(style.use)
        style.use(is_small=True)
        self.assertGreaterEqual(min(style.SMALL, style.NORMAL, style.LARGE), 7)
        self.assertLess(style.inches(1), 1)
        style.use()
        self.assertEqual(style.inches(1), 1)


if __name__ == "__main__":
    unittest.main()
