"""Simulated against reported figures: ratios in their tolerance bands."""
import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from drawing import columns, sheet, style
from read.row import Row
from words import quantities


COLUMNS = ["what", "metric", "expected", "simulated", "ratio", "role", "tolerance", "within", "source"]
ROLES = {
    "prediction": {"color": style.BLUE, "marker": "o", "markersize": 8},
    "calibration": {"color": style.INK, "marker": "D", "markersize": 7.5, "markerfacecolor": "white"},
    "implied": {"color": style.BLUE, "marker": "o", "markersize": 8, "markerfacecolor": "white"},
    "not reported": {"color": style.GREY, "marker": "x", "markersize": 7},
    "closed form": {"color": style.GREEN, "marker": "s", "markersize": 7},
}
OUTSIDE = {"color": style.VERMILION, "marker": "x", "markersize": 14, "markeredgewidth": 2}
BAND = {"facecolor": "#dddddd", "edgecolor": "#999999", "linewidth": 0.6}
TICKS = [0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10]
# Larger tolerances are percentages by mistake. The band has no lower end for tolerances of 1 and more.
MOST_TOLERANCE = 3
LEAST_RANGE, ROOM = (0.68, 1.55), 1.08
# In characters and inches.
WRAP, DETAIL_WRAP, LINE_INCHES, ROW_PADDING_INCHES, BAND_INCHES = 46, 56, 0.165, 0.2, 0.26
DETAIL_DROP_INCHES = 0.03
LEFT_INCHES, RIGHT_INCHES = 3.9, 2.7
COLUMNS_AT = [0.9, 1.75, 2.4]
METRICS = {"time_s": "time", "mse": "MSE relative to the exact sum",
           "mse_vs_baseline": "MSE relative to the BF16 AllReduce"}


def draw(rows: list[Row]) -> Figure:
    """One line for each row: predictions first, then calibrations and others."""
    rows = sorted(rows, key=lambda row: list(ROLES).index(_role(row)))
    heights = [_height(row) for row in rows]
    places = [sum(heights[:i]) + height / 2 for i, height in enumerate(heights)]
    figure, [axes] = sheet.frame(11, sum(heights), sheet.Margins(left=style.inches(LEFT_INCHES),
                                                                 right=style.inches(RIGHT_INCHES), head=0.35))
    _prepare(axes, rows, sum(heights))
    for place, row in zip(places, rows):
        _draw_row(axes, place, row)
        _write_name(axes, place, row)
    _write_numbers(axes, places, rows)
    within = sum(row.truth("within") for row in rows)
    sheet.caption(figure, "Simulated against reported",
                  f"{within} of {len(rows)} figures within their tolerance; " + _about_roles(rows), [_legend(rows)],
                  sheet.source(more="sources of the figures: next to each"))
    return figure


def _height(row: Row) -> float:
    """Height of a row in inches, the unit of the vertical axis."""
    return ROW_PADDING_INCHES + LINE_INCHES * (len(_name_lines(row)) + len(_detail_lines(row)))


def _role(row: Row) -> str:
    role = row.text("role")
    if role not in ROLES:
        raise row.error(f"'role' is '{role}', but must be one of: {', '.join(ROLES)}")
    return role


def _about_roles(rows: list[Row]) -> str:
    formulas = "; closed forms are formulas, not measurements" if any(
        _role(row) == "closed form" for row in rows) else ""
    return f"calibrations were fitted to the figure, predictions were not{formulas}"


def _at_most(row: Row) -> bool:
    """True if the reported figure is an upper bound."""
    words = " ".join(row.text(column) for column in ("kind", "metric") if row.has(column))
    return "at most" in words.replace("_", " ").replace("-", " ").lower()


def _tolerance(row: Row) -> float:
    if _at_most(row) and not row.has("tolerance"):
        return 0.0
    tolerance = row.number("tolerance")
    if tolerance >= MOST_TOLERANCE:
        raise row.error(f"'tolerance' is {tolerance:g}, but is a fraction of the figure, below {MOST_TOLERANCE}")
    return tolerance


def _prepare(axes: Axes, rows: list[Row], height: float) -> None:
    ratios = [row.positive("ratio") for row in rows]
    bands = [end for row in rows for sign in (-1, 1) if (end := 1 + sign * _tolerance(row)) > 0]
    axes.set_xscale("log")
    axes.set_xlim(min(LEAST_RANGE[0], min(ratios + bands) / ROOM),
                  max(LEAST_RANGE[1], max(ratios + bands) * ROOM))
    axes.set_ylim(height, 0)
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in TICKS if low <= tick <= high]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("simulated / reported")
    axes.set_yticks([])
    axes.axvline(1, color=style.INK, linewidth=1)


def _draw_row(axes: Axes, place: float, row: Row) -> None:
    tolerance = _tolerance(row)
    low = axes.get_xlim()[0] if _at_most(row) or tolerance >= 1 else 1 - tolerance
    axes.barh(place, 1 + tolerance - low, left=low, height=BAND_INCHES, zorder=1, **BAND)
    axes.plot([row.number("ratio")], [place], zorder=3, **ROLES[_role(row)])
    if not row.truth("within"):
        axes.plot([row.number("ratio")], [place], zorder=4, **OUTSIDE)


def _name_lines(row: Row) -> list[str]:
    return textwrap.wrap(row.text("what"), WRAP)


def _detail_lines(row: Row) -> list[str]:
    metric = METRICS.get(row.text("metric"), row.text("metric"))
    return textwrap.wrap(f"{metric}; {row.text('source')}", DETAIL_WRAP)


def _write_name(axes: Axes, place: float, row: Row) -> None:
    figure_width = axes.figure.get_size_inches()[0]
    left = -(style.inches(LEFT_INCHES) - sheet.EDGE) / (figure_width - style.inches(LEFT_INCHES + RIGHT_INCHES))
    names, details = _name_lines(row), _detail_lines(row)
    middle = place + (len(names) - len(details)) / 2 * LINE_INCHES
    across = axes.get_yaxis_transform()
    axes.text(left, middle, "\n".join(names), va="bottom", transform=across)
    axes.text(left, middle + DETAIL_DROP_INCHES, "\n".join(details), va="top", size=style.SMALL,
              color=style.GREY, transform=across)


def _numbers(row: Row) -> list[str]:
    seconds = row.text("metric").endswith("_s")
    text = quantities.measured_time if seconds else (lambda value: quantities.significant(value, 3))
    ceiling = "<= " if _at_most(row) else ""
    return [ceiling + text(row.positive("expected")), text(row.number("simulated")),
            f"{row.number('ratio'):.2f}"]


def _write_numbers(axes: Axes, places: list[float], rows: list[Row]) -> None:
    missed = [not row.truth("within") for row in rows]
    for inches, head, texts in zip(COLUMNS_AT, ["reported", "simulated", "ratio"], zip(*map(_numbers, rows))):
        columns.write(axes, inches, head, places, texts, missed)


def _legend(rows: list[Row]) -> list:
    present = {_role(row) for row in rows}
    marks = [Line2D([], [], linestyle="none", label=role, **look)
             for role, look in ROLES.items() if role in present]
    ceiling = "; to the left edge: at most" if any(map(_at_most, rows)) else ""
    marks.append(Patch(label=f"tolerance{ceiling}", **BAND))
    if not all(row.truth("within") for row in rows):
        marks.append(Line2D([], [], linestyle="none", label="outside its tolerance", **OUTSIDE))
    return marks
