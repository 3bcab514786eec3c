"""One value of a sweep against any two of its axes, as a heat map."""
import dataclasses

import numpy
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from drawing import style, ticks
from read import held
from read.errors import InputError, unknown
from read.points import Point, Points, value_names
from words import quantities
from words.names import short

# What may be an axis, too: the label of the collective.
LABEL = "label"
# Ever darker, so that it can be read without colours.
HEAT = LinearSegmentedColormap.from_list("value", ["#fdf0d5", "#f6b26b", "#d95f2b", "#8c1d18", "#2b0508"])
DARK_FROM = 0.5
NOTHING = {"facecolor": "#ffffff", "edgecolor": "#bbbbbb", "hatch": "///", "linewidth": 0}
LOG_FROM_RATIO = 50
# In inches.
CELL_WIDTH, CELL_HEIGHT = 0.92, 0.46
SMALLEST_CELL, WIDEST, HIGHEST = 0.12, 10.0, 7.0
BAR_WIDTH, BAR_GAP, BAR_ROOM = 0.18, 0.3, 1.35
LEAST_WIDTH = 7.5
TITLES = {"time_s": "Time", "speedup": "Speedup", "sqnr_db": "SQNR (dB)", "nmse": "NMSE", "mse": "MSE",
          "lower_bound_s": "Lower bound of the time"}
INCHES_PER_LETTER = 0.08
TEXT_HEIGHT = 0.2


def draw(sweep: Points, x: str, y: str, value: str, label: str, where: held.Where) -> Figure:
    """A cell for each pair of values of the axes x and y, of the runs of that label at the other axes given.

    One of x and y may be LABEL: then all collectives are drawn."""
    if LABEL in (x, y):
        if label:
            raise InputError(f"--{'x' if x == LABEL else 'y'} label draws all collectives: leave --label away")
        sweep = _by_label(sweep)
    else:
        label = _label(sweep, label)
    _check_axes(sweep, x, y, where)
    runs = [run for run in sweep.points if (LABEL in (x, y) or run.label in (label, ""))
            and held.is_at(run, where)]
    if not any(run.label for run in runs):
        raise InputError(f"{sweep.source}: there is no run of '{label or LABEL}'"
                         f"{' at ' + held.at_text(where) if where else ''}")
    columns, rows = _steps(runs, x), _steps(runs, y)
    cells, failed = _cells(sweep, runs, x, y, value)
    grid = numpy.full((len(rows), len(columns)), numpy.nan)
    for (column, row), number in cells.items():
        grid[rows.index(row), columns.index(column)] = number
    size = _cell_size(len(columns), len(rows))
    names = [[short(step) for step in steps] for steps in (columns, rows)]
    figure, axes = _frame(size, *names)
    _fill(axes, grid, *names, [(rows.index(row), columns.index(column)) for column, row in failed], value, size)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _caption(figure, sweep, label, value, where, bool(numpy.isnan(grid).any()))
    return figure


def _label(sweep: Points, wanted: str) -> str:
    labels = _labels(sweep)
    if wanted:
        if wanted not in labels:
            raise unknown("label", wanted, labels, sweep.source)
        return wanted
    if len(labels) > 1:
        raise InputError(f"{sweep.source}: there are several collectives; give --label one of: {', '.join(labels)}; "
                         f"or --y {LABEL} for all")
    return labels[0]


def _by_label(sweep: Points) -> Points:
    """With the label as another axis. A point that failed did so for all of them."""
    labels = _labels(sweep)
    return dataclasses.replace(sweep, points=[
        dataclasses.replace(run, axes=run.axes | {LABEL: label})
        for run in sweep.points for label in ([run.label] if run.label else labels)])


def _labels(sweep: Points) -> list[str]:
    labels = sweep.labels()
    if not labels:
        raise InputError(f"{sweep.source}: there is no run in it: all points failed, or there is none")
    return labels


def _check_axes(sweep: Points, x: str, y: str, where: held.Where) -> None:
    known = sweep.axes()
    for axis in (x, y):
        if axis not in known:
            raise unknown("axis", axis, known, sweep.source)
    if x == y:
        raise InputError(f"--x and --y are both {x}; give two axes of: {', '.join(known)}")
    held.check_where(sweep, where)


def _steps(runs: list[Point], axis: str) -> list[str]:
    """The values of an axis: sizes and numbers by size, others in the order of the sweep."""
    steps = list(dict.fromkeys(run.axes[axis] for run in runs))
    sizes = [quantities.size_of(step) for step in steps]
    return steps if None in sizes else [step for _, step in sorted(zip(sizes, steps))]


