"""Widths of texts, and line breaking."""
import functools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from drawing import style

# High enough for rounding to dots to be negligible.
DOTS_PER_INCH = 288
POINTS_PER_INCH = 72
LINE_SPACING = 1.25
CUT = "…"


@functools.cache
def _renderer():
    return FigureCanvasAgg(Figure(dpi=DOTS_PER_INCH)).get_renderer()


@functools.lru_cache(maxsize=4096)
def width(text: str, size: float, bold: bool = False) -> float:
    """Width of one line in inches; size in points."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return _renderer().get_text_width_height_descent(text, font, False)[0] / DOTS_PER_INCH


def widest(texts, size: float | None = None) -> float:
    """Width of the widest line in inches; default: the usual font size."""
    return max((width(text, size or style.NORMAL) for text in texts), default=0.0)


def line_height(size: float) -> float:
    """Distance between lines, in inches."""
    return LINE_SPACING * size / POINTS_PER_INCH


def wrapped(text: str, inches: float, size: float, bold: bool = False) -> list[str]:
    """Breaks a text into lines of at most that width; shortens longer words in the middle."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}".strip()
            if line and width(longer, size, bold) > inches:
                lines.append(line)
                longer = word
            line = longer if longer != word else _cut(word, inches, size, bold)
        lines.append(line)
    return lines


def _cut(word: str, inches: float, size: float, bold: bool) -> str:
    """The word with its middle replaced by CUT, if it is too long."""
    if width(word, size, bold) <= inches:
        return word
    for kept in range(len(word) - 1, 1, -1):
        shorter = word[:(kept + 1) // 2] + CUT + word[-(kept // 2):]
        if width(shorter, size, bold) <= inches:
            return shorter
    return CUT
