"""Places labels next to points, without overlap of labels and points."""
import dataclasses

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from drawing import style


# Candidate offsets of a label in points, in order of preference: near, then right.
DISTANCES = [8, 16, 28, 42, 58, 76]
DIRECTIONS = [(1, 0), (-1, 0), (1, 0.7), (1, -0.7), (-1, 0.7), (-1, -0.7), (0, 1), (0, -1)]
ALIGN_X = {1: "left", 0: "center", -1: "right"}
MARKER_RADIUS = 5.0
LABEL_PADDING = 1.5
# Least distance of labels with a line to their point.
LEADER_FROM = 16
POINTS_PER_INCH = 72


@dataclasses.dataclass(frozen=True)
class Label:
    """Text of the point (x, y), in data coordinates."""

    x: float
    y: float
    text: str
    colour: str = style.INK
    italic: bool = False


def place(axes: Axes, labels: list[Label], obstacles: list[tuple[float, float]]) -> None:
    """Writes the labels. `obstacles`: other points, in data coordinates. Requires final axis limits."""
    dots = axes.figure.dpi / POINTS_PER_INCH
    taken = [_around(axes, x, y, MARKER_RADIUS * dots)
             for x, y in [*obstacles, *((label.x, label.y) for label in labels)]]
    for label in labels:
        taken.append(_place_one(axes, label, taken, LABEL_PADDING * dots))


def _place_one(axes: Axes, label: Label, taken: list[Bbox], padding: float) -> Bbox:
    renderer = axes.figure.canvas.get_renderer()
    best = None
    for distance in DISTANCES:
        for dx, dy in DIRECTIONS:
            note = axes.annotate(
                label.text, (label.x, label.y), (dx * distance, dy * distance),
                textcoords="offset points", ha=ALIGN_X[dx], va="center", size=style.SMALL,
                color=label.colour, style="italic" if label.italic else "normal")
            box = note.get_window_extent(renderer).padded(padding)
            cost = _covered(box, taken) + _outside(box, axes.bbox)
            if best is None or cost < best[0]:
                if best:
                    best[1].remove()
                best = (cost, note, box, distance)
            else:
                note.remove()
        if best[0] == 0:
            break
    if best[3] >= LEADER_FROM:
        _add_leader(axes, label, best[1])
    return best[2]


def _add_leader(axes: Axes, label: Label, note) -> None:
    axes.annotate("", (label.x, label.y), note.get_position(), textcoords="offset points",
                  arrowprops={"arrowstyle": "-", "color": style.GREY, "linewidth": 0.6,
                              "shrinkA": 1, "shrinkB": MARKER_RADIUS})


def _around(axes: Axes, x: float, y: float, radius: float) -> Bbox:
    across, up = axes.transData.transform((x, y))
    return Bbox.from_extents(across - radius, up - radius, across + radius, up + radius)


def _covered(box: Bbox, taken: list[Bbox]) -> float:
    """Area of the box covered by others."""
    others = np.array([other.extents for other in taken]).T
    left, low, right, high = box.extents
    width = np.minimum(right, others[2]) - np.maximum(left, others[0])
    height = np.minimum(high, others[3]) - np.maximum(low, others[1])
    return float((width.clip(0) * height.clip(0)).sum())


def _outside(box: Bbox, panel: Bbox) -> float:
    return box.width * box.height - _covered(box, [panel])
