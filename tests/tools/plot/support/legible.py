"""Checks that the texts of a picture are legible."""
import unittest
from unittest import mock

import numpy as np
from matplotlib.text import Text
from matplotlib.transforms import Bbox

DOTS_OF_OVERLAP = 1.0


def drawn_texts(figure) -> list[tuple[str, Bbox]]:
    """Every drawn text, with its box."""
    drawn = {}
    original = Text.draw

    def record(text, renderer, *rest, **named):
        if text.get_visible() and text.get_text().strip():
            drawn[text] = Text.get_window_extent(text, renderer)
        return original(text, renderer, *rest, **named)

    with mock.patch.object(Text, "draw", record):
        figure.canvas.draw()
    return [(text.get_text(), box) for text, box in drawn.items()]


def check_legible(case: unittest.TestCase, figure) -> None:
    """Fails if a text overlaps another or the edge of the page."""
    page = figure.bbox
    texts = drawn_texts(figure)
    for text, box in texts:
        case.assertEqual(Bbox.union([page, box]).extents.tolist(), page.extents.tolist(),
                         f"'{text}' is cut off")
    left, low, right, high = np.array([box.extents for _, box in texts]).T
    width = np.minimum.outer(right, right) - np.maximum.outer(left, left)
    height = np.minimum.outer(high, high) - np.maximum.outer(low, low)
    for one, other in np.argwhere(np.tril(np.minimum(width, height) > DOTS_OF_OVERLAP, -1)):
        case.fail(f"'{texts[one][0]}' covers '{texts[other][0]}'")
