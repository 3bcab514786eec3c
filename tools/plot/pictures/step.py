"""A step: a row for each stream of a chip, a bar for each task; variants share the time axis."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter

from drawing import measure, sheet, style
from read.errors import InputError
from read.step import Step, Task, Variant
from words import quantities

# Hatches are distinguishable without colours. Compute is grey.
COMPUTING = [{"facecolor": colour, "hatch": ""} for colour in ("#8c8c8c", "#b5b5b5", "#666666", "#d4d4d4", "#404040")]
OTHERS = [{"facecolor": colour, "hatch": hatch} for colour, hatch in
          [("#a6cee3", "////"), ("#fdd0a2", "xxxx"), ("#c7e9c0", "...."), ("#cab2d6", "\\\\\\\\"), ("#f6e27f", "++++"),
           ("#fb9a99", "----"), ("#ffffff", "||||")]]
LINE = {"edgecolor": style.INK, "linewidth": 0.3}
ON_PATH = {"fill": False, "edgecolor": style.VERMILION, "linewidth": 1.3}
CORE = "core"  # the first row
# In inches, and in rows.
ROW_INCHES, GAP_ROWS, BAR = 0.24, 1.0, 0.74
# Tasks closer than this share of the time have one outline.
ROUNDING = 1e-9


def draw(step: Step) -> Figure:
    """Draws all variants."""
    looks = _looks(step.kinds)
    rows = _rows(step)
    left = 2 * sheet.EDGE + measure.widest(stream for _, stream, _ in rows)
    height = (max(place for _, _, place in rows) + 1) * ROW_INCHES
    figure, [axes] = sheet.frame(12, height, sheet.Margins(left=left, head=0.1, foot=0.45))
    for variant in step.variants:
        places = {stream: place for label, stream, place in rows if label == variant.label}
        _draw_variant(axes, variant, places, looks)
    axes.set_yticks([place for _, _, place in rows], [stream for _, stream, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(place for _, _, place in rows) + 0.6, -GAP_ROWS)
    axes.set_xlim(0, max(variant.time_s for variant in step.variants) * 1.001)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: quantities.time_text(seconds) if seconds else "0"))
    axes.set_xlabel("time of one chip")
    groups = [Patch(label=group, **looks[group], **LINE) for group in step.kinds]
    sheet.caption(figure, "Timeline of a step", step.machine, [[*groups, Patch(label="critical path", **ON_PATH)]],
                  sheet.source())
    return figure


def _looks(kinds: dict[str, str]) -> dict[str, dict]:
    """Styles by group."""
    spare = {True: iter(COMPUTING), False: iter(OTHERS)}
    try:
        return {group: next(spare[kind == "computation"]) for group, kind in kinds.items()}
    except StopIteration:
        raise InputError(f"{len(kinds)} groups of tasks; {len(COMPUTING)} of compute and {len(OTHERS)} "
                         "others are distinguishable: give tasks a common \"group\"") from None


def _rows(step: Step) -> list[tuple[str, str, float]]:
    """Variant, stream and position from the top of each row, with a gap above each variant."""
    rows, place = [], 0.0
    for variant in step.variants:
        streams = dict.fromkeys(task.stream for task in variant.tasks)
        for stream in sorted(streams, key=lambda name: name != CORE):
            rows.append((variant.label, stream, place))
            place += 1
        place += GAP_ROWS
    return rows


def _draw_variant(axes: Axes, variant: Variant, places: dict[str, float], looks: dict[str, dict]) -> None:
    for task in variant.tasks:
        axes.barh(places[task.stream], task.end_s - task.start_s, left=task.start_s, height=BAR, zorder=2,
                  **looks[task.group], **LINE)
    for first, last in _outlines(variant):
        axes.add_patch(Rectangle((first.start_s, places[first.stream] - BAR / 2), last.end_s - first.start_s, BAR,
                                 zorder=3, **ON_PATH))
    text = (f"{variant.label}: {quantities.time_text(variant.time_s)}, "
            f"{quantities.time_text(variant.exposed_s)} of it exposed")
    axes.text(0, min(places.values()) - 0.5, text, fontsize=style.SMALL, color=style.INK, va="bottom")


def _outlines(variant: Variant) -> list[tuple[Task, Task]]:
    """First and last task of each contiguous part of the critical path on one stream."""
    parts: list[tuple[Task, Task]] = []
    for task in (variant.tasks[number] for number in variant.path):
        last = parts[-1][1] if parts else None
        if last and last.stream == task.stream and task.start_s - last.end_s <= ROUNDING * variant.time_s:
            parts[-1] = parts[-1][0], task
        else:
            parts.append((task, task))
    return parts
