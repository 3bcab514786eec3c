"""Parts of a time, for stacked bars."""
import dataclasses

from drawing import style
from read.row import Row


# Relative tolerance of the sum of the parts, for rounding in files.
ROUNDING = 1e-3


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of the time, and its style."""

    column: str
    name: str
    short: str
    colour: str
    hatch: str

    def look(self) -> dict:
        """Arguments for matplotlib; hatches are distinguishable without colours."""
        return {"facecolor": self.colour, "hatch": self.hatch, "edgecolor": style.INK, "linewidth": 0.7}


def check_whole(row: Row, parts: list[Part]) -> None:
    """Throws InputError if the parts do not add up to the time of the row."""
    whole = row.positive("time_s")
    found = sum(row.number(part.column) for part in parts)
    if abs(found - whole) > ROUNDING * whole:
        raise row.error(f"{' + '.join(part.column for part in parts)} is {found:g}, but time_s is {whole:g}")
