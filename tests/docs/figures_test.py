"""Verifies that the tile figure has the sizes that the program sends.

Usage: figures_test.py EQUARX_SIM [unittest arguments]
"""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
sys.path[:0] = [str(ROOT / "tests" / "support"), str(PICTURES)]

import tiles

PROGRAM = ""


class Tiles(unittest.TestCase):
    """docs/pictures/tiles.svg"""

    def test_the_committed_figure_is_up_to_date(self):
        made = tiles.figure(pathlib.Path(PROGRAM).resolve())
        self.assertEqual((PICTURES / "tiles.svg").read_text(encoding="utf-8"), made,
                         "make it anew: /usr/bin/python3 docs/pictures/make.py")

    def test_parts_add_up_to_the_whole(self):
        levels = tiles.levels(tiles.sent(pathlib.Path(PROGRAM).resolve()))
        for whole, part in zip(levels, levels[1:]):
            self.assertEqual(part.parts * part.elements, whole.elements, part.name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
