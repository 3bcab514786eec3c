"""Time breakdown of the busiest link direction of a collective."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from drawing import columns, measure, sheet, style, ticks
from pictures import subject
from pictures.parts import Part, check_whole
from read.row import Row
from read.rows import check_unique
from words import quantities

PARTS = [
    Part("payload_s", "payload on the wire", "payload", "#a6cee3", ""),
    Part("scales_s", "scales on the wire", "scales", style.BLUE, "xxxx"),
    Part("sync_s", "per-hop sync", "sync", "#fdd0a2", "////"),
    Part("startup_s", "startup", "startup", "#cab2d6", "\\\\\\\\"),
    Part("idle_s", "idle", "idle", "#ffffff", "...."),
]
BASELINE_LINE = {"color": style.INK, "linestyle": "--", "linewidth": 0.9}
WIDTH = 12
BAR_THICKNESS, BAR_PITCH_INCHES = 0.62, 0.46
ROOM_RIGHT = 1.03
# Columns of numbers end here, in inches right of the panel.
TIME_AT, SPEEDUP_AT, LEAST_COLUMN = 0.85, 1.5, 0.68


def draw(rows: list[Row]) -> Figure:
    """One stacked bar for each label, in order of appearance from the top."""
    check_unique(rows, ["label"])
    for row in rows:
        check_whole(row, PARTS)
    left = sheet.EDGE + 0.12 + measure.widest(row.text("label") for row in rows)
    # The columns of shares are left out where they do not fit.
    has_shares = sheet.width_for(WIDTH) - left - style.inches(_ends()[-1]) - sheet.EDGE >= sheet.LEAST_PANEL
    right = style.inches(_ends()[-1] if has_shares else SPEEDUP_AT) + sheet.EDGE
    figure, [axes] = sheet.frame(WIDTH, BAR_PITCH_INCHES * (len(rows) + 0.2),
                                 sheet.Margins(left=left, right=right, head=0.35))
    for place, row in enumerate(rows):
        _draw_bar(axes, place, row)
    _mark_baseline(axes, rows)
    _label_axes(axes, rows)
    _write_numbers(axes, rows, has_shares)

    subject.check_one(rows)
    sheet.caption(figure, "Time breakdown", f"{subject.context(rows)}; busiest link direction",
                  [[Patch(label=part.name, **part.look()) for part in PARTS],
                   [Line2D([], [], label=f"time of {subject.baseline(rows)}", **BASELINE_LINE)]])
    return figure


def _ends() -> list[float]:
    """Right edges of the columns of shares, which are as wide as their heads."""
    ends = [SPEEDUP_AT]
    for part in PARTS:
        ends.append(ends[-1] + max(LEAST_COLUMN, 0.16 + measure.width(part.short, style.SIZES[1])))
    return ends[1:]


def _draw_bar(axes: Axes, place: int, row: Row) -> None:
    start = 0.0
    for part in PARTS:
        length = row.number(part.column)
        axes.barh(place, length, left=start, height=BAR_THICKNESS, **part.look())
        start += length


def _write_numbers(axes: Axes, rows: list[Row], has_shares: bool) -> None:
    def column(inches: float, head: str, text) -> None:
        columns.write(axes, inches, head, range(len(rows)), [text(row) for row in rows], [False] * len(rows))

    column(TIME_AT, "time", lambda row: quantities.measured_time(row.number("time_s")))
    column(SPEEDUP_AT, "speedup", lambda row: f"{row.number('speedup'):.2f}x")
    for part, end in zip(PARTS if has_shares else [], _ends()):
        column(end, part.short,
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
    ticks.duration_axis(axes.xaxis, longest)
