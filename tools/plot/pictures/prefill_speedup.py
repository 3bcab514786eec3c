"""Speedup of prefills over the baseline, over the tokens of the prompt."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MultipleLocator, NullLocator

from drawing import sheet, style, ticks
from pictures import prefill, subject
from read import paper
from read.row import Row
from read.rows import grouped

PAPER_MARKER_SIZE, PAPER_LEGEND_SIZE = 13, 9
TICK_STEP = 0.05
# Margins around the data: tokens as a factor on a logarithmic axis.
TOKEN_MARGIN, ROOM = 1.3, 0.03
PANEL_WIDTH = 5.5


def draw(rows: list[Row]) -> Figure:
    """A panel for each model, a line for each label except the baseline."""
    groups = prefill.panels(rows)
    baseline = subject.baseline([row for group in groups for row in group])
    quantized = [row for group in groups for row in group if row.text("label") != baseline]
    if not quantized:
        raise rows[0].error(f"nothing to compare with {baseline}: no row has another label")
    looks = style.looks(list(dict.fromkeys(row.text("label") for row in quantized)))
    width = PANEL_WIDTH * sheet.across(len(groups), prefill.MOST_ACROSS)
    figure, panels = sheet.frame(width, 3.6, sheet.Margins(), list(map(prefill.title, groups)), prefill.MOST_ACROSS,
                                 is_free=True)
    for axes, group in zip(panels, groups):
        _draw_panel(axes, group, looks)
    speedups = [row.positive("speedup") for row in quantized] + [1.0]
    panels[0].set_ylim(min(speedups) - ROOM, max(speedups) + ROOM)
    panels[0].yaxis.set_major_locator(MultipleLocator(TICK_STEP))
    ticks.times_axis(panels[0].yaxis)
    sheet.label_rows(panels, f"speedup over {baseline} AllReduces")
    reported = [(row.text("label"), point) for row in quantized if (point := paper.prefill(row))]
    sheet.caption(figure, "Speedup of a prefill with quantized AllReduces",
                  f"{prefill.context(groups)}; time with {baseline} AllReduces / time", _legend(looks, reported),
                  sheet.source(paper.CITATION if reported else ""))
    return figure


def _draw_panel(axes: Axes, group: list[Row], looks: dict[str, style.Look]) -> None:
    tokens = sorted({row.number("tokens") for row in group})
    axes.set_xscale("log", base=2)
    axes.set_xlim(tokens[0] / TOKEN_MARGIN, tokens[-1] * TOKEN_MARGIN)
    axes.xaxis.set_major_locator(FixedLocator(tokens))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    axes.set_xlabel("tokens of the prompt")
    axes.axhline(1, color=style.INK, linewidth=1)
    for label, line in grouped(group, "label").items():
        if label not in looks:
            continue
        look = looks[label]
        axes.plot([row.number("tokens") for row in line], [row.number("speedup") for row in line],
                  color=look.colour, marker=look.marker, linestyle=look.line)
        for row in line:
            point = paper.prefill(row)
            if point:
                axes.plot([point.tokens], [point.speedup], markersize=PAPER_MARKER_SIZE, zorder=3,
                          **_paper_mark(look))


def _paper_mark(look: style.Look) -> dict:
    return {"color": look.colour, "marker": look.marker, "markerfacecolor": "none", "markeredgewidth": 1.8,
            "linestyle": "none"}


def _legend(looks: dict[str, style.Look], reported: list[tuple[str, paper.Prefill]]) -> list[list[Line2D]]:
    runs = [Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line, label=label)
            for label, look in looks.items()]
    figures: dict[tuple[str, str, float], list[int]] = {}
    for label, point in reported:
        figures.setdefault((label, point.model, point.speedup), []).append(point.tokens)
    marks = [Line2D([], [], markersize=PAPER_LEGEND_SIZE, **_paper_mark(looks[label]),
                    label=f"paper, {label}: {speedup}x ({model}, {_tokens_text(tokens)} tokens)")
             for (label, model, speedup), tokens in figures.items()]
    rows = [[*runs, Line2D([], [], color=style.INK, linewidth=1, label="baseline, 1x")]]
    return [*rows, marks] if marks else rows


def _tokens_text(tokens: list[int]) -> str:
    return f"{min(tokens)}" if len(tokens) == 1 else f"{min(tokens)} to {max(tokens)}"
