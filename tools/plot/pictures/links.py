"""Utilization of both directions of every link of a slice: width and darkness of a bar in its lane."""
import math
import statistics

import numpy
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle

from drawing import measure, sheet, style
from read.errors import InputError
from read.result import Chip, Link, Run
from words import quantities

# Monotonically darker, readable without colours.
HEAT = LinearSegmentedColormap.from_list("busy", ["#fdf0d5", "#f6b26b", "#d95f2b", "#8c1d18", "#2b0508"])
TRACK = {"facecolor": "#f4f4f4", "edgecolor": "#c4c4c4", "linewidth": 0.5}
FAULT = {"marker": "X", "markersize": 9, "color": style.BLUE, "markeredgecolor": "white",
         "markeredgewidth": 1.0, "linestyle": "none"}
LARGEST_AXES = 3
# In units of the distance between chips.
CHIP_SIDE, CHIP_GAP = 0.34, 0.02
LANE_WIDTH, LANE_OFFSET = 0.115, 0.075
TIP = 0.09
STUB = 0.32
# Around the chips, without and with stubs.
MARGIN, MARGIN_WITH_STUBS = 0.26, 0.62
# In inches.
LARGEST_STEP, SMALLEST_STEP, WIDEST_PANEL = 1.05, 0.34, 10.0
LABEL_FROM_STEP = 0.72
LAYER_GAP, LAYER_HEAD = 0.15, 0.28
BAR_WIDTH, BAR_HEIGHT, BAR_ROOM, BAR_GAP = 3.2, 0.2, 0.35, 0.15
LEAST_WIDTH = 7.6
BAR_TEXT = "utilization (% of the time moving bytes)"


def draw(run: Run) -> Figure:
    """Draws the last axis across, the one before it down, and a panel for each layer of a third axis."""
    axes_drawn = _long_axes(run)
    layers = run.shape[axes_drawn[0]] if len(axes_drawn) == LARGEST_AXES else 1
    margin = MARGIN_WITH_STUBS if layers > 1 or not all(_course(link, run)[2] for link in run.links) else MARGIN
    # Height and width of a layer, in units of the distance between chips.
    extent = [length - 1 + 2 * margin for length in _extent(run, axes_drawn)]
    columns = min(layers, math.ceil(math.sqrt(layers * extent[0] / extent[1])))
    widest = sheet.width_for(WIDEST_PANEL + 2 * sheet.EDGE) - 2 * sheet.EDGE - columns * LAYER_GAP
    step = max(SMALLEST_STEP, min(LARGEST_STEP, widest / (columns * extent[1])))
    figure, panels = _frame((extent[1] * step, extent[0] * step), columns, layers)
    for layer, axes in enumerate(panels):
        axes.set_xlim(-margin, extent[1] - margin)
        axes.set_ylim(extent[0] - margin, -margin)
        axes.set_axis_off()
        if layers > 1:
            axes.set_title(f"layer {layer} (first axis)", loc="left", color=style.GREY, pad=2)
        _draw_layer(axes, run, axes_drawn, layer, step)
    _colour_bar(figure)
    _caption(figure, run)
    return figure


def _long_axes(run: Run) -> list[int]:
    """The axes with more than one chip."""
    long = [axis for axis, length in enumerate(run.shape) if length > 1]
    if not 1 <= len(long) <= LARGEST_AXES:
        raise InputError(f"the slice has {len(long)} axes; 1 to {LARGEST_AXES} can be drawn")
    return long


def _extent(run: Run, axes_drawn: list[int]) -> tuple[int, int]:
    """Rows and columns of one layer."""
    across = run.shape[axes_drawn[-1]]
    return (run.shape[axes_drawn[-2]] if len(axes_drawn) > 1 else 1), across


