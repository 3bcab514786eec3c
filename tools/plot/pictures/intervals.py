"""68 % intervals of times and speedups, as error bars in pictures over tensor size."""
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from drawing import style
from read.row import Row

# Columns of the lower and the upper end.
TIME, SPEEDUP = ("time_low_s", "time_high_s"), ("speedup_low", "speedup_high")
LABEL = "68 % interval"
LOOK = {"linestyle": "-", "linewidth": 0.9, "markersize": 2.6, "zorder": 1.8}
# Horizontal factor between the bars of successive lines, which would otherwise overlap.
APART = 1.14


def _ends(row: Row, columns: tuple[str, str]) -> list[float]:
    """Lower and upper end; empty if the run has no interval."""
    if not any(map(row.has, columns)):
        return []
    low, high = map(row.positive, columns)
    if low > high:
        raise row.error(f"'{columns[0]}' is {low:g}, but '{columns[1]}' is {high:g}, which is less")
    return [low, high]


def ends(rows: list[Row], columns: tuple[str, str]) -> list[float]:
    """Ends of all rows, for the limits of an axis."""
    return [end for row in rows for end in _ends(row, columns)]


def draw(axes: Axes, lines: dict[str, list[Row]], columns: tuple[str, str], looks: dict[str, style.Look]) -> None:
    """A bar for each interval, with the marker of its line at both ends; it need not contain the point."""
    for place, (label, look) in enumerate(looks.items()):
        shift = APART ** (place - (len(looks) - 1) / 2)
        for row in lines.get(label, []):
            if found := _ends(row, columns):
                axes.plot([row.number("tensor_bytes") * shift] * len(found), found, color=look.colour,
                          marker=look.marker, **LOOK)


def handles(rows: list[Row], columns: tuple[str, str]) -> list[Line2D]:
    """Legend entry; none without intervals."""
    return [Line2D([], [], color=style.GREY, marker="o", label=LABEL, **LOOK)] if ends(rows, columns) else []
