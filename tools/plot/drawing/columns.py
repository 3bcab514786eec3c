"""Columns of numbers to the right of a panel, in line with its rows."""
from matplotlib.axes import Axes

from drawing import style


HEAD_LIFT = 6


def write(axes: Axes, inches: float, head: str, places: list[float], texts: list[str],
          bold: list[bool], colours: list[str] | None = None) -> None:
    """Writes right-aligned texts at the vertical data coordinates `places`.

    inches: right edge of the column, right of the panel, at the usual font size; colours: of the texts.
    """
    figure = axes.figure
    across = 1 + style.inches(inches) / (axes.get_position().width * figure.get_size_inches()[0])
    axes.annotate(head, (across, 1), (0, HEAD_LIFT), xycoords="axes fraction", textcoords="offset points",
                  ha="right", va="bottom", color=style.GREY)
    for place, text, strong, colour in zip(places, texts, bold, colours or [style.INK] * len(texts)):
        axes.text(across, place, text, ha="right", va="center", transform=axes.get_yaxis_transform(),
                  weight="bold" if strong else "normal", color=colour)