def _frame(size: tuple[float, float], columns: int, layers: int) -> tuple[Figure, list[Axes]]:
    """A figure with a panel of that size, in inches, for every layer."""
    rows = math.ceil(layers / columns)
    head_of_panel = LAYER_HEAD if layers > 1 else 0.0
    pitch = size[0] + LAYER_GAP, size[1] + LAYER_GAP + head_of_panel
    needed = columns * pitch[0] + 2 * sheet.EDGE
    width = sheet.width_for(max(LEAST_WIDTH, needed))
    sheet.check_room(width, needed)
    head = BAR_HEIGHT + BAR_ROOM
    height = head + rows * pitch[1]
    figure = sheet.page(width, height)
    left = (width - columns * pitch[0]) / 2
    panels = []
    for layer in range(layers):
        row, column = divmod(layer, columns)
        bottom = height - head - row * pitch[1] - head_of_panel - size[1]
        panels.append(figure.add_axes([(left + column * pitch[0]) / width, bottom / height,
                                       size[0] / width, size[1] / height]))
    return figure, panels


def _draw_layer(axes: Axes, run: Run, axes_drawn: list[int], layer: int, step: float) -> None:
    chips = sorted({link.start for link in run.links})
    has_layers = len(axes_drawn) == LARGEST_AXES
    here = [chip for chip in chips if not has_layers or chip[axes_drawn[0]] == layer]
    for link in run.links:
        for start, end in _lanes(link, run, axes_drawn, set(here)):
            _draw_lane(axes, start, end, link.busy)
    for chip in here:
        _draw_chip(axes, chip, axes_drawn, step)
    for ends in run.faults:
        for link in run.links:
            if {link.start, link.end} == ends and link.start < link.end:
                for start, end in _lanes(link, run, axes_drawn, set(here)):
                    _mark_fault(axes, start, end)


def _place(chip: Chip, axes_drawn: list[int]) -> numpy.ndarray:
    return numpy.array([chip[axes_drawn[-1]], chip[axes_drawn[-2]] if len(axes_drawn) > 1 else 0], dtype=float)


def _lanes(link: Link, run: Run, axes_drawn: list[int], here: set[Chip]) -> list[tuple]:
    """Lanes of a link direction: from chip to chip, or a stub at each end in this layer."""
    axis, sign, neighbours = _course(link, run)
    if neighbours and (len(axes_drawn) < LARGEST_AXES or axis != axes_drawn[0]):
        return [(_place(link.start, axes_drawn), _place(link.end, axes_drawn))] if link.start in here else []
    away = sign * _direction(axis, axes_drawn)
    stub = away / math.hypot(*away) * (_to_side(away) + STUB)
    lanes = []
    if link.start in here:
        start = _place(link.start, axes_drawn)
        lanes.append((start, start + stub))
    if link.end in here:
        end = _place(link.end, axes_drawn)
        lanes.append((end - stub, end))
    return lanes


def _course(link: Link, run: Run) -> tuple[int, int, bool]:
    """Axis and sign of a link; False if it wraps around instead of joining neighbours."""
    moves = [(axis, end - start) for axis, (start, end) in enumerate(zip(link.start, link.end)) if start != end]
    if len(moves) == 1:
        axis, distance = moves[0]
        if abs(distance) == 1:
            return axis, distance, True
        if abs(distance) == run.shape[axis] - 1:
            return axis, -1 if distance > 0 else 1, False
    raise InputError(f"link {link.name} joins chips that are not neighbours on a grid")


def _direction(axis: int, axes_drawn: list[int]) -> numpy.ndarray:
    """Direction of the next chip along an axis; diagonal for the next layer."""
    if axis == axes_drawn[-1]:
        return numpy.array([1.0, 0.0])
    if len(axes_drawn) > 1 and axis == axes_drawn[-2]:
        return numpy.array([0.0, 1.0])
    return numpy.array([1.0, 1.0])


