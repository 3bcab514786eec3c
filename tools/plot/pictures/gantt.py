"""The pipeline of one chip: instructions of its core, and transfers on its links."""
import dataclasses

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from drawing import columns, measure, sheet, style, ticks
from read.errors import InputError
from read.trace_file import ChipTrace, Row, Slice
from words import quantities


@dataclasses.dataclass(frozen=True)
class Look:
    """Name and style of a kind of slice; hatches are distinguishable without colours."""

    name: str
    colour: str
    hatch: str = ""
    dark: bool = False


CORE_LOOKS = {
    "cast": Look("cast", "#9ecae1", ".."),
    "find scales": Look("find scales", "#fdd0a2"),
    "encode scales": Look("encode scales", "#fd8d3c", "xxxx"),
    "quantize": Look("quantize", "#f6e27f", "\\\\\\\\"),
    "accumulate": Look("accumulate", "#74c476"),
    "add": Look("add (sums in the wire format)", "#74c476", "||||"),
    "reduce": Look("reduce", "#238b45", "++", dark=True),
    "dequantize": Look("dequantize", "#c7e9c0", "////"),
    "cast back": Look("cast back", "#9ecae1", "//"),
    "store": Look("store", "#d9d9d9", "----"),
    "barrier": Look("barrier", "#bdbdbd", "oo"),
    "send": Look("DMA start (send)", style.INK, dark=True),
    "wait": Look("arrival check (wait)", "#777777", dark=True),
    "other work": Look("other work", "#bcbddc"),
    "startup": Look("startup", "#cab2d6", "\\\\\\\\"),
    "idle": Look("idle", "#ffffff", "...."),
}
CORE_TITLE, LINK_TITLE = "core:", "links:"
SYNCHRONISATION = "synchronisation"
OF_NO_TILE = (SYNCHRONISATION, "idle", "other work", "startup")
LINK_LOOKS = {
    "payload": Look("payload", "#a6cee3"),
    "scales": Look("scales", style.BLUE, "xxxx", dark=True),
    SYNCHRONISATION: Look("per-hop sync", "#fdd0a2", "////"),
    "no transfer": Look("idle", "#ffffff", "...."),
}
# Hatches have the colour of edges; darker dense hatches would look black.
EDGE = {"edgecolor": "#555555", "linewidth": 0.5}
IDLE_EDGE = {"edgecolor": "#c8c8c8", "linewidth": 0.5}
PHASE_LINE = {"color": style.VERMILION, "linestyle": (0, (4, 2)), "linewidth": 1.3}
# More are not distinguishable.
MOST_SLICES = 6000
WIDTH, ROW_PITCH, BAR = 15.0, 0.52, 0.74
# Columns of shares end here, in inches right of the panel.
BUSY_AT, SYNC_AT, RIGHT = 0.62, 1.72, 1.9
LEGEND_COLUMNS = 8
# Narrower slices have no edge.
EDGE_FROM_PIXELS = 6
LETTER_POINTS, TEXT_PAD = 4.6, 1.2
MICROSECOND = 1e-6
POINTS_PER_INCH = 72


def draw(trace: ChipTrace, start: float, end: float | None) -> Figure:
    """One row for the core and for each link direction, from start to end in seconds (to the end if None)."""
    end = trace.time_s if end is None else min(end, trace.time_s)
    if start >= end:
        raise InputError(f"--from {quantities.time_text(start)} is not before the end, "
                         f"{quantities.time_text(end)}")
    rows = [Row(row.name, _visible(row, start, end), row.is_core) for row in trace.rows]
    _check_count(rows, start, end)
    left = max(style.inches(0.9), sheet.EDGE + 0.1 + measure.widest(row.name for row in rows))
    figure, [axes] = sheet.frame(WIDTH, ROW_PITCH * (len(rows) + 0.3),
                                 sheet.Margins(left=left, right=style.inches(RIGHT), head=0.35))
    _prepare(axes, rows, start, end)
    for place, row in enumerate(rows):
        _draw_row(axes, place, row, start, end)
    _mark_phases(axes, trace, start, end)
    _write_shares(axes, rows, end - start)
    sheet.caption(figure, f"Pipeline of {trace.chip_text}, {trace.label}", _subtitle(trace, start, end), _legend(rows),
                  sheet.source(more="s: shard, by the rank it belongs to; m: minishard; u: microshard"))
    return figure


def _visible(row: Row, start: float, end: float) -> list[Slice]:
    """The slices between start and end, clipped."""
    seen = [slice for part in row.slices for slice in _parts(part, row.is_core)]
    return [dataclasses.replace(slice, start=max(slice.start, start), end=min(slice.end, end))
            for slice in seen if slice.end > start and slice.start < end]


def _parts(slice: Slice, is_core: bool) -> list[Slice]:
    """The synchronization before a transfer, and the transfer."""
    pause = 0.0 if is_core else slice.args.get("synchronisation_us", 0) * MICROSECOND
    if pause <= 0 or pause >= slice.end - slice.start:
        return [slice]
    middle = slice.start + pause
    return [dataclasses.replace(slice, end=middle, name=SYNCHRONISATION), dataclasses.replace(slice, start=middle)]


def _check_count(rows: list[Row], start: float, end: float) -> None:
    count = sum(len(row.slices) for row in rows)
    if count == 0:
        raise InputError("no slices between --from and --to")
    if count > MOST_SLICES:
        part = start + (end - start) * MOST_SLICES / count / 2
        raise InputError(f"{count} slices are not distinguishable; draw a part of the time, like "
                         f"--from '{quantities.time_text(start)}' --to '{quantities.time_text(part)}'")


