"""Latency-error Pareto front of `equarx-sim tune`."""
import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from drawing import labels, sheet, style, ticks
from read.tuned import Candidate, Tuning
from words import quantities

# Margin around the points for their numbers, as a factor on logarithmic axes.
ROOM = 1.35
# Limits beyond all points by this factor are not drawn.
FAR = 3.0
# Obstacles for numbers on each side of a step.
PLACES = 8
MARKER_SIZE, BEST_SIZE, OTHER_SIZE = 6.5, 14, 3.5
OTHER_LOOK = {"color": "#b8b8b8", "marker": ".", "linestyle": "none", "markersize": OTHER_SIZE}
BASELINE_LOOK = {"color": style.ORANGE, "marker": "*", "linestyle": "none", "markersize": 13,
                 "markeredgecolor": style.INK, "markeredgewidth": 0.8}
BEST_LOOK = {"color": style.INK, "marker": "o", "linestyle": "none", "markersize": BEST_SIZE,
             "markerfacecolor": "none", "markeredgewidth": 1.4}
LIMIT_LOOK = {"color": style.VERMILION, "linestyle": ":", "linewidth": 1.4}
# The list of members right of the panel, in inches.
WIDTH, HEIGHT_ABOVE, LEAST_PANEL = 13.2, 3.2, 2.5
LIST_WIDTH, LIST_GAP, LIST_DROP, ROW_HEIGHT, LEAST_HEIGHT = 6.4, 0.75, 0.75, 0.2, 4.2
COLUMNS = {"": 0.0, "collective": 0.2, "format, minishards x microshards": 2.0, "time": 5.4, "SQNR": 6.4}


def draw(tuning: Tuning) -> Figure:
    """Error against time of every member of the front, and of dominated candidates in grey."""
    height = max(LEAST_HEIGHT, ROW_HEIGHT * (len(tuning.front) + 2))
    figure, axes = _frame(tuning, height)
    _prepare(axes, tuning)
    axes.plot([one.time_s for one in tuning.others], [one.nmse for one in tuning.others], **OTHER_LOOK, zorder=1)
    _draw_steps(axes, tuning.front)
    looks = style.looks(list(dict.fromkeys(one.scheme for one in tuning.front)))
    for one in tuning.front:
        look = looks[one.scheme]
        axes.plot([one.time_s], [one.nmse], color=look.colour, marker=look.marker, linestyle="none",
                  markersize=MARKER_SIZE, zorder=3)
    if _best_text(tuning):
        best = tuning.front[tuning.best]
        axes.plot([best.time_s], [best.nmse], **BEST_LOOK, zorder=4)
    if tuning.baseline:
        axes.plot([tuning.baseline.time_s], [tuning.baseline.nmse], **BASELINE_LOOK, zorder=2)
    _draw_limits(axes, tuning)
    _write_list(axes, tuning)
    counts = tuning.counts
    sheet.caption(figure, "Latency-error Pareto front",
                  f"{tuning.what} on each of {tuning.machine}{f'; {tuning.values}' if tuning.values else ''}; "
                  f"{counts['simulated']} of {counts['candidates']} candidates simulated{_limits_text(tuning)}",
                  _legend(looks, tuning), sheet.source(more="errors computed on tensors"))
    points = [(one.time_s, one.nmse) for one in tuning.front]
    numbers = [labels.Label(x, y, str(place + 1)) for place, (x, y) in enumerate(points)]
    labels.place(axes, numbers, [*points, *_along_steps(points)])
    return figure


def _best_text(tuning: Tuning) -> str:
    """Criterion of the best member; empty without limits, where the fastest is merely the least accurate."""
    if tuning.max_nmse:
        return "fastest within the limits"
    return "most accurate within the limit" if tuning.max_time_s else ""


def _frame(tuning: Tuning, height: float) -> tuple[Figure, Axes]:
    """Panel with room for the list: to its right, or on a narrow sheet below it."""
    margins = sheet.Margins(right=style.inches(LIST_GAP + LIST_WIDTH) + sheet.EDGE)
    if sheet.width_for(WIDTH) - margins.left - margins.right >= LEAST_PANEL:
        figure, [axes] = sheet.frame(WIDTH, height, margins)
        return figure, axes
    sheet.check_room(sheet.width_for(WIDTH) - 2 * sheet.EDGE, style.inches(LIST_WIDTH))
    below = style.inches(LIST_DROP + ROW_HEIGHT * (len(tuning.front) + 1))
    figure, [axes] = sheet.frame(WIDTH, HEIGHT_ABOVE, sheet.Margins(foot=below))
    return figure, axes


