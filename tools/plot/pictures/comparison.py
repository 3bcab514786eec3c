"""Times of each collective in two results, with speedups, errors and ratios."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from drawing import columns, measure, sheet, style, ticks
from read.comparison import Collective, Comparison
from words import quantities

LOOKS = [{"facecolor": "#b5b5b5", "hatch": "", "edgecolor": style.INK, "linewidth": 0.7},
         {"facecolor": "#a6cee3", "hatch": "////", "edgecolor": style.INK, "linewidth": 0.7}]
# Distances between bars and between groups, as shares of the distance between groups.
OFFSETS, BAR_THICKNESS, GROUP_INCHES = (-0.2, 0.2), 0.38, 0.6
ROOM_RIGHT = 1.03
# Right edges of the columns, in inches right of the panel.
TIME_AT, SPEEDUP_AT, SQNR_AT, RATIO_AT = 0.85, 1.6, 2.4, 3.2
MOST_DIFFERENCES = 3
NONE = "-"


def draw(comparison: Comparison) -> Figure:
    """Two bars for each collective, in order of the file."""
    collectives = comparison.collectives
    left = 2 * sheet.EDGE + measure.widest(one.label for one in collectives)
    figure, [axes] = sheet.frame(12, GROUP_INCHES * len(collectives),
                                 sheet.Margins(left=left, right=style.inches(RATIO_AT) + sheet.EDGE, head=0.35))
    for place, one in enumerate(collectives):
        for offset, time_s, look in zip(OFFSETS, one.of("time_s"), LOOKS):
            axes.barh(place + offset, time_s or 0, height=BAR_THICKNESS, **look)
    _label_axes(axes, collectives)
    _write_numbers(axes, collectives)
    legend = [Patch(label=f"{side}: {file}", **look) for side, file, look in zip("AB", comparison.files, LOOKS)]
    sheet.caption(figure, "Times of two results", _differences(comparison), [legend])
    return figure


def _differences(comparison: Comparison) -> str:
    """The first differences of the configurations."""
    found = comparison.differences
    if not found:
        return "same configuration"
    more = f"; {len(found) - MOST_DIFFERENCES} more" if len(found) > MOST_DIFFERENCES else ""
    return f"different configurations (A, B): {'; '.join(found[:MOST_DIFFERENCES])}{more}"


def _label_axes(axes: Axes, collectives: list[Collective]) -> None:
    axes.set_yticks(range(len(collectives)), [one.label for one in collectives])
    axes.set_ylim(len(collectives) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    longest = max(time_s for one in collectives for time_s in one.of("time_s") if time_s)
    axes.set_xlim(0, longest * ROOM_RIGHT)
    ticks.duration_axis(axes.xaxis, longest)


def _write_numbers(axes: Axes, collectives: list[Collective]) -> None:
    places = [place + offset for place in range(len(collectives)) for offset in OFFSETS]

    def column(inches: float, head: str, name: str, text) -> None:
        texts = [NONE if number is None else text(number) for one in collectives for number in one.of(name)]
        columns.write(axes, inches, head, places, texts, [False] * len(places))

    column(TIME_AT, "time", "time_s", quantities.measured_time)
    column(SPEEDUP_AT, "speedup", "speedup", lambda number: f"{number:.2f}x")
    column(SQNR_AT, "SQNR", "numerics/sqnr_db", lambda number: f"{number:.1f} dB")
    columns.write(axes, RATIO_AT, "time B / A", range(len(collectives)), list(map(_ratio, collectives)),
                  [False] * len(collectives))


def _ratio(one: Collective) -> str:
    a, b = one.of("time_s")
    return f"{b / a:.3f}" if a and b is not None else NONE
