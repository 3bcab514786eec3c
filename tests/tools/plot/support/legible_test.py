"""Tests that the check for legibility can fail."""
import unittest

import made_up_study
from legible import check_legible
from picture_case import PictureCase


class Legible(PictureCase):
    def test_this_check_can_fail(self):
        figure = self.figure("paper", made_up_study.paper_rows())
        figure.text(0.02, 0.95, "on top of the title")
        with self.assertRaises(self.failureException):
            check_legible(self, figure)


if __name__ == "__main__":
    unittest.main()
