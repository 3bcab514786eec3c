"""Elasticity of the time of each collective in each parameter of the chip, as a tornado."""
import dataclasses

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from drawing import columns, measure, sheet, style
from read.errors import InputError
from read.sensitivities import Parameter, Sensitivities

# Smaller elasticities are left out.
LEAST = 0.001
# Styles of the collectives; hatches are distinguishable without colours.
LOOKS = [{"facecolor": colour, "hatch": hatch, "edgecolor": style.INK, "linewidth": 0.7} for colour, hatch in
         [("#999999", ""), ("#a6cee3", "////"), ("#fdd0a2", "xxxx"), ("#c7e9c0", "...."), ("#cab2d6", "\\\\\\\\"),
          ("#ffffff", "||||"), ("#f6e27f", "++++"), ("#fb9a99", "----")]]
ZERO_LINE = {"color": style.INK, "linewidth": 1}
PER_CENT = 100
# In inches, and in units of the distance between parameters.
BAR_INCHES, GAP_INCHES, GROUP_WIDTH = 0.2, 0.16, 0.8
ROOM = 0.03
LEGEND_COLUMNS = 4
# Right edges of the columns, in inches right of the panel: of parameters, and of their bars.
COLUMNS_AT = {"value": 0.95, "class": 1.85, "uncertain by": 2.8}
BAR_COLUMNS_AT = {"elasticity": 3.7, "contribution": 4.65}
NONE = "-"


@dataclasses.dataclass(frozen=True)
class Bar:
    """Elasticity of one collective in one parameter."""

    place: float
    label: str
    parameter: Parameter

    @property
    def elasticity(self) -> float:
        """Change of the time in % if the parameter grows by 1 %."""
        return self.parameter.elasticities[self.label]


def draw(found: Sensitivities) -> Figure:
    """A group of bars for each parameter, the largest first; a bar for each collective, in the legend's order."""
    if len(found.labels) > len(LOOKS):
        raise InputError(f"{len(found.labels)} collectives; at most {len(LOOKS)} are distinguishable: "
                         "choose one with --label")
    parameters = _shown(found)
    bars = [bar for place, parameter in enumerate(parameters) for bar in _group(place, parameter, found.labels)]
    left = 2 * sheet.EDGE + measure.widest(parameter.name for parameter in parameters)
    figure, [axes] = sheet.frame(
        13, len(parameters) * (BAR_INCHES * len(found.labels) + GAP_INCHES),
        sheet.Margins(left=left, right=style.inches(max(BAR_COLUMNS_AT.values())) + sheet.EDGE, head=0.35))
    looks = dict(zip(found.labels, LOOKS))
    for bar in bars:
        axes.barh(bar.place, bar.elasticity, height=GROUP_WIDTH / len(found.labels), **looks[bar.label])
    _label_axes(axes, parameters, bars)
    _write_parameters(axes, parameters)
    _write_bars(axes, bars)
    sheet.caption(figure, "Sensitivity of the time to chip parameters",
                  f"{found.what} on {found.machine}{_left_out(len(found.parameters) - len(parameters))}"
                  f"{_without(found.without)}", _legend(found.labels),
                  sheet.source(more="contribution: |elasticity| x uncertainty, the uncertainty of the time due to "
                                    "this parameter alone"))
    return figure


def _largest(parameter: Parameter) -> float:
    return max(map(abs, parameter.elasticities.values()))


def _shown(found: Sensitivities) -> list[Parameter]:
    """Parameters that affect a time, the largest elasticity first."""
    shown = [parameter for parameter in found.parameters if _largest(parameter) >= LEAST]
    if not shown:
        raise InputError(f"nothing to draw: all elasticities are below {LEAST:g}")
    return sorted(shown, key=_largest, reverse=True)


def _left_out(count: int) -> str:
    many = "parameter" if count == 1 else "parameters"
    return f"; left out: {count} {many} with elasticities below {LEAST:g}" if count else ""


def _without(names: list[str]) -> str:
    """Note on uncertain parameters that the picture cannot show."""
    count = names[0] if len(names) == 1 else f"{len(names)} parameters"
    return f"; uncertain, but without elasticity at 0: {count}" if names else ""


def _group(place: int, parameter: Parameter, labels: list[str]) -> list[Bar]:
    pitch = GROUP_WIDTH / len(labels)
    return [Bar(place + (i - (len(labels) - 1) / 2) * pitch, label, parameter) for i, label in enumerate(labels)]


def _label_axes(axes: Axes, parameters: list[Parameter], bars: list[Bar]) -> None:
    axes.set_yticks(range(len(parameters)), [parameter.name for parameter in parameters])
    axes.set_ylim(len(parameters) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    ends = [0.0, *(bar.elasticity for bar in bars)]
    room = ROOM * (max(ends) - min(ends))
    axes.set_xlim(min(ends) - room, max(ends) + room)
    axes.axvline(0, **ZERO_LINE)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("elasticity: change of the time in % if the parameter grows by 1 % (left: faster)")


def _write_parameters(axes: Axes, parameters: list[Parameter]) -> None:
    texts = {"value": [parameter.value for parameter in parameters],
             "class": [parameter.provenance for parameter in parameters],
             "uncertain by": [_per_cent(parameter.uncertainty) if parameter.uncertainty else NONE
                              for parameter in parameters]}
    for head, inches in COLUMNS_AT.items():
        columns.write(axes, inches, head, range(len(parameters)), texts[head], [False] * len(parameters))


def _write_bars(axes: Axes, bars: list[Bar]) -> None:
    texts = {"elasticity": [f"{bar.elasticity:+.3f}" for bar in bars],
             "contribution": [_contribution(bar) for bar in bars]}
    for head, inches in BAR_COLUMNS_AT.items():
        columns.write(axes, inches, head, [bar.place for bar in bars], texts[head], [False] * len(bars))


def _per_cent(uncertainty: float) -> str:
    """Three digits, without an exponent from 1000 % on."""
    return f"{float(f'{PER_CENT * uncertainty:.3g}'):g} %"


def _contribution(bar: Bar) -> str:
    """NONE for an exact parameter."""
    uncertainty = bar.parameter.uncertainty
    return f"{PER_CENT * abs(bar.elasticity) * uncertainty:.2f} %" if uncertainty else NONE


def _legend(labels: list[str]) -> list[list[Patch]]:
    handles = [Patch(label=label, **look) for label, look in zip(labels, LOOKS)]
    return [handles[first:first + LEGEND_COLUMNS] for first in range(0, len(handles), LEGEND_COLUMNS)]
