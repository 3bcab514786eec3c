"""One value of a sweep over two of its axes, as a heat map."""
import dataclasses

import numpy
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from drawing import measure, sheet, style, ticks
from pictures import subject
from read.errors import InputError, TooMuch, unknown
from read.points import Point, Points, value_names
from words import quantities
from words.axes import LABEL, axis_text
from words.names import short

# Monotonically darker, readable without colours.
HEAT = LinearSegmentedColormap.from_list("value", ["#fdf0d5", "#f6b26b", "#d95f2b", "#8c1d18", "#2b0508"])
DARK_FROM = 0.5
NOTHING = {"facecolor": "#ffffff", "edgecolor": "#bbbbbb", "hatch": "///", "linewidth": 0}
LOG_FROM_RATIO = 50
# In inches.
CELL_WIDTH, CELL_HEIGHT = 0.92, 0.46
SMALLEST_CELL, WIDEST, HIGHEST = 0.12, 10.0, 7.0
BAR_WIDTH, BAR_GAP, BAR_ROOM = 0.18, 0.25, 1.05
LEAST_WIDTH = 7.5
TITLES = {"time_s": "Time", "speedup": "Speedup", "sqnr_db": "SQNR (dB)", "nmse": "NMSE", "mse": "MSE",
          "lower_bound_s": "Lower bound of the time"}
TEXT_HEIGHT, TEXT_GAP = 0.2, 0.08
# Least speedup that counts as a gain.
BREAK_EVEN = 1 - 1e-9
BREAK_EVEN_LINE = {"color": style.BLUE, "linewidth": 3, "solid_capstyle": "projecting", "zorder": 4}


def draw(sweep: Points, x: str, y: str, value: str, label: str) -> Figure:
    """A cell for each pair of values of the axes x and y; throws TooMuch if other axes have several values.

    Draws the runs of the label (default: the only one besides the baseline), or all if x or y is LABEL.
    """
    if LABEL in (x, y):
        if label:
            raise InputError(f"--{'x' if x == LABEL else 'y'} label draws all collectives: omit --label")
        sweep = _by_label(sweep)
    else:
        label = _label(sweep, label)
    _check_axes(sweep, x, y)
    runs = [run for run in sweep.points if LABEL in (x, y) or run.label in (label, "")]
    if not any(run.label for run in runs):
        raise InputError(f"{sweep.source}: no run of '{label or LABEL}'")
    columns, rows = _steps(runs, x), _steps(runs, y)
    cells, empty = _cells(sweep, runs, x, y, value)
    grid = numpy.full((len(rows), len(columns)), numpy.nan)
    for (column, row), number in cells.items():
        grid[rows.index(row), columns.index(column)] = number
    names = [[short(step) for step in steps] for steps in (columns, rows)]
    figure, axes, size = _frame(*names)
    _fill(axes, grid, *names, [(rows.index(row), columns.index(column), text) for (column, row), text in empty.items()],
          value, size)
    labels = sweep.config_labels()
    axes.set_xlabel(axis_text(x, labels))
    axes.set_ylabel(axis_text(y, labels))
    is_crossed = value == "speedup" and _mark_break_even(axes, grid)
    _caption(figure, runs, label, value, bool(numpy.isnan(grid).any()), is_crossed)
    return figure


def _label(sweep: Points, wanted: str) -> str:
    labels = _labels(sweep)
    if wanted:
        if wanted not in labels:
            raise unknown("label", wanted, labels, sweep.source)
        return wanted
    candidates = [label for label in labels if label not in _baselines(sweep)] or labels
    if len(candidates) > 1:
        raise InputError(f"{sweep.source}: several collectives; give --label one of: {', '.join(labels)}; "
                         f"or --y {LABEL} for all")
    return candidates[0]


def _baselines(sweep: Points) -> set[str]:
    """Labels of the baselines; for tables, which have no configurations, the labels with speedups of 1 only."""
    configured = {point.config["baseline"] for point in sweep.points if "baseline" in point.config}
    return configured or {label for label in sweep.labels()
                          if {run.value("speedup") for run in sweep.points if run.label == label} == {1.0}}


def _by_label(sweep: Points) -> Points:
    """The sweep with the label as a further axis. A failed point counts for all labels."""
    labels = _labels(sweep)
    return dataclasses.replace(sweep, points=[
        dataclasses.replace(run, axes=run.axes | {LABEL: label})
        for run in sweep.points for label in ([run.label] if run.label else labels)])


def _labels(sweep: Points) -> list[str]:
    labels = sweep.labels()
    if not labels:
        raise InputError(f"{sweep.source}: no run: all points failed, or there are none")
    return labels


def _check_axes(sweep: Points, x: str, y: str) -> None:
    known = sweep.axes()
    for axis in (x, y):
        if axis not in known:
            raise unknown("axis", axis, known, sweep.source)
    if x == y:
        raise InputError(f"--x and --y are both {x}; give two axes of: {', '.join(known)}")


def _steps(runs: list[Point], axis: str) -> list[str]:
    """The values of an axis: sizes and numbers sorted, others in the order of the sweep."""
    steps = list(dict.fromkeys(run.axes[axis] for run in runs))
    sizes = [quantities.size_of(step) for step in steps]
    return steps if None in sizes else [step for _, step in sorted(zip(sizes, steps))]


