"""Speedup over the baseline against tensor size, with the figures of the paper."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from drawing import sheet, style
from pictures import intervals, series, subject
from read import paper
from read.row import Row
from read.rows import the_only
from words import quantities

NO_GAIN = {"facecolor": "#f1f1f1", "edgecolor": "#cccccc", "hatch": "////", "linewidth": 0}
PAPER_MARKER_SIZE, PAPER_LEGEND_SIZE = 13, 9


def draw(rows: list[Row]) -> Figure:
    """One panel for each slice, one line for each label except the baseline."""
    baseline, timed = subject.baseline(rows), subject.timed(rows)
    labels = [label for label in series.labels(rows) if label != baseline]
    if not labels:
        raise rows[0].error(f"nothing to compare with {baseline}: no row has another label")
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
    series.speedup_axis(panels, highest, f"speedup over the {baseline} {timed}")
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
    """Figures of the paper by label, each for the first matching line of a slice."""
    found: dict[str, paper.Point] = {}
    for row in group:
        point = paper.point(row)
        if point and point.quantize == paper.BOTH and point not in found.values():
            found[row.text("label")] = point
    return found


def _reported(group: list[Row]) -> dict[str, paper.Point]:
    """Figures for lines that include the tensor size of the paper."""
    lines = series.lines(group)
    ends = {label: (lines[label][0].number("tensor_bytes"), lines[label][-1].number("tensor_bytes"))
            for label in lines}
    return {label: point for label, point in _points(group).items()
            if ends[label][0] <= paper.TENSOR_BYTES <= ends[label][1]}


def _shows_no_gain(group: list[Row]) -> bool:
    """True if the slice has sizes without a gain according to the paper."""
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
    runs.append(Line2D([], [], color=style.INK, linewidth=1, label="baseline, 1x"))
    runs += intervals.handles(rows, intervals.SPEEDUP)
    return [runs, marks] if marks else [runs]
