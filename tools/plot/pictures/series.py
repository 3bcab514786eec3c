"""What the pictures against tensor size share: a panel for each slice, a line for each label."""
from matplotlib.axes import Axes

from drawing import ticks
from read.row import Row
from read.rows import check_unique, grouped

# Room left and right of the data, as a factor on a logarithmic axis.
SIZE_MARGIN = 1.5


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
    """Of the panels: the slice, and how many chips it has."""
    return [f"{topology} ({rows[0].number('chips'):.0f} chips)" for topology, rows in groups.items()]


def prepare(axes: Axes, rows: list[Row]) -> None:
    """Size axis of a slice's panel."""
    sizes = [row.positive("tensor_bytes") for row in rows]
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(sizes) / SIZE_MARGIN, max(sizes) * SIZE_MARGIN)
    ticks.size_axis(axes.xaxis, min(sizes), max(sizes),
                    axes.get_position().width * axes.figure.get_size_inches()[0])
    axes.set_xlabel("tensor on each chip")
