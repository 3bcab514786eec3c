"""Time breakdown of prefills, over the tokens of the prompt."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from drawing import sheet, style
from pictures import prefill
from pictures.parts import Part, check_whole
from read import paper
from read.row import Row
from words import quantities

PARTS = [
    Part("matrix_s", "GEMMs", "GEMMs", "#a6cee3", ""),
    Part("attention_s", "attention", "attention", "#fdd0a2", "////"),
    Part("elementwise_s", "norms and element-wise", "element-wise", "#ffffff", "...."),
    Part("allreduce_s", "AllReduces", "AllReduces", "#999999", "xxxx"),
]
# Times are normalized to this many tokens, for prompts of all lengths to fit one axis.
PER_TOKENS = 1024
MILLISECONDS = 1e3
# Shares of the distance between two prompts.
GROUP_WIDTH, BAR_SHARE = 0.84, 0.86
# Name and time are written vertically above each bar.
NAME_LIFT, ROOM_ABOVE = 7, 1.42
NAME_BACKGROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
PAPER_LOOK = {"color": style.ORANGE, "marker": "*", "markersize": 10, "linestyle": "none",
              "markeredgecolor": style.INK, "markeredgewidth": 0.7}
PANEL_WIDTH = 7


def draw(rows: list[Row]) -> Figure:
    """A panel for each model, a group of bars for each number of tokens, a stacked bar for each label."""
    groups = prefill.panels(rows)
    for group in groups:
        for row in group:
            check_whole(row, PARTS)
    width = PANEL_WIDTH * sheet.across(len(groups), prefill.MOST_ACROSS)
    height = 3.4 if sheet.has_fixed_width() else 4.4
    figure, panels = sheet.frame(width, height, sheet.Margins(), list(map(prefill.title, groups)),
                                 1 if sheet.has_fixed_width() else prefill.MOST_ACROSS)
    for axes, group in zip(panels, groups):
        _draw_panel(axes, group)
    panels[0].set_ylim(0, ROOM_ABOVE * max(map(_height, (row for group in groups for row in group))))
    sheet.label_rows(panels, f"time for {PER_TOKENS} tokens (ms)")
    marked = any(_paper_time(row) for group in groups for row in group)
    star = [Line2D([], [], label="paper", **PAPER_LOOK)] if marked else []
    sheet.caption(figure, "Time breakdown of a prefill",
                  f"{prefill.context(groups)}; bars: time divided by tokens / {PER_TOKENS}; "
                  "above them: time",
                  [[*(Patch(label=part.name, **part.look()) for part in PARTS), *star]],
                  sheet.source(paper.CITATION if marked else ""))
    return figure


def _height(row: Row) -> float:
    return _scaled(row, row.number("time_s"))


def _scaled(row: Row, time_s: float) -> float:
    return MILLISECONDS * time_s * PER_TOKENS / row.number("tokens")


def _paper_time(row: Row) -> float:
    point = paper.prefill(row)
    return point.time_s if point else 0.0


def _draw_panel(axes: Axes, group: list[Row]) -> None:
    tokens = sorted({row.number("tokens") for row in group})
    labels = list(dict.fromkeys(row.text("label") for row in group))
    pitch = GROUP_WIDTH / len(labels)
    for row in group:
        place = tokens.index(row.number("tokens"))
        _draw_bar(axes, row, place + pitch * (labels.index(row.text("label")) - (len(labels) - 1) / 2), pitch)
    axes.set_xticks(range(len(tokens)), [f"{count:.0f}" for count in tokens])
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("tokens of the prompt")


def _draw_bar(axes: Axes, row: Row, place: float, pitch: float) -> None:
    bottom = 0.0
    for part in PARTS:
        height = _scaled(row, row.number(part.column))
        axes.bar(place, height, bottom=bottom, width=BAR_SHARE * pitch, **part.look())
        bottom += height
    reported = _paper_time(row)
    if reported:
        axes.plot([place], [_scaled(row, reported)], zorder=3, **PAPER_LOOK)
    axes.annotate(f"{row.text('label')}  {quantities.measured_time(row.number('time_s'))}", (place, bottom),
                  (0, NAME_LIFT), textcoords="offset points", rotation=90, ha="center", va="bottom",
                  size=style.SMALL, bbox=NAME_BACKGROUND)
