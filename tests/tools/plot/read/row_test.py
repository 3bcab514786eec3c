"""Tests rejected cells of rows."""
import unittest

from picture_case import PictureCase


class Row(PictureCase):
    def test_rejects_invalid_numbers(self):
        for value in ("fast", "nan", "inf", "-1", ""):
            with self.subTest(value=value):
                self.points((2, "speedup", value))
                self.check_refused(["results.jsonl, line 3", "'speedup'"], "error", "results.jsonl")


if __name__ == "__main__":
    unittest.main()
