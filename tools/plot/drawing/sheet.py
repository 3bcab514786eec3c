"""The sheet that a picture is drawn on: panels, and around them title, subtitle, legend and source.

Panels are laid out first, with the room that their own labels need. caption() then makes the sheet as much higher as
the texts around them need, so that nobody has to know beforehand in how many lines these are broken.
"""
import dataclasses
import math
import os
import pathlib

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from drawing import measure, style

SIMULATED = "simulated with equarx-sim"
# In inches.
EDGE = 0.2
TITLE_GAP, SUBTITLE_GAP, LEGEND_GAP, SOURCE_GAP = 0.09, 0.1, 0.12, 0.1
LEGEND_PITCH = 0.22
PANEL_GAP, ROW_GAP = 0.5, 0.95
TITLE_LIFT = 0.08
MOST_ACROSS = 4
LEAST_PANEL = 1.25
# Panels that need not be as high as they are on a wide sheet are so much higher than wide.
LEAST_HEIGHT, HEIGHT_BY_WIDTH = 1.7, 0.8
# Of a legend's entry, in letters of its size.
HANDLE, COLUMN_SPACING = style.LEGEND_HANDLE + 0.8, 1.6
PNG_DPI, PRINT_DPI = 160, 300
INCH_MM = 25.4
FORMATS = ("png", "svg", "pdf")
DEFAULT_FORMATS = ("png", "svg")


class TooNarrow(Exception):
    """The width that was wished for has no room for a picture; the message says how much it needs."""


@dataclasses.dataclass(frozen=True)
class Wishes:
    """What the user wants of the sheet."""

    title: str | None = None
    """Instead of the picture's own; empty for none."""
    width: float | None = None
    """In inches."""


@dataclasses.dataclass(frozen=True)
class About:
    """What is to be said on a sheet besides what the picture says itself; nothing where it is empty."""

    origin: str = ""
    """The program's version, and the configurations."""
    trust: str = ""
    """How far times can be trusted."""
    held: str = ""
    """Where axes of a sweep are held."""


_wishes, _about = Wishes(), About()


def wish(wishes: Wishes) -> None:
    """How the next sheets are to be."""
    global _wishes
    _wishes = wishes
    style.use(is_small=wishes.width is not None)


def say(**about: str) -> None:
    """What is to be said on the next sheets (About); the rest stays as it is."""
    global _about
    _about = dataclasses.replace(_about, **about)


@dataclasses.dataclass(frozen=True)
class Margins:
    """Room around the panels for their own labels, in inches."""

    left: float = 0.85
    right: float = 0.3
    head: float = 0.06
    foot: float = 0.52