def _look(row: Row, slice: Slice) -> Look:
    looks = CORE_LOOKS if row.is_core else LINK_LOOKS
    if slice.name not in looks:
        raise InputError(f"the trace has '{slice.name}' in '{row.name}', which is unknown to this picture")
    return looks[slice.name]


def _write_shares(axes: Axes, rows: list[Row], duration: float) -> None:
    """Shares of the time: core instructions or transfers, and synchronization before transfers."""
    busy = [f"{_total(row) / duration:.0%}" for row in rows]
    sync = ["" if row.is_core else f"{_total(row, SYNCHRONISATION) / duration:.0%}" for row in rows]
    for inches, head, texts in ((BUSY_AT, "busy", busy), (SYNC_AT, "per-hop sync", sync)):
        columns.write(axes, inches, head, range(len(rows)), texts, [False] * len(rows))


def _total(row: Row, name: str = "") -> float:
    """Duration of the slices of that name; without one, of all but idle and synchronization."""
    return sum(slice.end - slice.start for slice in row.slices
               if (slice.name == name if name else slice.name not in ("idle", SYNCHRONISATION)))


def _prepare(axes: Axes, rows: list[Row], start: float, end: float) -> None:
    axes.set_xlim(start, end)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    ticks.duration_axis(axes.xaxis, end)


def _draw_row(axes: Axes, place: int, row: Row, start: float, end: float) -> None:
    if not row.is_core:  # background of the slices: idle
        look = LINK_LOOKS["no transfer"]
        axes.add_patch(Rectangle((start, place - BAR / 2), end - start, BAR, facecolor=look.colour, hatch=look.hatch,
                                 **IDLE_EDGE))
    for slice in row.slices:
        look = _look(row, slice)
        axes.add_patch(Rectangle((slice.start, place - BAR / 2), slice.end - slice.start, BAR,
                                 facecolor=look.colour, hatch=look.hatch, **_edge(axes, slice)))
        _write(axes, place, slice, look)


def _edge(axes: Axes, slice: Slice) -> dict:
    if slice.name == "idle":
        return IDLE_EDGE
    return EDGE if _width(axes, slice) >= EDGE_FROM_PIXELS else {**EDGE, "linewidth": 0.0}


def _width(axes: Axes, slice: Slice) -> float:
    """Width in pixels at the resolution of the layout."""
    left, right = axes.transData.transform([(slice.start, 0), (slice.end, 0)])[:, 0]
    return right - left


def _write(axes: Axes, place: int, slice: Slice, look: Look) -> None:
    """Writes shard, minishard and microshard into the bar, as far as they fit."""
    if slice.name in OF_NO_TILE:
        return
    pixels_per_point = axes.figure.dpi / POINTS_PER_INCH
    for text in _texts(slice):
        lines = text.split("\n")
        if (max(map(len, lines)) * LETTER_POINTS + 2 * TEXT_PAD) * pixels_per_point < _width(axes, slice):
            axes.text((slice.start + slice.end) / 2, place, text, ha="center", va="center", size=style.SMALL - 1,
                      color="white" if look.dark else style.INK, linespacing=0.95, clip_on=True,
                      bbox={"facecolor": look.colour, "edgecolor": "none", "pad": TEXT_PAD} if look.hatch else None)
            return


def _texts(slice: Slice) -> list[str]:
    """Texts from the most to the least detailed."""
    args = slice.args
    shard = f"s{args['shard']}" if "shard" in args else ""
    part = f"m{args['minishard']}" + (f"u{args['microshard']}" if "microshard" in args else "")
    return [f"{shard} {part}".strip(), f"{shard}\n{part}".strip(), part]


def _mark_phases(axes: Axes, trace: ChipTrace, start: float, end: float) -> None:
    """Marks the begin of the second phase on this core."""
    core = trace.rows[0]
    if any(slice.name == "other work" for slice in core.slices):
        return  # many collectives
    begins = [slice.start for slice in core.slices if slice.args.get("phase") == "AllGather"]
    if not begins or not any(slice.args.get("phase") == "ReduceScatter" for slice in core.slices):
        return
    first = min(begins)
    if not start < first < end:
        return
    axes.axvline(first, zorder=4, **PHASE_LINE)
    for text, side in (("ReduceScatter ", "right"), (" AllGather", "left")):
        axes.annotate(text, (first, 1), (0, 3), xycoords=axes.get_xaxis_transform(), textcoords="offset points",
                      ha=side, va="bottom", size=style.SMALL, color=style.VERMILION, annotation_clip=False)


def _legend(rows: list[Row]) -> list[list[Patch]]:
    """Kinds of slices in the picture: of the core, then of the links."""
    core = {slice.name for row in rows if row.is_core for slice in row.slices}
    link = {slice.name for row in rows if not row.is_core for slice in row.slices} | {"no transfer"}
    lines = []
    for title, looks, used in ((CORE_TITLE, CORE_LOOKS, core), (LINK_TITLE, LINK_LOOKS, link)):
        handles = [Patch(label=look.name, facecolor=look.colour, hatch=look.hatch, **EDGE)
                   for name, look in looks.items() if name in used]
        for first in range(0, len(handles), LEGEND_COLUMNS):
            head = Patch(label="" if first else title, facecolor="none", edgecolor="none")
            lines.append([head, *handles[first:first + LEGEND_COLUMNS]])
    return lines


def _subtitle(trace: ChipTrace, start: float, end: float) -> str:
    part = "" if start <= 0 and end >= trace.time_s else \
        f"; {quantities.time_text(start)} to {quantities.time_text(end)}"
    return f"{trace.what}; total time {quantities.time_text(trace.time_s)}{part}"
