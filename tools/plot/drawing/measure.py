"""How much room texts take, and how they are broken to fit."""
import functools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from drawing import style

# Fine enough that rounding to dots does not count.
DOTS_PER_INCH = 288
POINTS_PER_INCH = 72
LINE_SPACING = 1.25
CUT = "…"


@functools.cache
def _renderer():
    return FigureCanvasAgg(Figure(dpi=DOTS_PER_INCH)).get_renderer()


@functools.lru_cache(maxsize=4096)
def width(text: str, size: float, bold: bool = False) -> float:
    """Of one line, in inches; size in points."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return _renderer().get_text_width_height_descent(text, font, False)[0] / DOTS_PER_INCH


def widest(texts, size: float | None = None) -> float:
    """Of lines of their own, in inches, in the usual size if none is given."""
    return max((width(text, size or style.NORMAL) for text in texts), default=0.0)


def line_height(size: float) -> float:
    """In inches, from one line to the next."""
    return LINE_SPACING * size / POINTS_PER_INCH


def wrapped(text: str, inches: float, size: float, bold: bool = False) -> list[str]:
    """The lines of a text that is to be that wide; words that are too long by themselves are cut in their middle."""
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
    """Both ends of a name say more than its middle."""
    if width(word, size, bold) <= inches:
        return word
    for kept in range(len(word) - 1, 1, -1):
        shorter = word[:(kept + 1) // 2] + CUT + word[-(kept // 2):]
        if width(shorter, size, bold) <= inches:
            return shorter
    return CUT
