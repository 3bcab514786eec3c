"""Verdicts of advice: a row for each group of collectives of a step, below the whole step, or for each machine."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MultipleLocator

from drawing import columns, measure, sheet, style
from pictures import answers, intervals
from read.verdicts import Verdict, Verdicts
from words import quantities

UNQUANTIZED = {"color": style.INK, "linewidth": 1}
BELOW_WHOLE = {"color": style.GREY, "linewidth": 0.8}
# In inches.
WIDTH, ROW_INCHES, NAMES_INCHES = 12, 0.5, 3.6
CAP_SIZE, BAR_WIDTH = 6, 1.6
# Right edges of the columns, in inches right of the panel.
COLUMNS_AT = {"quantize?": 0.85, "speedup": 1.6, "68 % interval": 2.85, "SQNR": 3.6, "break-even": 4.5}
# The smallest step with few enough ticks, which include 1x.
TICK_STEPS, MOST_TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100], 7
# Limits of the axis: at least this far from 1x, and a margin at both ends as a share of the range.
LEAST_RANGE, ROOM = 0.02, 0.08
NONE = "-"


def draw(found: Verdicts) -> Figure:
    """One panel with the speedups, columns of numbers to its right."""
    details = [measure.wrapped(row.detail, NAMES_INCHES, style.SMALL) for row in found.rows]
    lines = max(map(len, details))
    pitch = ROW_INCHES + (lines - 1) * measure.line_height(style.SMALL)
    left = 2 * sheet.EDGE + max(measure.widest(row.name for row in found.rows),
                                measure.widest(sum(details, []), style.SMALL))
    figure, [axes] = sheet.frame(WIDTH, pitch * len(found.rows), sheet.Margins(
        left=left, right=style.inches(max(COLUMNS_AT.values())) + sheet.EDGE, head=0.35))
    _prepare(axes, found)
    for place, (row, detail) in enumerate(zip(found.rows, details)):
        _write_name(axes, place, row, detail)
        _draw_row(axes, place, row)
    _write_columns(axes, found.rows)
    what = "step by quantizing its collectives" if found.is_of_step else "collective by quantizing it"
    sheet.caption(figure, f"Advised speedup of a {what}", found.subject, [_legend(found.rows)],
                  sheet.source(more=_notes(found)))
    return figure


def _prepare(axes: Axes, found: Verdicts) -> None:
    axes.set_ylim(len(found.rows) - 0.5, -0.5)
    axes.set_yticks([])
    ends = [1.0]
    for row in found.rows:
        ends += [*(row.interval or ()), *([row.speedup] if row.speedup else [])]
    low, high = min(*ends, 1 - LEAST_RANGE), max(*ends, 1 + LEAST_RANGE)
    room = ROOM * (high - low)
    axes.set_xlim(low - room, high + room)
    step = next((step for step in TICK_STEPS if (high - low) / step <= MOST_TICKS), TICK_STEPS[-1])
    axes.xaxis.set_major_locator(MultipleLocator(step))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2f}x"))
    axes.set_xlabel(f"speedup over the unquantized {'step' if found.is_of_step else 'collective'}")
    axes.axvline(1, **UNQUANTIZED)
    if found.rows[0].is_whole:
        axes.axhline(0.5, **BELOW_WHOLE)


def _write_name(axes: Axes, place: int, row: Verdict, detail: list[str]) -> None:
    """The name, with the detail in small letters below it, left of the panel."""
    figure = axes.figure
    across = -(axes.get_position().x0 * figure.get_size_inches()[0] - sheet.EDGE) / \
        (axes.get_position().width * figure.get_size_inches()[0])
    lift = len(detail) * measure.line_height(style.SMALL) * measure.POINTS_PER_INCH / 2
    axes.annotate(row.name, (across, place), (0, lift), xycoords=axes.get_yaxis_transform(),
                  textcoords="offset points", va="center", weight="bold" if row.is_whole else "normal",
                  annotation_clip=False)
    below = measure.line_height(style.NORMAL) * measure.POINTS_PER_INCH / 2
    axes.annotate("\n".join(detail), (across, place), (0, -below), xycoords=axes.get_yaxis_transform(),
                  textcoords="offset points", va="center", size=style.SMALL, color=style.GREY,
                  annotation_clip=False)


def _draw_row(axes: Axes, place: int, row: Verdict) -> None:
    if row.speedup is None:
        return
    look = answers.LOOKS[row.answer]
    if row.interval:
        low, high = row.interval
        axes.errorbar([(low + high) / 2], [place], xerr=[[(high - low) / 2]] * 2, fmt="none", zorder=3,
                      capsize=CAP_SIZE, ecolor=look.colour, elinewidth=BAR_WIDTH)
    axes.plot([row.speedup], [place], color=look.colour, marker=look.marker, markersize=answers.SIZE, linestyle="none",
              zorder=4)


def _write_columns(axes: Axes, rows: list[Verdict]) -> None:
    texts = {"speedup": [f"{row.speedup:.2f}x" if row.speedup else NONE for row in rows],
             "68 % interval": [f"{row.interval[0]:.2f}x to {row.interval[1]:.2f}x" if row.interval else NONE
                               for row in rows],
             "SQNR": [f"{row.sqnr_db:.1f} dB" if row.sqnr_db else NONE for row in rows],
             "break-even": [quantities.size_text(row.break_even_bytes) if row.break_even_bytes else NONE
                            for row in rows]}
    whole = [row.is_whole for row in rows]
    for head, inches in COLUMNS_AT.items():
        if head in texts:
            columns.write(axes, inches, head, range(len(rows)), texts[head], whole)
    _write_answers(axes, rows)


def _write_answers(axes: Axes, rows: list[Verdict]) -> None:
    columns.write(axes, COLUMNS_AT["quantize?"], "quantize?", range(len(rows)), [row.answer or NONE for row in rows],
                  [True] * len(rows), [answers.LOOKS[row.answer].colour if row.answer else style.INK for row in rows])


def _legend(rows: list[Verdict]) -> list[Line2D]:
    handles = answers.handles([row.answer for row in rows if row.speedup is not None])
    if any(row.interval for row in rows):
        handles.append(Line2D([], [], label=intervals.LABEL, color=style.GREY, linewidth=BAR_WIDTH, marker="|",
                              markersize=8))
    return [*handles, Line2D([], [], label="unquantized, 1.00x", **UNQUANTIZED)]


def _notes(found: Verdicts) -> str:
    """Explanations of the columns."""
    whole = "SQNR of the whole step: that of its worst group" if found.is_of_step else ""
    of_group = "the group's largest collective in isolation" if found.is_of_step else "the collective"
    break_even = f"break-even: size of {of_group} from which quantizing it is faster" \
        if any(row.break_even_bytes for row in found.rows) else ""
    return "; ".join(filter(None, [whole, break_even]))
