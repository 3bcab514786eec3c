"""Intervals of times and speedups, as error bars beside the lines of pictures against tensor size."""
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from drawing import style
from read.row import Row

# Columns of the least and the most.
TIME, SPEEDUP = ("time_low_s", "time_high_s"), ("speedup_low", "speedup_high")
LOOK = {"linestyle": "-", "linewidth": 0.9, "markersize": 2.6, "zorder": 1.8}
# Bars of one size would hide each other, so those of a line stand this factor to the right of those of the line before.
APART = 1.14


def _ends(row: Row, columns: tuple[str, str]) -> list[float]:
    """The least and the most; none if the run has no intervals."""
    if not any(map(row.has, columns)):
        return []
    low, high = map(row.positive, columns)
    if low > high:
        raise row.error(f"'{columns[0]}' is {low:g}, but '{columns[1]}' is {high:g}, which is less")
    return [low, high]


def ends(rows: list[Row], columns: tuple[str, str]) -> list[float]:
    """Those of all rows, for which an axis needs room."""
    return [end for row in rows for end in _ends(row, columns)]


def draw(axes: Axes, lines: dict[str, list[Row]], columns: tuple[str, str], looks: dict[str, style.Look]) -> None:
    """A bar for each row that has an interval, with its line's marker at both ends: it may lie beside its point."""
    for place, (label, look) in enumerate(looks.items()):
        shift = APART ** (place - (len(looks) - 1) / 2)
        for row in lines.get(label, []):
            if found := _ends(row, columns):
                axes.plot([row.number("tensor_bytes") * shift] * len(found), found, color=look.colour,
                          marker=look.marker, **LOOK)


def handles(rows: list[Row], columns: tuple[str, str]) -> list[Line2D]:
    """For the legend, in the words of the program's table; nothing if there are none."""
    there = ends(rows, columns)
    return [Line2D([], [], color=style.GREY, marker="o", label="68 % of chips", **LOOK)] if there else []
