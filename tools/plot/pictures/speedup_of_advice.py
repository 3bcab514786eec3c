"""Speedup of quantization against tensor size as advised, with verdict, 68 % interval and break-even size."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from drawing import sheet, style
from pictures import answers, intervals, series
from read.advice import Advice
from read.errors import TooMuch
from words import quantities

BREAK_EVEN_LINE = {"color": style.GREY, "linestyle": ":", "linewidth": 1.4}
INTERVAL = {"color": style.INK, "linewidth": 1.6}
CAP_SIZE = 8
# In points, from the lower end of the line.
NOTE_OFFSET = (4, 4)
# In points, from the marker of the verdict.
ANSWER_OFFSET = (0, -16)
PANEL_WIDTH = 5.5


def draw(advice: list[Advice]) -> Figure:
    """One panel for each machine; throws TooMuch for several collectives or element types."""
    for one in advice:
        if (one.collective, one.dtype) != (advice[0].collective, advice[0].dtype):
            raise TooMuch("advice for several collectives or element types; draw them one by one")
    looks = style.looks(list(dict.fromkeys(one.quantized for one in advice)))
    is_single = len(advice) == 1
    titles = None if is_single else [f"{one.site}{_note(one)}" for one in advice]
    width = 9 if is_single else PANEL_WIDTH * sheet.across(len(advice))
    figure, panels = sheet.frame(width, 3.6, sheet.Margins(), titles, is_free=True)
    for axes, one in zip(panels, advice):
        _draw_panel(axes, one, looks[one.quantized])
    highest = max([speedup for one in advice for _, speedup in one.sizes] +
                  [one.interval[1] for one in advice if one.interval])
    plain = " or ".join(dict.fromkeys(one.plain for one in advice))
    series.speedup_axis(panels, highest, f"speedup over {plain}")
    subject = f"{advice[0].collective} of {advice[0].dtype}"
    sheet.caption(figure, f"Advised speedup of one {advice[0].collective} against tensor size",
                  f"{subject} on each of {advice[0].machine}{_note(advice[0])}" if is_single else subject,
                  _legend(advice, looks))
    return figure


def _note(advice: Advice) -> str:
    """Verdict, speedup and interval at the configured size; of a workload without the verdict."""
    if advice.workload:
        return f"; {advice.workload}"
    interval = f", {quantities.interval_text(*advice.interval)}" if advice.interval else ""
    return f"; quantize {quantities.size_text(advice.tensor_bytes)}? {advice.answer}: {advice.speedup:.2f}x{interval}"


def _draw_panel(axes: Axes, advice: Advice, look: style.Look) -> None:
    sizes, speedups = zip(*advice.sizes)
    series.size_axis(axes, [*sizes, advice.tensor_bytes])
    axes.axhline(1, color=style.INK, linewidth=1)
    axes.plot(sizes, speedups, color=look.colour, marker=look.marker, linestyle=look.line)
    if advice.speedup is not None:
        answer = answers.LOOKS[advice.answer]
        axes.plot([advice.tensor_bytes], [advice.speedup], color=answer.colour, marker=answer.marker,
                  markersize=answers.SIZE, linestyle="none", zorder=5)
        axes.annotate(advice.answer, (advice.tensor_bytes, advice.speedup), ANSWER_OFFSET,
                      textcoords="offset points", ha="center", va="center", weight="bold", color=answer.colour)
    if advice.interval:
        low, high = advice.interval
        middle = (low + high) / 2
        axes.errorbar([advice.tensor_bytes], [middle], [[middle - low], [high - middle]], fmt="none", zorder=4,
                      capsize=CAP_SIZE, ecolor=INTERVAL["color"], elinewidth=INTERVAL["linewidth"])
    if advice.break_even_bytes:
        axes.axvline(advice.break_even_bytes, **BREAK_EVEN_LINE)
        axes.annotate(quantities.size_text(advice.break_even_bytes), (advice.break_even_bytes, 0), NOTE_OFFSET,
                      xycoords=axes.get_xaxis_transform(), textcoords="offset points", size=style.SMALL,
                      color=style.GREY)


def _legend(advice: list[Advice], looks: dict[str, style.Look]) -> list[list[Line2D]]:
    handles = [Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line, label=label)
               for label, look in looks.items()]
    handles.append(Line2D([], [], color=style.INK, linewidth=1, label="unquantized, 1x"))
    if any(one.break_even_bytes for one in advice):
        handles.append(Line2D([], [], label="break-even size", **BREAK_EVEN_LINE))
    if any(one.interval for one in advice):
        handles.append(Line2D([], [], label=intervals.LABEL, linestyle="none", marker="|", markersize=10,
                              markeredgewidth=INTERVAL["linewidth"], color=INTERVAL["color"]))
    return [handles, answers.handles([one.answer for one in advice if one.speedup is not None])]
