"""Where the time goes: what the busiest link direction does during a collective."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from drawing import columns, style
from pictures import subject
from pictures.parts import Part, check_whole
from read.row import Row
from read.rows import check_unique
from words import quantities

PARTS = [
    Part("payload_s", "payload on the wire", "payload", "#a6cee3", ""),
    Part("scales_s", "scales on the wire", "scales", style.BLUE, "xxxx"),
    Part("overhead_s", "synchronisation before a step", "overhead", "#fdd0a2", "////"),
    Part("startup_s", "start of the collective", "start", "#cab2d6", "\\\\\\\\"),
    Part("bubbles_s", "idle otherwise (bubbles)", "idle", "#ffffff", "...."),
]
BASELINE_LINE = {"color": style.INK, "linestyle": "--", "linewidth": 0.9}
BAR_THICKNESS, BAR_PITCH_INCHES = 0.62, 0.46
ROOM_RIGHT = 1.03
# Columns of numbers end here, in inches right of the panel.
TIME_AT, SPEEDUP_AT, PARTS_AT, PART_PITCH = 0.85, 1.5, 2.15, 0.72


def draw(rows: list[Row]) -> Figure:
    """One stacked bar for each label, from the top in order of appearance."""
    check_unique(rows, ["label"])
    for row in rows:
        check_whole(row, PARTS)
    right = PARTS_AT + PART_PITCH * (len(PARTS) - 1) + style.EDGE
    figure, [axes] = style.frame(12, BAR_PITCH_INCHES * (len(rows) + 0.2),
                                 style.Margins(left=_label_room(rows), right=right, head=1.62))
    for place, row in enumerate(rows):
        _draw_bar(axes, place, row)
    _mark_baseline(axes, rows)
    _label_axes(axes, rows)
    _write_numbers(axes, rows)

    style.caption(figure, "Where the time goes", f"{subject.one_size(rows)}; what its busiest link direction does")
    style.legend(figure, [[Patch(label=part.name, **part.look()) for part in PARTS],
                          [Line2D([], [], label=f"time of {subject.baseline(rows)}", **BASELINE_LINE)]])
    return figure


def _label_room(rows: list[Row]) -> float:
    inches_per_letter, least = 0.082, 0.9
    return max(least, 0.35 + inches_per_letter * max(len(row.text("label")) for row in rows))


def _draw_bar(axes: Axes, place: int, row: Row) -> None:
    start = 0.0
    for part in PARTS:
        length = row.number(part.column)
        axes.barh(place, length, left=start, height=BAR_THICKNESS, **part.look())
        start += length


def _write_numbers(axes: Axes, rows: list[Row]) -> None:
    def column(inches: float, head: str, text) -> None:
        columns.write(axes, inches, head, range(len(rows)), [text(row) for row in rows], [False] * len(rows))

    column(TIME_AT, "time", lambda row: quantities.time_text(row.number("time_s")))
    column(SPEEDUP_AT, "speedup", lambda row: f"{row.number('speedup'):.2f}x")
    for i, part in enumerate(PARTS):
        column(PARTS_AT + i * PART_PITCH, part.short,
               lambda row, part=part: f"{row.number(part.column) / row.number('time_s'):.1%}")


def _mark_baseline(axes: Axes, rows: list[Row]) -> None:
    for row in rows:
        if row.text("label") == subject.baseline(rows):
            axes.axvline(row.number("time_s"), zorder=0, **BASELINE_LINE)


def _label_axes(axes: Axes, rows: list[Row]) -> None:
    axes.set_yticks(range(len(rows)), [row.text("label") for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    longest = max(row.number("time_s") for row in rows)
    axes.set_xlim(0, longest * ROOM_RIGHT)
    unit, name = next((size, name) for size, name in quantities.TIME_UNITS if longest >= size)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit:g}"))
    axes.set_xlabel(f"time ({name})")