def sqnr(nmse: float) -> float:
    """SQNR in dB."""
    return -10 * math.log10(nmse)


def _prepare(axes: Axes, tuning: Tuning) -> None:
    """Sets limits from the front, the baseline and near limits; distant points are clipped."""
    shown = [*tuning.front, *([tuning.baseline] if tuning.baseline else [])]
    times, errors = [one.time_s for one in shown], [one.nmse for one in shown]
    if tuning.max_time_s and tuning.max_time_s < FAR * max(times):
        times.append(tuning.max_time_s)
    if tuning.max_nmse and tuning.max_nmse < FAR**2 * max(errors):
        errors.append(tuning.max_nmse)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(min(times) / ROOM, max(times) * ROOM)
    axes.set_ylim(min(errors) / ROOM**2, max(errors) * ROOM**2)
    ticks.log_axis(axes.xaxis, quantities.time_text)
    ticks.log_axis(axes.yaxis, quantities.error_text)
    axes.set_xlabel("time (left is better)")
    axes.set_ylabel("NMSE relative to the exact sum (down is better)")


def _draw_steps(axes: Axes, front: list[Candidate]) -> None:
    """Draws the boundary of the dominated region, above and right of it."""
    axes.step([one.time_s for one in front], [one.nmse for one in front], where="post", color=style.GREY,
              linewidth=1.0, zorder=1.5)


def _along_steps(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points on the line that numbers must not cover, equidistant on logarithmic axes."""
    def between(start: float, end: float) -> list[float]:
        return [start * (end / start) ** (part / PLACES) for part in range(PLACES + 1)]

    places = []
    for (time, error), (next_time, next_error) in zip(points, points[1:]):
        places += [(at, error) for at in between(time, next_time)]
        places += [(next_time, at) for at in between(error, next_error)]
    return places


def _limits_text(tuning: Tuning) -> str:
    texts = []
    if tuning.max_nmse:
        texts.append(f"SQNR at least {sqnr(tuning.max_nmse):.1f} dB")
    if tuning.max_time_s:
        texts.append(f"at most {quantities.time_text(tuning.max_time_s)}")
    return "".join(f"; {text}" for text in texts)


def _draw_limits(axes: Axes, tuning: Tuning) -> None:
    if tuning.max_nmse:
        axes.axhline(tuning.max_nmse, **LIMIT_LOOK)
    if tuning.max_time_s:
        axes.axvline(tuning.max_time_s, **LIMIT_LOOK)


def _write_list(axes: Axes, tuning: Tuning) -> None:
    width, height = (side * inches for side, inches in
                     zip((axes.get_position().width, axes.get_position().height), axes.figure.get_size_inches()))

    place = axes.get_position()
    is_right = place.x1 < 0.8
    left, top = (width + style.inches(LIST_GAP / 2), height) if is_right else \
        (sheet.EDGE - place.x0 * axes.figure.get_size_inches()[0], -style.inches(LIST_DROP))

    def write(row: int, column: str, text: str, **how) -> None:
        right = column in ("time", "SQNR")
        across, up = left + style.inches(COLUMNS[column]), top - style.inches(row * ROW_HEIGHT)
        axes.text(across / width, up / height, text, transform=axes.transAxes, size=style.SMALL,
                  ha="right" if right else "left", va="top", **how)

    for column in COLUMNS:
        if column:
            write(0, column, column, color=style.GREY)
    for place, one in enumerate(tuning.front):
        how = {"weight": "bold"} if place == tuning.best and _best_text(tuning) else {}
        cells = {"": str(place + 1), "collective": one.scheme, "format, minishards x microshards": one.name,
                 "time": quantities.measured_time(one.time_s), "SQNR": f"{sqnr(one.nmse):.1f} dB"}
        for column, text in cells.items():
            write(place + 1, column, text, **how)


def _legend(looks: dict[str, style.Look], tuning: Tuning) -> list[list[Line2D]]:
    schemes = [Line2D([], [], color=look.colour, marker=look.marker, linestyle="none", markersize=MARKER_SIZE,
                      label=name) for name, look in looks.items()]
    best = _best_text(tuning)
    rest = [*([Line2D([], [], label=best, **BEST_LOOK)] if best else []),
            Line2D([], [], label="dominated", **dict(OTHER_LOOK, markersize=8))]
    if tuning.baseline:
        rest.append(Line2D([], [], label=f"baseline: {tuning.baseline.name}", **BASELINE_LOOK))
    if tuning.max_nmse or tuning.max_time_s:
        rest.append(Line2D([], [], label="limit", **LIMIT_LOOK))
    return [schemes, rest]
