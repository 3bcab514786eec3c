"""A whole step: a row for each stream of a chip, a bar for each task, variants below each other on one scale of time."""
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from drawing import measure, sheet, style
from read.errors import InputError
from read.step import Step, Variant
from words import quantities

# Hatches tell groups apart without colours. Computing is grey.
COMPUTING = [{"facecolor": colour, "hatch": ""} for colour in ("#8c8c8c", "#b5b5b5", "#666666", "#d4d4d4", "#404040")]
OTHERS = [{"facecolor": colour, "hatch": hatch} for colour, hatch in
          [("#a6cee3", "////"), ("#fdd0a2", "xxxx"), ("#c7e9c0", "...."), ("#cab2d6", "\\\\\\\\"), ("#f6e27f", "++++"),
           ("#fb9a99", "----"), ("#ffffff", "||||")]]
LINE = {"edgecolor": style.INK, "linewidth": 0.3}
ON_PATH = {"edgecolor": style.VERMILION, "linewidth": 1.1}
CORE = "core"  # the first row
# In inches, and in rows.
ROW_INCHES, GAP_ROWS, BAR = 0.24, 1.0, 0.74


def draw(step: Step) -> Figure:
    """Of all variants that there are."""
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
    sheet.caption(figure, "What a chip does in a step", f"{step.machine}; the time hangs on tasks with a red border",
                  [[Patch(label=group, **looks[group], **LINE) for group in step.kinds]], sheet.source())
    return figure


def _looks(kinds: dict[str, str]) -> dict[str, dict]:
    """By group."""
    spare = {True: iter(COMPUTING), False: iter(OTHERS)}
    try:
        return {group: next(spare[kind == "computation"]) for group, kind in kinds.items()}
    except StopIteration:
        raise InputError(f"{len(kinds)} groups of tasks cannot be told apart; {len(COMPUTING)} that compute and "
                         f"{len(OTHERS)} others can: give tasks a common \"group\"") from None


def _rows(step: Step) -> list[tuple[str, str, float]]:
    """Variant, stream and place from the top, of each row; a gap for the name of each variant."""
    rows, place = [], 0.0
    for variant in step.variants:
        streams = dict.fromkeys(task.stream for task in variant.tasks)
        for stream in sorted(streams, key=lambda name: name != CORE):
            rows.append((variant.label, stream, place))
            place += 1
        place += GAP_ROWS
    return rows


def _draw_variant(axes, variant: Variant, places: dict[str, float], looks: dict[str, dict]) -> None:
    for number, task in enumerate(variant.tasks):
        on_path = number in variant.path
        axes.barh(places[task.stream], task.end_s - task.start_s, left=task.start_s, height=BAR, **looks[task.group],
                  **(ON_PATH if on_path else LINE), zorder=3 if on_path else 2)
    text = (f"{variant.label}: {quantities.time_text(variant.time_s)}, of which "
            f"{quantities.time_text(variant.exposed_s)} without computing")
    axes.text(0, min(places.values()) - 0.5, text, fontsize=style.SMALL, color=style.INK, va="bottom")
