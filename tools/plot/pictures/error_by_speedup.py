"""Error against speedup of each candidate."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from drawing import labels, sheet, style, ticks
from pictures import subject
from read import paper
from read.row import Row
from read.rows import check_unique
from words import quantities


# Room around the points for their labels.
SPEEDUP_ROOM = 0.12
ERROR_ROOM = 1.6
# Markers of nearly the same error stay visible: filled inside hollow, both inside the paper's.
MARKER_SIZE, HOLLOW_SIZE, PAPER_SIZE = 6, 10, 17
QUANTIZED = "equarx"
PAPER_LOOK = {"color": style.ORANGE, "marker": "*", "markersize": PAPER_SIZE, "linestyle": "none",
              "markerfacecolor": "none", "markeredgewidth": 1.4}


def draw(rows: list[Row]) -> Figure:
    """MSE of each label relative to the BF16 AllReduce (filled) and to the exact sum (hollow)."""
    check_unique(rows, ["label"])
    figure, [axes] = sheet.frame(9, 3.6 if sheet.has_fixed_width() else 5.2, sheet.Margins(left=0.95))
    reported = _reported(rows)
    places = [place for row in rows for place in _errors(row)] + [(p.speedup, p.mse) for p in reported]
    _prepare(axes, places, _baseline(rows))

    looks = _looks(rows)
    names = []
    for row in rows:
        look = looks[_family(row)]
        _draw_row(axes, row, look)
        x, y = _errors(row)[0]
        names.append(labels.Label(x, y, row.text("label"), look.colour))
    for point in reported:
        axes.plot([point.speedup], [point.mse], zorder=4, **PAPER_LOOK)
        text = ", ".join(filter(None, ["paper", point.ring, point.quantize]))
        names.append(labels.Label(point.speedup, point.mse, text, italic=True))

    subject.check_one(rows)
    sheet.caption(figure, "Error against speedup", subject.context(rows),
                  _legend(looks, bool(reported), _baseline(rows)), sheet.source(paper.CITATION if reported else ""))
    labels.place(axes, names, places)
    return figure


def _reported(rows: list[Row]) -> list[paper.Point]:
    """Figures of the paper for rows of this picture."""
    found = [paper.point(row) for row in rows if paper.same_experiment(row)]
    return list(dict.fromkeys(point for point in found if point))


def _baseline(rows: list[Row]) -> str:
    return f"{subject.baseline(rows)} {subject.collective(rows)}"


def _family(row: Row) -> str:
    """Key of the style: the ring style of EQuARX, otherwise the algorithm."""
    algorithm = row.text("algorithm")
    return row.text("ring") if algorithm == QUANTIZED else "plain ring" if algorithm == "ring" else algorithm


def _looks(rows: list[Row]) -> dict[str, style.Look]:
    return style.looks(list(dict.fromkeys(_family(row) for row in rows)))


def _errors(row: Row) -> list[tuple[float, float]]:
    """Points of the row, filled first; the baseline has no error relative to itself."""
    found = [(row.positive("speedup"), row.number(column))
             for column in ("mse_vs_baseline", "mse") if row.has(column)]
    found = [(speedup, error) for speedup, error in found if error > 0]
    if not found:
        raise row.error(f"'{row.text('label')}' has no error: 'mse' and 'mse_vs_baseline' are empty or 0; "
                        "enable numerics")
    return found


def _prepare(axes: Axes, places: list[tuple[float, float]], baseline: str) -> None:
    speedups, errors = zip(*places)
    room = SPEEDUP_ROOM * max(max(speedups) - min(speedups), 1)
    axes.set_xlim(min(speedups) - room, max(speedups) + room)
    axes.set_yscale("log")
    axes.set_ylim(min(errors) / ERROR_ROOM, max(errors) * ERROR_ROOM)
    ticks.log_axis(axes.yaxis, quantities.error_text)
    ticks.times_axis(axes.xaxis)
    axes.set_xlabel(f"speedup over the {baseline} (right is better)")
    axes.set_ylabel("mean squared error (down is better)")


def _draw_row(axes: Axes, row: Row, look: style.Look) -> None:
    places = _errors(row)
    axes.plot(*zip(*places), color=look.colour, linewidth=0.8, zorder=1)
    if row.has("mse") and row.number("mse") > 0:
        axes.plot([row.number("speedup")], [row.number("mse")], color=look.colour, marker=look.marker,
                  markersize=HOLLOW_SIZE, markerfacecolor="white", zorder=2)
    if row.has("mse_vs_baseline") and row.number("mse_vs_baseline") > 0:
        axes.plot([row.number("speedup")], [row.number("mse_vs_baseline")], color=look.colour,
                  marker=look.marker, markersize=MARKER_SIZE, zorder=3)


def _legend(looks: dict[str, style.Look], with_paper: bool, baseline: str) -> list[list[Line2D]]:
    def mark(look: style.Look, label: str, face=None) -> Line2D:
        return Line2D([], [], color=look.colour, marker=look.marker, markersize=HOLLOW_SIZE if face else MARKER_SIZE,
                      linestyle="none", label=label, markerfacecolor=face or look.colour)

    grey = style.Look(style.GREY, "o", "none")
    families = [mark(look, name) for name, look in looks.items()]
    errors = [mark(grey, f"relative to the {baseline}"), mark(grey, "relative to the exact sum", "white")]
    if with_paper:
        errors.append(Line2D([], [], label=f"paper, {paper.FORMAT} (reference not stated)", **PAPER_LOOK))
    return [families, errors]