def _cells(sweep: Points, runs: list[Point], x: str, y: str, value: str):
    """Numbers by place, and places of points that failed."""
    cells: dict[tuple[str, str], float] = {}
    seen: dict[tuple[str, str], Point] = {}
    failed = []
    for run in runs:
        place = run.axes[x], run.axes[y]
        if place in seen:
            others = [axis for axis in run.axes if run.axes[axis] != seen[place].axes.get(axis)]
            raise InputError(f"{sweep.source}: several points at {x} = {place[0]}, {y} = {place[1]}; "
                             f"choose one with --where {others[0] if others else 'AXIS'}=VALUE")
        seen[place] = run
        number = run.value(value) if run.label else None
        if number is None:
            failed.append(place)
        else:
            cells[place] = number
    if not cells:
        raise unknown("number", value, value_names(runs), sweep.source)
    return cells, failed


def _cell_size(columns: int, rows: int) -> tuple[float, float]:
    return (max(SMALLEST_CELL, min(CELL_WIDTH, WIDEST / columns)),
            max(SMALLEST_CELL, min(CELL_HEIGHT, HIGHEST / rows)))


def _is_turned(columns: list[str], width: float) -> bool:
    return max(map(len, columns)) * INCHES_PER_LETTER > width


def _frame(size: tuple[float, float], columns: list[str], rows: list[str]) -> tuple[Figure, Axes]:
    left = 0.75 + INCHES_PER_LETTER * max(map(len, rows))
    foot = 0.95 + (INCHES_PER_LETTER * max(map(len, columns)) if _is_turned(columns, size[0]) else 0)
    width, height = size[0] * len(columns), size[1] * len(rows)
    room = max(BAR_GAP + BAR_ROOM, LEAST_WIDTH - left - width)
    figure, [axes] = style.frame(left + width + room, height, style.Margins(left, room, 0.95, foot))
    return figure, axes


def _fill(axes: Axes, grid, columns: list[str], rows: list[str], failed: list[tuple[int, int]], value: str,
          size: tuple[float, float]) -> None:
    norm = _norm(grid)
    for row, column in numpy.ndindex(grid.shape):
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **NOTHING))
    image = axes.imshow(grid, cmap=HEAT, norm=norm, aspect="auto", interpolation="nearest", zorder=2)
    texts = [[_text(value, number) for number in line] for line in grid]
    longest = max(len(text) for line in texts for text in line)
    if longest * INCHES_PER_LETTER <= size[0] and TEXT_HEIGHT <= size[1]:
        for row, column in numpy.ndindex(grid.shape):
            if numpy.isfinite(grid[row, column]):
                dark = norm(grid[row, column]) > DARK_FROM
                axes.text(column, row, texts[row][column], ha="center", va="center", zorder=3,
                          color="white" if dark else style.INK)
        for row, column in failed:
            axes.text(column, row, "failed", ha="center", va="center", color=style.GREY, style="italic", zorder=3,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    axes.set_xticks(range(len(columns)), columns, rotation=90 if _is_turned(columns, size[0]) else 0)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    _colour_bar(axes, image, value)


def _norm(grid):
    low, high = numpy.nanmin(grid), numpy.nanmax(grid)
    if low > 0 and high / low > LOG_FROM_RATIO:
        return LogNorm(low, high)
    return Normalize(low, high if high > low else low + 1)


def _colour_bar(axes: Axes, image, value: str) -> None:
    figure = axes.figure
    width = figure.get_size_inches()[0]
    place = axes.get_position()
    bar = figure.add_axes([place.x1 + BAR_GAP / width, place.y0, BAR_WIDTH / width, place.height])
    shown = figure.colorbar(image, cax=bar, format=lambda number, _: _text(value, number))
    shown.outline.set_visible(False)
    bar.minorticks_off()
    bar.grid(visible=False)
    if isinstance(image.norm, LogNorm):
        bar.set_yticks(ticks.decade_ticks(image.norm.vmin, image.norm.vmax) or [image.norm.vmin])


def _text(value: str, number: float) -> str:
    if not numpy.isfinite(number):
        return ""
    if value == "speedup":
        return f"{number:.2f}x"
    if value.endswith("_s"):
        return quantities.time_text(float(number))
    if "bytes" in value:
        return quantities.size_text(float(number))
    return f"{number:.3g}"


def _caption(figure: Figure, sweep: Points, label: str, value: str, where: held.Where, has_holes: bool) -> None:
    notes = [held.at_text(where)] if where else []
    notes.append("darker is more" + ("; hatched: failed, or not in the sweep" if has_holes else ""))
    version = f" {', '.join(sweep.versions)}" if sweep.versions else " (version: see results.jsonl)"
    style.caption(figure, f"{TITLES.get(value, value)} of {label or 'all collectives'}", "; ".join(notes),
                  f"simulated with equarx-sim{version}; {len(sweep.keys())} points, "
                  f"hash of their configurations {sweep.digest()}")