def page(width: float, height: float) -> Figure:
    """An empty figure of that size in inches."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)  # Labels are measured before the figure is written.
    return figure


def width_for(natural: float) -> float:
    """How wide a sheet is that would be that wide by itself; in inches."""
    return _wishes.width or natural


def is_wished() -> bool:
    """Whether sheets have a width that they would not have by themselves."""
    return _wishes.width is not None


def check_room(room: float, least: float) -> None:
    """Refuses a sheet that leaves so much room, in inches, for what needs more."""
    if _wishes.width and room < least:
        needed = math.ceil((_wishes.width + least - room) * INCH_MM)
        raise TooNarrow(f"this picture needs a width of {needed} mm at least; {_wishes.width * INCH_MM:.0f} mm is too "
                        "narrow for what is written beside it")


def across(panels: int, most: int = MOST_ACROSS) -> int:
    """How many of these panels are side by side, with rows as equal as can be."""
    return math.ceil(panels / math.ceil(panels / most))


def frame(width: float, panel_height: float, margins: Margins, titles: list[str] | None = None,
          most_across: int = MOST_ACROSS, is_free: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each title, or one without, side by side in rows of no more than most_across.

    They share their vertical axis. Sizes in inches. Where the width is given, the height of free panels follows it.
    """
    panels, sheet = len(titles or [""]), width_for(width)
    inside = sheet - margins.left - margins.right
    check_room(inside, LEAST_PANEL)
    columns = across(panels, min(most_across, max(1, int((inside + PANEL_GAP) / (LEAST_PANEL + PANEL_GAP)))))
    rows = math.ceil(panels / columns)
    panel = (inside - PANEL_GAP * (columns - 1)) / columns
    if is_free and _wishes.width:
        panel_height = min(panel_height, max(LEAST_HEIGHT, HEIGHT_BY_WIDTH * panel))
    heads = [measure.wrapped(title, panel, style.NORMAL, bold=True) for title in titles or []]
    head = max(map(len, heads), default=0) * measure.line_height(style.NORMAL) + (TITLE_LIFT if heads else 0)
    gap = ROW_GAP - measure.line_height(style.NORMAL) + head if heads else ROW_GAP
    height = margins.head + head + panel_height * rows + gap * (rows - 1) + margins.foot
    figure = page(sheet, height)
    axes = figure.subplots(rows, columns, sharey=True, squeeze=False, gridspec_kw={
        "left": margins.left / sheet, "right": 1 - margins.right / sheet,
        "bottom": margins.foot / height, "top": 1 - (margins.head + head) / height,
        "wspace": PANEL_GAP / panel, "hspace": gap / panel_height})
    for unused in axes.flat[panels:]:
        unused.remove()
    for one, lines in zip(axes.flat, heads):
        one.set_title("\n".join(lines), loc="left", weight="bold")
    return figure, list(axes.flat[:panels])


def label_rows(panels: list[Axes], text: str) -> None:
    """Labels the vertical axis of the first panel of each row."""
    for one in panels:
        if one.get_subplotspec().is_first_col():
            one.set_ylabel(text)


def source(citation: str = "", more: str = "") -> str:
    """The source line; others than this program are cited where something of theirs is drawn."""
    return "; ".join(filter(None, [SIMULATED, more, citation]))


def caption(figure: Figure, title: str, subtitle: str, legend: list[list] = (), source: str = SIMULATED) -> None:
    """Title, subtitle and legend above what is drawn; below it how far times can be trusted, and the source.

    The legend is rows of handles, which are broken where they are too long. The sheet grows by what all this needs.
    """
    room = figure.get_size_inches()[0] - 2 * EDGE
    subtitle = "; ".join(filter(None, [subtitle, _about.held]))
    if _about.origin:
        source = source.replace(SIMULATED, f"{SIMULATED} {_about.origin}", 1)
    above = [_Block(title if _wishes.title is None else _wishes.title, room, style.LARGE, TITLE_GAP,
                    {"weight": "bold"}),
             _Block(subtitle, room, style.NORMAL, SUBTITLE_GAP, {"color": style.GREY})]
    below = [_Block(_about.trust, room, style.SMALL, 0, {"style": "italic"}),
             _Block(source, room, style.SMALL, 0, {"color": style.GREY})]
    rows = [row for handles in legend for row in _broken(handles, room)]
    legend_height = sum(map(_pitch, rows)) + (LEGEND_GAP if rows else 0)
    head = EDGE + sum(block.height for block in above) + legend_height
    foot = EDGE / 2 + SOURCE_GAP + sum(block.height for block in below)
    _grow(figure, head, foot + max(map(_break_labels, figure.axes), default=0.0))
    height = figure.get_size_inches()[1]
    top = _stack(figure, above, height - EDGE)
    _stack(figure, below, EDGE / 2 + sum(block.height for block in below))
    _legend(figure, rows, top)


class _Block:
    """A text in as many lines as it needs."""

    def __init__(self, text: str, room: float, size: float, gap: float, look: dict):
        lines = measure.wrapped(text, room, size, bold="weight" in look) if text else []
        self.text, self.size, self.look = "\n".join(lines), size, look
        self.height = len(lines) * measure.line_height(size) + (gap if lines else 0)


