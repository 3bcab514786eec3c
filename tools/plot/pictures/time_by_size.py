"""Simulated time and lower bound of each collective against tensor size."""
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from drawing import sheet, style, ticks
from pictures import intervals, series, subject
from read.row import Row
from read.rows import the_only
from words import quantities

# The axis starts this factor below the smallest time; lower bounds of tiny tensors are far below it.
ROOM_BELOW = 2.5
ROOM_ABOVE = 1.6
BOUND_LINE = {"linestyle": ":", "linewidth": 1.2, "markersize": 3.5, "markerfacecolor": "white",
              "zorder": 1.5}


def draw(rows: list[Row]) -> Figure:
    """One panel for each slice, one line for each label, both axes logarithmic."""
    looks = style.looks(series.labels(rows))
    groups = series.panels(rows)
    figure, panels = sheet.frame(11, 3.9, sheet.Margins(), series.titles(groups), is_free=True)
    for axes, group in zip(panels, groups.values()):
        series.prepare(axes, group)
        for label, line in series.lines(group).items():
            sizes = [row.number("tensor_bytes") for row in line]
            look = looks[label]
            axes.plot(sizes, [row.positive("time_s") for row in line],
                      color=look.colour, marker=look.marker, linestyle=look.line)
            axes.plot(sizes, [row.positive("lower_bound_s") for row in line],
                      color=look.colour, marker=look.marker, **BOUND_LINE)
        intervals.draw(axes, series.lines(group), intervals.TIME, looks)

    times = [*(row.number("time_s") for row in rows), *intervals.ends(rows, intervals.TIME)]
    panels[0].set_yscale("log")
    panels[0].set_ylim(min(times) / ROOM_BELOW, max(times) * ROOM_ABOVE)
    ticks.log_axis(panels[0].yaxis, quantities.time_text)
    sheet.label_rows(panels, f"time of one {subject.timed(rows)}")
    the_only(rows, "hardware")
    sheet.caption(figure, f"Time of one {subject.timed(rows)} against tensor size",
                  f"{subject.context(rows)}; lower bound: of every schedule",
                  [[*_legend(looks), *intervals.handles(rows, intervals.TIME)]])
    return figure


def _legend(looks: dict[str, style.Look]) -> list[Line2D]:
    runs = [Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line, label=label)
            for label, look in looks.items()]
    return [*runs, Line2D([], [], color=style.GREY, marker="o",
                          label="lower bound of the collective with that marker", **BOUND_LINE)]
