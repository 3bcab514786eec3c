"""What all pictures share: colours that survive black and white, margins, title, source line."""
import dataclasses
import math
import pathlib

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

SIMULATED = "simulated with equarx-sim"
PNG_DPI = 160
INK, GREY, PALE = "#222222", "#666666", "#e4e4e4"
# Okabe and Ito's palette, which colour-blind readers can tell apart.
BLUE, VERMILION, GREEN, ORANGE, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7"
SKY = "#56B4E9"

SMALL, NORMAL, LARGE = 8.0, 9.5, 13.0
# In inches.
EDGE = 0.2
TITLE_DROP, SUBTITLE_DROP, LEGEND_DROP = 0.2, 0.5, 0.8
LEGEND_PITCH = 0.22
LINE_RISE = 0.15
PANEL_GAP, ROW_GAP = 0.5, 1.0
MOST_ACROSS = 4


@dataclasses.dataclass(frozen=True)
class Look:
    """Colour, marker and line that together tell one series from the others."""

    colour: str
    marker: str
    line: object


KNOWN_LOOKS = {
    "bf16": Look(INK, "o", "-"),
    "full-loop": Look(BLUE, "s", "--"),
    "semi-loop": Look(VERMILION, "^", "-."),
    "plain ring": Look(INK, "D", "-"),
}
OTHER_LOOKS = [
    Look(GREEN, "<", (0, (6, 2))),
    Look(PURPLE, "v", (0, (3, 1, 1, 1))),
    Look(ORANGE, "P", (0, (1, 1))),
    Look(GREY, "X", (0, (6, 1, 1, 1, 1, 1))),
    Look(SKY, ">", (0, (4, 1))),
    Look(BLUE, "h", (0, (2, 2))),
    Look(VERMILION, "d", (0, (8, 2, 2, 2))),
    Look(INK, "p", (0, (5, 5))),
]


def looks(names: list[str]) -> dict[str, Look]:
    """A look for each name; the known names look the same in all pictures."""
    others = [name for name in names if name not in KNOWN_LOOKS]
    spare = {name: OTHER_LOOKS[i % len(OTHER_LOOKS)] for i, name in enumerate(others)}
    return {name: KNOWN_LOOKS.get(name) or spare[name] for name in names}


_origin = ""


def set_origin(text: str) -> None:
    """What pictures say about the program that made their numbers: its version and configurations."""
    global _origin
    _origin = text


_trust = ""


def set_trust(text: str) -> None:
    """What the next pictures say about how far their times can be trusted; nothing if it is empty."""
    global _trust
    _trust = text


def use() -> None:
    """Sets matplotlib's defaults for all pictures."""
    matplotlib.rcParams.update({
        "font.family": "DejaVu Sans",
        "font.size": NORMAL,
        "axes.titlesize": NORMAL,
        "axes.labelcolor": INK,
        "axes.edgecolor": GREY,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": PALE,
        "grid.linewidth": 0.8,
        "text.color": INK,
        "lines.linewidth": 1.6,
        "lines.markersize": 4.5,
        "hatch.linewidth": 0.7,
        "legend.frameon": False,
        "legend.handlelength": 3.2,
        # The same input gives the same file.
        "svg.hashsalt": "equarx-sim",
    })


@dataclasses.dataclass(frozen=True)
class Margins:
    """Around the panels, in inches."""

    left: float = 0.85
    right: float = 0.3
    head: float = 1.15
    foot: float = 0.85


def page(width: float, height: float) -> Figure:
    """An empty figure of that size in inches."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)  # Labels are measured before the figure is written.
    return figure


def across(panels: int, most: int = MOST_ACROSS) -> int:
    """How many of these panels are side by side, with rows as equal as can be."""
    return math.ceil(panels / math.ceil(panels / most))


def frame(width: float, panel_height: float, margins: Margins,
          panels: int = 1, most_across: int = MOST_ACROSS) -> tuple[Figure, list[Axes]]:
    """A figure with panels that share their vertical axis, side by side in rows of no more than most_across; sizes
    in inches."""
    columns = across(panels, most_across)
    rows = math.ceil(panels / columns)
    height = margins.head + panel_height * rows + ROW_GAP * (rows - 1) + margins.foot
    figure = page(width, height)
    panel_width = (width - margins.left - margins.right - PANEL_GAP * (columns - 1)) / columns
    axes = figure.subplots(rows, columns, sharey=True, squeeze=False, gridspec_kw={
        "left": margins.left / width, "right": 1 - margins.right / width,
        "bottom": margins.foot / height, "top": 1 - margins.head / height,
        "wspace": PANEL_GAP / panel_width, "hspace": ROW_GAP / panel_height})
    for unused in axes.flat[panels:]:
        unused.remove()
    return figure, list(axes.flat[:panels])


def caption(figure: Figure, title: str, subtitle: str, source: str = SIMULATED) -> None:
    """Title and subtitle above the panels; below them how far times can be trusted, and the source line."""
    if _origin:
        source = source.replace(SIMULATED, f"{SIMULATED} {_origin}", 1)
    width, height = figure.get_size_inches()
    left = EDGE / width
    figure.text(left, 1 - TITLE_DROP / height, title, size=LARGE, weight="bold", va="top")
    figure.text(left, 1 - SUBTITLE_DROP / height, subtitle, color=GREY, va="top")
    figure.text(left, EDGE / 2 / height, source, size=SMALL, color=GREY, va="bottom")
    if _trust:
        figure.text(left, (EDGE / 2 + LINE_RISE) / height, _trust, size=SMALL, color=INK, style="italic", va="bottom")


def source(citation: str = "", more: str = "") -> str:
    """The source line; others than this program are cited where something of theirs is drawn."""
    return "; ".join(filter(None, [SIMULATED, more, citation]))


def legend(figure: Figure, rows: list[list]) -> None:
    """One legend for all panels, between subtitle and panels, where no data can be: rows of handles."""
    width, height = figure.get_size_inches()
    for place, handles in enumerate(rows):
        drop = LEGEND_DROP + place * LEGEND_PITCH
        figure.legend(handles=handles, ncol=len(handles), loc="upper left", borderaxespad=0, borderpad=0,
                      bbox_to_anchor=(EDGE / width, 1 - drop / height), columnspacing=1.6)


def save(figure: Figure, directory: pathlib.Path, name: str) -> list[pathlib.Path]:
    """Writes name.png and name.svg, and returns their paths."""
    png, svg = directory / f"{name}.png", directory / f"{name}.svg"
    figure.savefig(png, dpi=PNG_DPI)
    figure.savefig(svg, metadata={"Date": None})
    return [png, svg]
