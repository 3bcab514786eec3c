"""The sheet of a picture: panels, and around them title, subtitle, legend and source.

frame() lays out panels with room for their own labels. caption() then increases the height of the sheet by the texts
around them, whose number of lines depends on the width.
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
# Height of free panels: at least, and relative to their width.
LEAST_HEIGHT, HEIGHT_BY_WIDTH = 1.7, 0.8
# Entries of legends, in multiples of the font size.
HANDLE, COLUMN_SPACING = style.LEGEND_HANDLE + 0.8, 1.6
PNG_DPI, PRINT_DPI = 160, 300
INCH_MM = 25.4
FORMATS = ("png", "svg", "pdf")
DEFAULT_FORMATS = ("png", "svg")


class TooNarrow(Exception):
    """The given width is too small for a picture; the message has the required width."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """Options of the user."""

    title: str | None = None
    """Replaces the title of the picture; empty for no title."""
    width: float | None = None
    """Width in inches."""


@dataclasses.dataclass(frozen=True)
class Annotations:
    """Texts that a sheet has besides title, subtitle and legend; empty texts are left out."""

    origin: str = ""
    """Version of the program, and hash of the configurations."""
    trust: str = ""
    """Note on uncalibrated chips."""
    held: str = ""
    """Axes of a sweep with their values."""


_settings, _annotations = Settings(), Annotations()


def configure(settings: Settings) -> None:
    """Sets the options of the next sheets."""
    global _settings
    _settings = settings
    style.use(is_small=settings.width is not None)


def annotate(**texts: str) -> None:
    """Replaces some of the Annotations of the next sheets."""
    global _annotations
    _annotations = dataclasses.replace(_annotations, **texts)


@dataclasses.dataclass(frozen=True)
class Margins:
    """Margins around the panels for their own labels, in inches."""

    left: float = 0.85
    right: float = 0.3
    head: float = 0.06
    foot: float = 0.52


def page(width: float, height: float) -> Figure:
    """An empty figure of that size in inches."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)  # for measuring labels before the figure is written
    return figure


def width_for(natural: float) -> float:
    """Width of a sheet in inches: the one of the user, or the natural one."""
    return _settings.width or natural


def has_fixed_width() -> bool:
    """True if the user sets the width."""
    return _settings.width is not None


def check_room(room: float, least: float) -> None:
    """Throws TooNarrow if the room that the width of the user leaves is below the least, both in inches."""
    if _settings.width and room < least:
        needed = math.ceil((_settings.width + least - room) * INCH_MM)
        raise TooNarrow(f"this picture needs a width of {needed} mm at least; {_settings.width * INCH_MM:.0f} mm is "
                        "too narrow for its labels")


def across(panels: int, most: int = MOST_ACROSS) -> int:
    """Number of panels in each row, for rows of nearly equal length."""
    return math.ceil(panels / math.ceil(panels / most))


