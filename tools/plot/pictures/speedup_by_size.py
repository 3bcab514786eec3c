"""Speedup over the baseline against tensor size, beside what the paper reports."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator

import data
import paper
import quantities
import style
from data import Row
from pictures import series

COLUMNS = [*series.COLUMNS, "speedup"]
BASELINE = "bf16"
NO_GAIN = {"facecolor": "#f1f1f1", "edgecolor": "#cccccc", "hatch": "////", "linewidth": 0}
PAPER_MARKER_SIZE, PAPER_LEGEND_SIZE = 13, 9
TICK_STEP = 0.25
# The highest speedup, and no less than what int8 could give, fits below the upper edge.
LEAST_TOP, ROOM_ABOVE = 2.1, 1.08


def draw(rows: list[Row]) -> Figure:
    """One panel for each slice, one line for each label but the baseline."""
    labels = [label for label in series.labels(rows) if label != BASELINE]
    if not labels:
        raise rows[0].error(f"there is nothing to compare with {BASELINE}: no row has another label")
    looks = style.looks(labels)
    groups = series.panels(rows)
    figure, panels = style.frame(11, 3.6, style.Margins(head=1.5), len(groups))
    for axes, (topology, group) in zip(panels, groups.items()):
        series.prepare(axes, topology, group)
        axes.axvspan(axes.get_xlim()[0], paper.GAIN_FROM_BYTES, zorder=0, **NO_GAIN)
        axes.axhline(1, color=style.INK, linewidth=1)
        _draw_lines(axes, group, looks)
        if paper.same_machine(group[0]):
            _mark_paper(axes, looks)

    highest = max(row.number("speedup") for row in rows)
    panels[0].set_ylim(0, max(highest * ROOM_ABOVE, LEAST_TOP))
    panels[0].yaxis.set_major_locator(MultipleLocator(TICK_STEP))
    quantities.times_axis(panels[0].yaxis)
    panels[0].set_ylabel(f"speedup over the {BASELINE} AllReduce")
    style.caption(figure, "Speedup of quantized AllReduces against tensor size",
                  f"{data.the_only(rows, 'hardware')}; time of the {BASELINE} AllReduce / time")
    style.legend(figure, _legend(looks))
    return figure


def _draw_lines(axes: Axes, rows: list[Row], looks: dict[str, style.Look]) -> None:
    for label, line in series.lines(rows).items():
        if label in looks:
            look = looks[label]
            axes.plot([row.number("tensor_bytes") for row in line], [row.positive("speedup") for row in line],
                      color=look.colour, marker=look.marker, linestyle=look.line)


def _paper_marks(looks: dict[str, style.Look]):
    for point in paper.POINTS:
        if point.quantize == "both" and point.ring in looks:
            yield point, {"color": looks[point.ring].colour, "marker": looks[point.ring].marker,
                          "markerfacecolor": "none", "markeredgewidth": 1.8,
                          "linestyle": "none"}


def _mark_paper(axes: Axes, looks: dict[str, style.Look]) -> None:
    for point, mark in _paper_marks(looks):
        axes.plot([paper.TENSOR_BYTES], [point.speedup], markersize=PAPER_MARKER_SIZE, zorder=3, **mark)


def _legend(looks: dict[str, style.Look]) -> list[list]:
    runs = [Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line, label=label)
            for label, look in looks.items()]
    marks = [Line2D([], [], markersize=PAPER_LEGEND_SIZE, label=f"paper, {point.ring}: {point.speedup}x "
                    f"({paper.TOPOLOGY.split()[-1]}, {quantities.size_text(paper.TENSOR_BYTES)})", **mark)
             for point, mark in _paper_marks(looks)]
    below = quantities.size_text(paper.GAIN_FROM_BYTES)
    return [[*runs, Line2D([], [], color=style.INK, linewidth=1, label="as fast as the baseline")],
            [*marks, Patch(label=f"paper: no gain below {below}", **NO_GAIN)]]
