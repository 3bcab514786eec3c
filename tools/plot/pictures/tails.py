"""SQNR of each collective on Gaussian values and on values from files, such as activations."""
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from drawing import columns, measure, sheet, style
from pictures import subject
from read.row import Row
from read.rows import check_unique, grouped


GAUSSIAN, REAL = "normal", "files"
NAMES = {GAUSSIAN: "Gaussian values", REAL: "values from files"}
MARKS = {
    GAUSSIAN: {"color": style.INK, "marker": "o", "markersize": 8, "markerfacecolor": "white"},
    REAL: {"color": style.BLUE, "marker": "D", "markersize": 7},
}
LOSS_LINE = {"color": style.VERMILION, "linestyle": "-", "linewidth": 3.5}
GAIN_LINE = {"color": style.GREY, "linestyle": ":", "linewidth": 1.8}
# SQNR of one bit of an integer format: 20 log10(2) dB.
BIT_DB = 6.02
ROOM_DB, ROW_INCHES = 3.0, 0.33
# Right edges of the columns, in inches right of the panel.
COLUMNS_AT = {"Gaussian": 0.85, "files": 1.6, "difference": 2.65}


def has_both(rows: list[Row]) -> bool:
    """True if the rows have both Gaussian values and values from files."""
    return {GAUSSIAN, REAL} <= {row.text("values") for row in rows if row.has("values")}


def draw(rows: list[Row]) -> Figure:
    """One line for each label except the baseline, in order of appearance from the top."""
    pairs = _pairs(rows)
    baseline = [label for label, pair in pairs.items() if _is_baseline(pair)]
    drawn = {label: _decibels(pair) for label, pair in pairs.items() if label not in baseline}
    if not drawn:
        raise rows[0].error("only the baseline; nothing to compare it with")
    left = measure.widest(drawn) + 2 * sheet.EDGE
    right = style.inches(max(COLUMNS_AT.values())) + sheet.EDGE
    figure, [axes] = sheet.frame(11, ROW_INCHES * (len(drawn) + 0.4),
                                 sheet.Margins(left=left, right=right, head=0.35))
    for place, decibels in enumerate(drawn.values()):
        _draw_row(axes, place, decibels)
    _label_axes(axes, drawn)
    _write_numbers(axes, list(drawn.values()))

    subject.check_one(rows)
    sheet.caption(figure, "SQNR on heavy-tailed values",
                  "; ".join([f"{subject.context(rows)}; SQNR relative to the exact sum",
                             *(f"not drawn: {_summary(label, pairs[label])}" for label in baseline)]), _legend())
    return figure


def _pairs(rows: list[Row]) -> dict[str, dict[str, Row]]:
    """The rows of each label by kind of values."""
    check_unique(rows, ["label", "values"])
    for row in rows:
        if row.text("values") not in NAMES:
            raise row.error(f"'values' is '{row.text('values')}', but this picture compares "
                            f"'{GAUSSIAN}' with '{REAL}'")
    pairs = {label: {row.text("values"): row for row in group}
             for label, group in grouped(rows, "label").items()}
    for pair in pairs.values():
        if len(pair) != len(NAMES):
            [row] = pair.values()
            [missing] = NAMES.keys() - pair.keys()
            raise row.error(f"'{row.text('label')}' has no row with 'values' '{missing}' to compare with")
    return pairs


def _is_baseline(pair: dict[str, Row]) -> bool:
    return all(row.has("mse_vs_baseline") and row.number("mse_vs_baseline") == 0 for row in pair.values())


def _decibels(pair: dict[str, Row]) -> dict[str, float]:
    for row in pair.values():
        if not row.has("sqnr_db"):
            raise row.error(f"'{row.text('label')}' has no SQNR: it is exact, or numerics are disabled")
    return {values: row.signed_number("sqnr_db") for values, row in pair.items()}


def _summary(label: str, pair: dict[str, Row]) -> str:
    decibels = _decibels(pair)
    return f"{label}, the baseline ({decibels[GAUSSIAN]:.0f} and {decibels[REAL]:.0f} dB)"


def _difference(decibels: dict[str, float]) -> float:
    return decibels[REAL] - decibels[GAUSSIAN]


def _draw_row(axes: Axes, place: int, decibels: dict[str, float]) -> None:
    line = LOSS_LINE if _difference(decibels) < 0 else GAIN_LINE
    axes.plot([decibels[GAUSSIAN], decibels[REAL]], [place, place], zorder=2, **line)
    for values, look in MARKS.items():
        axes.plot([decibels[values]], [place], zorder=3, **look)


def _label_axes(axes: Axes, drawn: dict[str, dict[str, float]]) -> None:
    axes.set_yticks(range(len(drawn)), list(drawn))
    axes.set_ylim(len(drawn) - 0.3, -0.7)
    axes.tick_params(axis="y", length=0)
    everything = [value for decibels in drawn.values() for value in decibels.values()]
    axes.set_xlim(min(0, min(everything) - ROOM_DB), max(everything) + ROOM_DB)
    axes.set_xlabel("SQNR (dB; right is better; 0 dB: the error is as large as the signal)")


def _write_numbers(axes: Axes, drawn: list[dict[str, float]]) -> None:
    lost = [_difference(decibels) <= -BIT_DB for decibels in drawn]
    texts = {"Gaussian": [f"{decibels[GAUSSIAN]:.1f}" for decibels in drawn],
             "files": [f"{decibels[REAL]:.1f}" for decibels in drawn],
             "difference": [f"{_difference(decibels):+.1f} dB" for decibels in drawn]}
    for head, inches in COLUMNS_AT.items():
        columns.write(axes, inches, head, range(len(drawn)), texts[head], lost)


def _legend() -> list[list[Line2D]]:
    marks = [Line2D([], [], linestyle="none", label=NAMES[values], **look) for values, look in MARKS.items()]
    return [marks, [Line2D([], [], label="lower on values from files (bold: by 6 dB, one bit, or more)", **LOSS_LINE),
                    Line2D([], [], label="higher", **GAIN_LINE)]]