def _draw_lane(axes: Axes, start: numpy.ndarray, end: numpy.ndarray, busy: float) -> None:
    """Draws a lane on the right-hand side of the link, with a tip at its end, and its bar."""
    along = (end - start) / math.hypot(*(end - start))
    right = numpy.array([-along[1], along[0]])  # right-hand side, as the vertical axis points down
    begin, tip = start + right * LANE_OFFSET, end + right * LANE_OFFSET
    if _is_chip(start):
        begin = begin + along * _to_side(along)
    if _is_chip(end):
        tip = tip - along * _to_side(along)
    axes.add_patch(Polygon(_arrow(begin, tip, along, right, LANE_WIDTH), zorder=1, **TRACK))
    if busy > 0:
        axes.add_patch(Polygon(_arrow(begin, tip, along, right, LANE_WIDTH * busy), zorder=2, linewidth=0,
                               facecolor=HEAT(busy)))


def _is_chip(place: numpy.ndarray) -> bool:
    return all(coordinate == round(coordinate) for coordinate in place)


def _to_side(along: numpy.ndarray) -> float:
    """Distance from the centre of a chip to the start of a lane; diagonal lanes clear the others."""
    if min(map(abs, along)) == 0:
        return CHIP_SIDE / 2 + CHIP_GAP
    edge = LANE_OFFSET + LANE_WIDTH / 2
    return (1 + math.sqrt(2)) * edge + CHIP_GAP


def _arrow(begin, tip, along, right, width) -> list:
    half, shoulder = right * width / 2, tip - along * TIP
    return [begin - half, shoulder - half, tip, shoulder + half, begin + half]


def _draw_chip(axes: Axes, chip: Chip, axes_drawn: list[int], step: float) -> None:
    x, y = _place(chip, axes_drawn)
    axes.add_patch(Rectangle((x - CHIP_SIDE / 2, y - CHIP_SIDE / 2), CHIP_SIDE, CHIP_SIDE, zorder=3,
                             facecolor="white", edgecolor=style.GREY, linewidth=0.8))
    if step >= LABEL_FROM_STEP:
        axes.text(x, y, ",".join(map(str, chip)), ha="center", va="center", size=style.SMALL, zorder=4)


def _mark_fault(axes: Axes, start: numpy.ndarray, end: numpy.ndarray) -> None:
    axes.plot(*((start + end) / 2), zorder=5, **FAULT)


def _caption(figure: Figure, run: Run) -> None:
    shares = sorted((link.busy for link in run.links), reverse=True)
    busiest = max(run.links, key=lambda link: link.busy)
    end = "fails at" if run.failed else "time"
    sheet.caption(figure, f"Link utilization: {run.label}",
                  f"{run.what} on {run.machine}; {end} {quantities.time_text(run.time_s)}\n"
                  f"{len(shares)} link directions: busiest {busiest.name} {shares[0]:.0%}, "
                  f"median {statistics.median(shares):.0%}, least busy {shares[-1]:.0%}",
                  [[Line2D([], [], label="fault", **FAULT)]] if run.faults else [])


def _colour_bar(figure: Figure) -> None:
    """A wedge with the width and darkness of the bars."""
    width, height = figure.get_size_inches()
    bottom = height - BAR_HEIGHT
    bar_width = min(BAR_WIDTH, width - 2 * sheet.EDGE - BAR_GAP - measure.width(BAR_TEXT, style.NORMAL))
    axes = figure.add_axes([sheet.EDGE / width, bottom / height, bar_width / width, BAR_HEIGHT / height])
    axes.set_xlim(0, 100)
    axes.set_ylim(-1, 1)
    gradient = axes.imshow(numpy.linspace(0, 1, 256)[None], cmap=HEAT, extent=(0, 100, -1, 1), aspect="auto",
                           zorder=1)
    wedge = Polygon([(0, 0), (100, 1), (100, -1)], transform=axes.transData)
    gradient.set_clip_path(wedge)
    axes.add_patch(Rectangle((0, -1), 100, 2, zorder=0, **TRACK))
    axes.set_yticks([])
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.grid(False)
    axes.tick_params(length=2, labelsize=style.SMALL)
    for side in axes.spines.values():
        side.set_visible(False)
    figure.text((sheet.EDGE + bar_width + BAR_GAP) / width, (bottom + BAR_HEIGHT / 2) / height, BAR_TEXT, va="center")
