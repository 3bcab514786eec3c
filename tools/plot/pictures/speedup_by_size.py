"""Speedup over the baseline against tensor size, beside what the paper reports."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator

from drawing import sheet, style, ticks
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
    baseline, timed = subject.baseline(rows), subject.timed(rows)
    labels = [label for label in series.labels(rows) if label != baseline]
    if not labels:
        raise rows[0].error(f"there is nothing to compare with {baseline}: no row has another label")
    looks = style.looks(labels)
    groups = series.panels(rows)
    figure, panels = sheet.frame(11, 3.6, sheet.Margins(), series.titles(groups), is_free=True)
    for axes, group in zip(panels, groups.values()):
        series.prepare(axes, group)
        if _shows_no_gain(group):
            axes.axvspan(axes.get_xlim()[0], paper.GAIN_FROM_BYTES, zorder=0, **NO_GAIN)
        axes.axhline(1, color=style.INK, linewidth=1)
        _draw_lines(axes, group, looks)
        intervals.draw(axes, series.lines(group), intervals.SPEEDUP, looks)
        for label, point in _reported(group).items():
            axes.plot([paper.TENSOR_BYTES], [point.speedup], markersize=PAPER_MARKER_SIZE, zorder=3,
                      **_paper_mark(looks[label]))

    highest = max([*(row.number("speedup") for row in rows), *intervals.ends(rows, intervals.SPEEDUP)])
    top = max(highest * ROOM_ABOVE, LEAST_TOP)
    panels[0].set_ylim(0, top)
    step = next((step for step in TICK_STEPS if top / step <= MOST_TICKS), TICK_STEPS[-1])
    panels[0].yaxis.set_major_locator(MultipleLocator(step))
    ticks.times_axis(panels[0].yaxis)
    sheet.label_rows(panels, f"speedup over the {baseline} {timed}")
    the_only(rows, "hardware")
    sheet.caption(figure, f"Speedup of one {timed} against tensor size",
                  f"{subject.context(rows)}; time of the {baseline} {timed} / time",
                  _legend(looks, rows, list(groups.values())),
                  sheet.source(paper.CITATION if any(map(_is_marked, groups.values())) else ""))
    return figure


def _draw_lines(axes: Axes, rows: list[Row], looks: dict[str, style.Look]) -> None:
    for label, line in series.lines(rows).items():
        if label in looks:
            look = looks[label]
            axes.plot([row.number("tensor_bytes") for row in line], [row.positive("speedup") for row in line],
                      color=look.colour, marker=look.marker, linestyle=look.line)


def _points(group: list[Row]) -> dict[str, paper.Point]:
    """What the paper reports of the lines of a slice, by label; of each figure the first line that it is of."""
    found: dict[str, paper.Point] = {}
    for row in group:
        point = paper.point(row)
        if point and point.quantize == paper.BOTH and point not in found.values():
            found[row.text("label")] = point
    return found


def _reported(group: list[Row]) -> dict[str, paper.Point]:
    """Those that have a place on their line: it goes to the size that the paper measured."""
    lines = series.lines(group)
    ends = {label: (lines[label][0].number("tensor_bytes"), lines[label][-1].number("tensor_bytes"))
            for label in lines}
    return {label: point for label, point in _points(group).items()
            if ends[label][0] <= paper.TENSOR_BYTES <= ends[label][1]}


def _shows_no_gain(group: list[Row]) -> bool:
    """Whether there are tensors as small as those that the paper found no gain for."""
    return bool(_points(group)) and min(row.number("tensor_bytes") for row in group) < paper.GAIN_FROM_BYTES


def _is_marked(group: list[Row]) -> bool:
    return bool(_reported(group)) or _shows_no_gain(group)


def _paper_mark(look: style.Look) -> dict:
    return {"color": look.colour, "marker": look.marker, "markerfacecolor": "none", "markeredgewidth": 1.8,
            "linestyle": "none"}


def _legend(looks: dict[str, style.Look], rows: list[Row], groups: list[list[Row]]) -> list[list]:
    runs = [Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line, label=label)
            for label, look in looks.items()]
    reported = {label: point for group in groups for label, point in _reported(group).items()}
    marks = [Line2D([], [], markersize=PAPER_LEGEND_SIZE, label=f"paper, {point.ring} {paper.FORMAT}: {point.speedup}x "
                    f"({paper.TOPOLOGY.split()[-1]}, {quantities.size_text(paper.TENSOR_BYTES)})",
                    **_paper_mark(looks[label])) for label, point in reported.items()]
    if any(map(_shows_no_gain, groups)):
        marks.append(Patch(label=f"paper: no gain below {quantities.size_text(paper.GAIN_FROM_BYTES)}", **NO_GAIN))
    runs.append(Line2D([], [], color=style.INK, linewidth=1, label="as fast as the baseline"))
    runs += intervals.handles(rows, intervals.SPEEDUP)
    return [runs, marks] if marks else [runs]
