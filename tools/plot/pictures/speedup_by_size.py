"""Speedup over the baseline against tensor size, beside what the paper reports."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator

from drawing import style, ticks
from pictures import intervals, series, subject
from read import paper
from read.row import Row
from read.rows import the_only
from words import quantities

NO_GAIN = {"facecolor": "#f1f1f1", "edgecolor": "#cccccc", "hatch": "////", "linewidth": 0}
PAPER_MARKER_SIZE, PAPER_LEGEND_SIZE = 13, 9
# Of 0.25x, or more where that would be more ticks than there is room for.
TICK_STEPS, MOST_TICKS = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100], 12
# The highest speedup, and no less than what int8 could give, fits below the upper edge.
LEAST_TOP, ROOM_ABOVE = 2.1, 1.08


def draw(rows: list[Row]) -> Figure:
    """One panel for each slice, one line for each label but the baseline."""
    baseline, collective = subject.baseline(rows), subject.collective(rows)
    labels = [label for label in series.labels(rows) if label != baseline]
    if not labels:
        raise rows[0].error(f"there is nothing to compare with {baseline}: no row has another label")
    looks = style.looks(labels)
    groups = series.panels(rows)
    figure, panels = style.frame(11, 3.6, style.Margins(head=1.5), len(groups))
    for axes, (topology, group) in zip(panels, groups.items()):
        series.prepare(axes, topology, group)
        if paper.same_chip(group[0]):
            axes.axvspan(axes.get_xlim()[0], paper.GAIN_FROM_BYTES, zorder=0, **NO_GAIN)
        axes.axhline(1, color=style.INK, linewidth=1)
        _draw_lines(axes, group, looks)
        intervals.draw(axes, series.lines(group), intervals.SPEEDUP, looks)
        if paper.same_machine(group[0]):
            _mark_paper(axes, looks)

    highest = max([*(row.number("speedup") for row in rows), *intervals.ends(rows, intervals.SPEEDUP)])
    top = max(highest * ROOM_ABOVE, LEAST_TOP)
    panels[0].set_ylim(0, top)
    step = next((step for step in TICK_STEPS if top / step <= MOST_TICKS), TICK_STEPS[-1])
    panels[0].yaxis.set_major_locator(MultipleLocator(step))
    ticks.times_axis(panels[0].yaxis)
    panels[0].set_ylabel(f"speedup over the {baseline} {collective}")
    style.caption(figure, f"Speedup of {collective}s against tensor size",
                  f"{the_only(rows, 'hardware')}; time of the {baseline} {collective} / time")
    style.legend(figure, _legend(looks, rows))
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


def _legend(looks: dict[str, style.Look], rows: list[Row]) -> list[list]:
    runs = [Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line, label=label)
            for label, look in looks.items()]
    marks = [Line2D([], [], markersize=PAPER_LEGEND_SIZE, label=f"paper, {point.ring}: {point.speedup}x "
                    f"({paper.TOPOLOGY.split()[-1]}, {quantities.size_text(paper.TENSOR_BYTES)})", **mark)
             for point, mark in _paper_marks(looks) if any(map(paper.same_machine, rows))]
    below = quantities.size_text(paper.GAIN_FROM_BYTES)
    if any(map(paper.same_chip, rows)):
        marks.append(Patch(label=f"paper: no gain below {below}", **NO_GAIN))
    runs.append(Line2D([], [], color=style.INK, linewidth=1, label="as fast as the baseline"))
    runs += intervals.handles(rows, intervals.SPEEDUP)
    return [runs, marks] if marks else [runs]
