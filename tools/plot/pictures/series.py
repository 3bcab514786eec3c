"""Shared by the pictures over tensor size: a panel for each slice, a line for each label."""
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from drawing import sheet, ticks
from read.row import Row
from read.rows import check_unique, grouped

# Margins left and right of the data, as a factor on a logarithmic axis.
SIZE_MARGIN = 1.5
# The smallest step with few enough ticks.
TICK_STEPS, MOST_TICKS = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100], 12
# The upper edge is above the highest speedup, and above 2x, the limit of int8.
LEAST_TOP, ROOM_ABOVE = 2.1, 1.08


def panels(rows: list[Row]) -> dict[str, list[Row]]:
    """The rows of each slice, smallest slice first."""
    check_unique(rows, ["topology", "label", "tensor_bytes"])
    groups = grouped(rows, "topology")
    return dict(sorted(groups.items(), key=lambda group: group[1][0].number("chips")))


def lines(rows: list[Row]) -> dict[str, list[Row]]:
    """The rows of each label, by tensor size."""
    return {label: sorted(group, key=lambda row: row.number("tensor_bytes"))
            for label, group in grouped(rows, "label").items()}


def labels(rows: list[Row]) -> list[str]:
    """All labels, in order of appearance."""
    return list(grouped(rows, "label"))


def titles(groups: dict[str, list[Row]]) -> list[str]:
    """Titles of the panels: the slice, and its number of chips."""
    return [f"{topology} ({rows[0].number('chips'):.0f} chips)" for topology, rows in groups.items()]


def prepare(axes: Axes, rows: list[Row]) -> None:
    """Size axis of the panel of a slice."""
    size_axis(axes, [row.positive("tensor_bytes") for row in rows])


def size_axis(axes: Axes, sizes: list[float]) -> None:
    """Logarithmic axis of tensor sizes."""
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(sizes) / SIZE_MARGIN, max(sizes) * SIZE_MARGIN)
    ticks.size_axis(axes.xaxis, min(sizes), max(sizes),
                    axes.get_position().width * axes.figure.get_size_inches()[0])
    axes.set_xlabel("tensor on each chip")


def speedup_axis(panels: list[Axes], highest: float, title: str) -> None:
    """Vertical axis of speedups up to the highest one, shared by the panels."""
    top = max(highest * ROOM_ABOVE, LEAST_TOP)
    panels[0].set_ylim(0, top)
    step = next((step for step in TICK_STEPS if top / step <= MOST_TICKS), TICK_STEPS[-1])
    panels[0].yaxis.set_major_locator(MultipleLocator(step))
    ticks.times_axis(panels[0].yaxis)
    sheet.label_rows(panels, title)
