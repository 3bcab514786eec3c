"""Whether the texts of a picture can be read."""
import unittest
from unittest import mock

from matplotlib.text import Text
from matplotlib.transforms import Bbox

DOTS_OF_OVERLAP = 1.0


def drawn_texts(figure) -> list[tuple[str, Bbox]]:
    """Every text that is really drawn, with where it is."""
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
    """No text may cover another, or be cut off."""
    page = figure.bbox
    texts = drawn_texts(figure)
    for i, (text, box) in enumerate(texts):
        case.assertEqual(Bbox.union([page, box]).extents.tolist(), page.extents.tolist(),
                         f"'{text}' is cut off")
        for other, covered in texts[:i]:
            shared = Bbox.intersection(box, covered)
            if shared is not None and min(shared.width, shared.height) > DOTS_OF_OVERLAP:
                case.fail(f"'{text}' covers '{other}'")