def frame(width: float, panel_height: float, margins: Margins, titles: list[str] | None = None,
          most_across: int = MOST_ACROSS, is_free: bool = False,
          shares: bool = True) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each title (default: one without), in rows of at most most_across panels.

    Panels share their vertical axis, if shares. Sizes in inches. The height of free panels follows a width of the user.
    """
    panels, sheet = len(titles or [""]), width_for(width)
    inside = sheet - margins.left - margins.right
    check_room(inside, LEAST_PANEL)
    columns = across(panels, min(most_across, max(1, int((inside + PANEL_GAP) / (LEAST_PANEL + PANEL_GAP)))))
    rows = math.ceil(panels / columns)
    panel = (inside - PANEL_GAP * (columns - 1)) / columns
    if is_free and _settings.width:
        panel_height = min(panel_height, max(LEAST_HEIGHT, HEIGHT_BY_WIDTH * panel))
    heads = [measure.wrapped(title, panel, style.NORMAL, bold=True) for title in titles or []]
    head = max(map(len, heads), default=0) * measure.line_height(style.NORMAL) + (TITLE_LIFT if heads else 0)
    gap = ROW_GAP - measure.line_height(style.NORMAL) + head if heads else ROW_GAP
    height = margins.head + head + panel_height * rows + gap * (rows - 1) + margins.foot
    figure = page(sheet, height)
    axes = figure.subplots(rows, columns, sharey=shares, squeeze=False, gridspec_kw={
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
    """The source line: the program, and citations of other sources in the picture."""
    return "; ".join(filter(None, [SIMULATED, more, citation]))


def caption(figure: Figure, title: str, subtitle: str, legend: list[list] = (), source: str = SIMULATED) -> None:
    """Writes title, subtitle and legend above the panels; the note on calibration and the source below.

    legend: rows of handles; long rows are broken. The sheet grows by the height of all texts.
    """
    room = figure.get_size_inches()[0] - 2 * EDGE
    subtitle = "; ".join(filter(None, [subtitle, _annotations.held]))
    if _annotations.origin:
        source = source.replace(SIMULATED, f"{SIMULATED} {_annotations.origin}", 1)
    above = [_Block(title if _settings.title is None else _settings.title, room, style.LARGE, TITLE_GAP,
                    {"weight": "bold"}),
             _Block(subtitle, room, style.NORMAL, SUBTITLE_GAP, {"color": style.GREY})]
    below = [_Block(_annotations.trust, room, style.SMALL, 0, {"style": "italic"}),
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
    """A text broken into lines."""

    def __init__(self, text: str, room: float, size: float, gap: float, look: dict):
        lines = measure.wrapped(text, room, size, bold="weight" in look) if text else []
        self.text, self.size, self.look = "\n".join(lines), size, look
        self.height = len(lines) * measure.line_height(size) + (gap if lines else 0)


def _stack(figure: Figure, blocks: list[_Block], top: float) -> float:
    """Writes blocks below each other, from `top` in inches above the lower edge; returns the lower end."""
    width, height = figure.get_size_inches()
    for block in blocks:
        if block.text:
            figure.text(EDGE / width, top / height, block.text, size=block.size, va="top",
                        linespacing=measure.LINE_SPACING * 0.86, **block.look)
        top -= block.height
    return top


def _break_labels(axes: Axes) -> float:
    """Breaks axis titles longer than their panel; returns the additional height below it, in inches."""
    width, height = axes.figure.get_size_inches()
    place, size = axes.get_position(), style.NORMAL
    middle = (place.x0 + place.x1) / 2 * width
    has_neighbours = any(other.get_position().overlaps(place.expanded(width / place.width, 1))
                           for other in axes.figure.axes if other is not axes and other.get_xlabel())
    room = place.width * width + PANEL_GAP / 2 if has_neighbours else 2 * min(middle, width - middle) - EDGE / 2
    across = measure.wrapped(axes.get_xlabel(), room, size)
    axes.set_xlabel("\n".join(across))
    axes.set_ylabel("\n".join(measure.wrapped(axes.get_ylabel(), place.height * height + EDGE, size)))
    return (len(across) - 1) * measure.line_height(size)


def _grow(figure: Figure, head: float, foot: float) -> None:
    """Increases the height of the sheet above and below its content, in inches."""
    width, height = figure.get_size_inches()
    grown = height + head + foot
    for axes in figure.axes:
        place = axes.get_position()
        axes.set_position([place.x0, (place.y0 * height + foot) / grown, place.width, place.height * height / grown])
    for text in figure.texts:
        text.set_y((text.get_position()[1] * height + foot) / grown)
    figure.set_size_inches(width, grown)


def _broken(handles: list, room: float) -> list[list]:
    """Breaks handles into rows, and their labels into lines, of at most that width."""
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
    """Height of a row of the legend, in inches."""
    lines = max(handle.get_label().count("\n") for handle in handles)
    return LEGEND_PITCH + lines * measure.line_height(style.NORMAL)


def _legend(figure: Figure, rows: list[list], top: float) -> None:
    """Draws the legend of all panels above them."""
    width, height = figure.get_size_inches()
    for handles in rows:
        figure.legend(handles=handles, ncol=len(handles), loc="upper left", borderaxespad=0, borderpad=0,
                      columnspacing=COLUMN_SPACING, bbox_to_anchor=(EDGE / width, top / height))
        top -= _pitch(handles)


def _save_whole(figure: Figure, path: pathlib.Path, **how) -> None:
    """Writes a temporary file and renames it, so that an interrupted write leaves no partial picture."""
    part = path.with_name(f".{path.name}.part{os.getpid()}")
    try:
        figure.savefig(part, format=path.suffix[1:], **how)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def save(figure: Figure, directory: pathlib.Path, name: str, formats=DEFAULT_FORMATS) -> list[pathlib.Path]:
    """Writes a file of each format and returns their paths. The same figure gives the same bytes."""
    paths = []
    for ending in formats:
        paths.append(directory / f"{name}.{ending}")
        # Without the date, for reproducible files.
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        _save_whole(figure, paths[-1], dpi=PRINT_DPI if _settings.width else PNG_DPI, metadata=dates.get(ending))
    return paths