def _cells(sweep: Points, runs: list[Point], x: str, y: str, value: str):
    """Numbers by cell, and a word for each cell without one: 'failed', 'too large'."""
    cells: dict[tuple[str, str], float] = {}
    seen: dict[tuple[str, str], Point] = {}
    empty = {}
    for run in runs:
        place = run.axes[x], run.axes[y]
        if place in seen:
            raise TooMuch(f"{sweep.source}: several points at {x} = {place[0]}, {y} = {place[1]}",
                          *((one.path, one.line) for one in (seen[place], run)))
        seen[place] = run
        number = run.value(value) if run.label else None
        if number is None:
            empty[place] = "too large" if run.does_not_fit else "failed"
        else:
            cells[place] = number
    if not cells:
        raise unknown("number", value, value_names(runs), sweep.source)
    return cells, empty


def _frame(columns: list[str], rows: list[str]) -> tuple[Figure, Axes, tuple[float, float]]:
    """A figure for a cell of each column and row, and the size of a cell in inches."""
    left = 0.5 + measure.widest(rows)
    right = BAR_GAP + style.inches(BAR_ROOM)
    wished = sheet.width_for(WIDEST + left + right) - left - right
    width = max(SMALLEST_CELL, min(style.inches(CELL_WIDTH), wished / len(columns)))
    height = max(SMALLEST_CELL, min(style.inches(CELL_HEIGHT), HIGHEST / len(rows)))
    foot = 0.5 + (measure.widest(columns) if _is_turned(columns, width) else 0)
    natural = max(left + width * len(columns) + right, LEAST_WIDTH)
    room = sheet.width_for(natural) - left - width * len(columns)
    sheet.check_room(room, right)
    figure, [axes] = sheet.frame(natural, height * len(rows), sheet.Margins(left, room, foot=foot))
    return figure, axes, (width, height)


def _is_turned(columns: list[str], width: float) -> bool:
    return measure.widest(columns) + TEXT_GAP > width


def _fill(axes: Axes, grid, columns: list[str], rows: list[str], empty: list[tuple[int, int, str]], value: str,
          size: tuple[float, float]) -> None:
    norm = _norm(grid)
    for row, column in numpy.ndindex(grid.shape):
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **NOTHING))
    image = axes.imshow(grid, cmap=HEAT, norm=norm, aspect="auto", interpolation="nearest", zorder=2)
    texts = [[_text(value, number) for number in line] for line in grid]
    longest = measure.widest(text for line in texts for text in line)
    if longest + TEXT_GAP <= size[0] and style.inches(TEXT_HEIGHT) <= size[1]:
        for row, column in numpy.ndindex(grid.shape):
            if numpy.isfinite(grid[row, column]):
                dark = norm(grid[row, column]) > DARK_FROM
                axes.text(column, row, texts[row][column], ha="center", va="center", zorder=3,
                          color="white" if dark else style.INK)
        for row, column, text in empty:
            axes.text(column, row, text, ha="center", va="center", color=style.GREY, style="italic", zorder=3,
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
    shown = figure.colorbar(image, cax=bar, format=lambda number, _: _tick_text(value, number))
    shown.outline.set_visible(False)
    bar.minorticks_off()
    bar.grid(visible=False)
    if isinstance(image.norm, LogNorm):
        bar.set_yticks(ticks.decade_ticks(image.norm.vmin, image.norm.vmax) or [image.norm.vmin])


def _mark_break_even(axes: Axes, grid) -> bool:
    """Draws a line between speedups above and below 1x; returns True if there is one."""
    gains = grid >= BREAK_EVEN
    known = numpy.isfinite(grid)
    lines = []
    for row, column in numpy.ndindex(grid.shape):
        for down, right in ((1, 0), (0, 1)):
            other = row + down, column + right
            if other[0] < grid.shape[0] and other[1] < grid.shape[1] and known[row, column] and known[other] \
                    and gains[row, column] != gains[other]:
                x, y = column + right / 2, row + down / 2
                lines.append(([x - down / 2, x + down / 2], [y - right / 2, y + right / 2]))
    for across, down in lines:
        axes.plot(across, down, **BREAK_EVEN_LINE)
    return bool(lines)


def _tick_text(value: str, number: float) -> str:
    """Label of a tick, which is a round number."""
    if value == "speedup":
        return f"{number:.4g}x"
    return quantities.time_text(float(number)) if value.endswith("_s") else _text(value, number)


def _text(value: str, number: float) -> str:
    if not numpy.isfinite(number):
        return ""
    if value == "speedup":
        return f"{number:.2f}x"
    if value.endswith("_s"):
        return quantities.measured_time(float(number))
    if "bytes" in value:
        return quantities.size_text(float(number))
    return quantities.significant(number, 3)


def _caption(figure: Figure, runs: list[Point], label: str, value: str, has_holes: bool, is_crossed: bool) -> None:
    # Tables have no configurations.
    rows = [run.row() for run in runs if run.label and run.config]
    notes = [subject.context(rows)] if rows else []
    notes.append("darker: larger" + ("; hatched: failed, too large for the HBM, or excluded" if has_holes else ""))
    if is_crossed:
        notes.append("blue line: break-even, 1x")
    sheet.caption(figure, f"{TITLES.get(value, value)} of {label or 'all collectives'}", "; ".join(notes))
