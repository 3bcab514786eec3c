"""Contracts of collectives: error against time, ULP from the exact sum, and elements that differ at other sizes."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from drawing import columns, labels, measure, sheet, style, ticks
from read.contract import Contract, Contracts
from words import quantities

# Monotonically darker, readable without colours.
DISTANCES = ["#f0f0f0", "#cfe1f2", "#93c4df", "#4b97c9", "#1b66ab", "#08306b"]
NONFINITE = {"facecolor": style.VERMILION, "hatch": "xxx"}
EDGE_LINE = {"edgecolor": style.INK, "linewidth": 0.5}
FOUND = {"marker": "o", "color": style.BLUE, "markersize": 7, "linestyle": "none"}
EXPECTED = {"marker": "_", "color": style.VERMILION, "markersize": 13, "markeredgewidth": 2, "linestyle": "none"}
EXACT = "0"
# In inches.
WIDTH, SCATTER, ROW, ROW_GAP, GAP, HEAD, FOOT = 12, 2.7, 0.33, 0.1, 0.95, 0.35, 0.52
MOST_NAME, MOST_LABEL, BAR_THICKNESS = 2.6, 2.2, 0.72
TITLE_LIFT = 8
# Right edges of the columns, in inches right of the panel.
COLUMNS_AT = {"ranks": 1.15, "cuts": 1.75, "fewer ranks": 2.7, "roundings": 5.2}
NOT_RUN = {"facecolor": "#ffffff", "edgecolor": "#bbbbbb", "hatch": "///", "linewidth": 0}
SAME_COLOUR, DIFFER_COLOURS = "#ffffff", ["#fdf0d5", "#f6b26b", "#d95f2b", "#8c1d18"]
DIFFER_FROM = [0.0, 0.01, 0.1, 0.5]
FASTEST, REFERENCE, SAME = "the fastest at each size", "reference", "same"
TITLES = ["Error against time", "Distance from the exact sum", "Elements with other bits than at the largest size"]


def draw(found: Contracts) -> Figure:
    """A panel of errors over times, one of distances, and one of sizes if they were tried."""
    rows = found.contracts
    names = [one.label for one in rows] + [FASTEST] * bool(found.fastest)
    lines = max(len(_lines(name)) for name in names)
    pitch = max(ROW, lines * measure.line_height(style.NORMAL) + ROW_GAP)
    heights = [SCATTER, pitch * len(rows), *([pitch * len(names)] if rows[0].sizes else [])]
    figure, panels = _frame(heights, names)
    _draw_errors(panels[0], rows)
    _draw_distances(panels[1], rows)
    if rows[0].sizes:
        _draw_sizes(panels[2], [(one.label, one.sizes) for one in rows] +
                    ([(FASTEST, found.fastest)] if found.fastest else []))
    sheet.caption(figure, "Time, error and bits of collectives", found.subject, _legend(rows), sheet.source(
        more="errors and ULP: from the exact sum, for ULP rounded once to the tensor's type; ranks, cuts, fewer ranks: "
             "whether they give the same bits"))
    return figure


def _frame(heights: list[float], names: list[str]) -> tuple[Figure, list[Axes]]:
    """Panels below each other, with the same left and right edges."""
    width = sheet.width_for(WIDTH)
    left = 2 * sheet.EDGE + measure.widest(line for name in names for line in _lines(name))
    right = style.inches(max(COLUMNS_AT.values())) + sheet.EDGE
    inside = width - left - right
    sheet.check_room(inside, sheet.LEAST_PANEL)
    height = HEAD + sum(heights) + GAP * (len(heights) - 1) + FOOT
    figure, panels, top = sheet.page(width, height), [], height - HEAD
    for number, inches in enumerate(heights):
        across = inside if number == 1 else width - left - sheet.EDGE  # columns follow the second
        panels.append(figure.add_axes([left / width, (top - inches) / height, across / width, inches / height]))
        panels[-1].annotate(TITLES[number], (0, 1), (0, TITLE_LIFT), xycoords="axes fraction",
                            textcoords="offset points", weight="bold", va="bottom")
        top -= inches + GAP
    return figure, panels


def _draw_errors(axes: Axes, rows: list[Contract]) -> None:
    errors = [error for one in rows for error in (one.nmse, one.expected_nmse) if error]
    low, high = (min(errors) / 4, max(errors) * 4) if errors else (1e-8, 1.0)
    is_exact = any(one.nmse == 0 for one in rows)
    floor = low / 10 if is_exact else low
    axes.set(xscale="log", yscale="log", ylim=(floor / 2 if is_exact else low, high))
    times = [one.time_s for one in rows]
    axes.set_xlim(min(times) / 1.15, max(times) * 1.6)
    drawn = [(one, floor if one.nmse == 0 else one.nmse) for one in rows if one.nmse is not None]
    for one, nmse in drawn:
        axes.plot([one.time_s], [nmse], zorder=4, **FOUND)
        if one.expected_nmse:
            axes.plot([one.time_s], [one.expected_nmse], zorder=3, **EXPECTED)
    ticks.log_axis(axes.xaxis, quantities.time_text)
    _label_errors(axes, low, high, floor if is_exact else None)
    axes.set_xlabel("simulated time (logarithmic)")
    axes.set_ylabel("NMSE")
    names = {}
    for one, nmse in drawn:
        names.setdefault((one.time_s, nmse), []).append(one.label)
    labels.place(axes, [labels.Label(*place, "\n".join(measure.wrapped(", ".join(same), MOST_LABEL, style.SMALL)))
                        for place, same in names.items()], [])


def _label_errors(axes: Axes, low: float, high: float, floor: float | None) -> None:
    """Round numbers, and EXACT at the place of exact results."""
    numbers = ticks.decade_ticks(low, high)
    axes.set_yticks([*([floor] if floor else []), *numbers],
                    [*([EXACT] if floor else []), *map(quantities.error_text, numbers)])
    axes.minorticks_off()


def _draw_distances(axes: Axes, rows: list[Contract]) -> None:
    for place, one in enumerate(rows):
        start = 0.0
        for count, look in zip([*one.by_distance.values(), one.nonfinite], _looks(one)):
            share = 100 * count / one.elements
            axes.barh(place, share, left=start, height=BAR_THICKNESS, **look, **EDGE_LINE)
            start += share
    _name_rows(axes, [one.label for one in rows])
    axes.set_xlim(0, 100)
    axes.set_xlabel("elements by ULP from the exact sum (%)")
    for head, inches in COLUMNS_AT.items():
        texts = [getattr(one, head.replace(" ", "_")) for one in rows]
        columns.write(axes, inches, head, range(len(rows)), texts, [False] * len(rows))


def _looks(one: Contract) -> list[dict]:
    return [*({"facecolor": colour} for colour in DISTANCES[:len(one.by_distance)]), NONFINITE]


def _lines(name: str) -> list[str]:
    return measure.wrapped(name, MOST_NAME, style.NORMAL)


def _name_rows(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), ["\n".join(_lines(name)) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def _draw_sizes(axes: Axes, rows: list[tuple[str, dict[int, float | None]]]) -> None:
    """A cell for each size and collective, with the share of elements that differ from the largest size."""
    sizes = list(rows[0][1])
    for place, (_, shares) in enumerate(rows):
        for column, size in enumerate(sizes):
            share = shares.get(size)
            look = NOT_RUN if share is None else {"facecolor": _colour(share), "edgecolor": style.PALE}
            axes.add_patch(Rectangle((column - 0.5, place - 0.5), 1, 1, **look))
            if share is not None:
                axes.text(column, place, _cell_text(share, size == sizes[-1]), ha="center", va="center",
                          size=style.SMALL, color="white" if share >= DIFFER_FROM[-1] else style.INK)
    _name_rows(axes, [name for name, _ in rows])
    axes.grid(visible=False)
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    axes.set_xticks(range(len(sizes)), list(map(quantities.size_text, sizes)), size=style.SMALL)
    axes.set_xlabel("size of the tensor")


def _colour(share: float) -> str:
    if share == 0:
        return SAME_COLOUR
    return next(colour for colour, least in zip(DIFFER_COLOURS[::-1], DIFFER_FROM[::-1]) if share >= least)


def _cell_text(share: float, is_largest: bool) -> str:
    if share == 0:
        return REFERENCE if is_largest else SAME
    percent = 100 * share
    return f"{percent:.2g} %" if percent >= 0.01 else f"{percent:.0e} %".replace("e-0", "e-")


def _legend(rows: list[Contract]) -> list[list]:
    errors = [Line2D([], [], label="NMSE, computed", **FOUND)]
    if any(one.expected_nmse for one in rows):
        errors.append(Line2D([], [], label="expected, for independent normal values", **EXPECTED))
    distances = [Patch(label=f"{name} ULP", facecolor=colour, **EDGE_LINE)
                 for name, colour in zip(rows[0].by_distance, DISTANCES)]
    if any(one.nonfinite for one in rows):
        distances.append(Patch(label="NaN or Inf", **NONFINITE, **EDGE_LINE))
    not_run = [Patch(label="does not run at this size", **NOT_RUN)] \
        if any(share is None for one in rows for share in one.sizes.values()) else []
    return [errors, distances + not_run]