def _stack(figure: Figure, blocks: list[_Block], top: float) -> float:
    """Writes blocks one below the other, from that many inches above the lower edge; returns where they end."""
    width, height = figure.get_size_inches()
    for block in blocks:
        if block.text:
            figure.text(EDGE / width, top / height, block.text, size=block.size, va="top",
                        linespacing=measure.LINE_SPACING * 0.86, **block.look)
        top -= block.height
    return top


def _break_labels(axes: Axes) -> float:
    """Breaks the titles of axes that are too long for their panel; returns how much more room they need below it."""
    width, height = axes.figure.get_size_inches()
    place, size = axes.get_position(), style.NORMAL
    middle = (place.x0 + place.x1) / 2 * width
    is_beside_others = any(other.get_position().overlaps(place.expanded(width / place.width, 1))
                           for other in axes.figure.axes if other is not axes and other.get_xlabel())
    room = place.width * width + PANEL_GAP / 2 if is_beside_others else 2 * min(middle, width - middle) - EDGE / 2
    across = measure.wrapped(axes.get_xlabel(), room, size)
    axes.set_xlabel("\n".join(across))
    axes.set_ylabel("\n".join(measure.wrapped(axes.get_ylabel(), place.height * height + EDGE, size)))
    return (len(across) - 1) * measure.line_height(size)


def _grow(figure: Figure, head: float, foot: float) -> None:
    """Makes the sheet higher, above and below what is there; in inches."""
    width, height = figure.get_size_inches()
    grown = height + head + foot
    for axes in figure.axes:
        place = axes.get_position()
        axes.set_position([place.x0, (place.y0 * height + foot) / grown, place.width, place.height * height / grown])
    for text in figure.texts:
        text.set_y((text.get_position()[1] * height + foot) / grown)
    figure.set_size_inches(width, grown)


def _broken(handles: list, room: float) -> list[list]:
    """The handles in rows that are no wider than that, with their labels in lines that are not either."""
    letter = style.NORMAL / measure.POINTS_PER_INCH
    rows, used = [[]], 0.0
    for handle in handles:
        lines = measure.wrapped(handle.get_label(), room - HANDLE * letter, style.NORMAL)
        handle.set_label("\n".join(lines))
        needed = (HANDLE + COLUMN_SPACING) * letter + measure.widest(lines)
        if rows[-1] and used + needed - COLUMN_SPACING * letter > room:
            rows.append([])
            used = 0.0
        rows[-1].append(handle)
        used += needed
    return rows if handles else []


def _pitch(handles: list) -> float:
    """From one row of the legend to the next, in inches."""
    lines = max(handle.get_label().count("\n") for handle in handles)
    return LEGEND_PITCH + lines * measure.line_height(style.NORMAL)


def _legend(figure: Figure, rows: list[list], top: float) -> None:
    """One legend for all panels, where no data can be."""
    width, height = figure.get_size_inches()
    for handles in rows:
        figure.legend(handles=handles, ncol=len(handles), loc="upper left", borderaxespad=0, borderpad=0,
                      columnspacing=COLUMN_SPACING, bbox_to_anchor=(EDGE / width, top / height))
        top -= _pitch(handles)


def _save_whole(figure: Figure, path: pathlib.Path, **how) -> None:
    """Nobody ever sees half a picture, whatever ends this process."""
    part = path.with_name(f".{path.name}.part{os.getpid()}")
    try:
        figure.savefig(part, format=path.suffix[1:], **how)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def save(figure: Figure, directory: pathlib.Path, name: str, formats=DEFAULT_FORMATS) -> list[pathlib.Path]:
    """Writes a file of each format, and returns their paths. The same figure gives the same files."""
    paths = []
    for ending in formats:
        paths.append(directory / f"{name}.{ending}")
        # A file that said when it was made would be another one each time.
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        _save_whole(figure, paths[-1], dpi=PRINT_DPI if _wishes.width else PNG_DPI, metadata=dates.get(ending))
    return paths
