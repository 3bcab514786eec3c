"""Parts that make up a time, as stacked bars draw them."""
import dataclasses

from drawing import style
from read.row import Row


# Parts that do not make up the whole are a defect of the file; printing rounds them by less than this.
ROUNDING = 1e-3


@dataclasses.dataclass(frozen=True)
class Part:
    """A share of the time, and how it is drawn."""

    column: str
    name: str
    short: str
    colour: str
    hatch: str

    def look(self) -> dict:
        """How matplotlib is to draw it: the hatch tells it apart without colour."""
        return {"facecolor": self.colour, "hatch": self.hatch, "edgecolor": style.INK, "linewidth": 0.7}


def check_whole(row: Row, parts: list[Part]) -> None:
    """Refuses a row whose parts do not make up its time."""
    whole = row.positive("time_s")
    found = sum(row.number(part.column) for part in parts)
    if abs(found - whole) > ROUNDING * whole:
        raise row.error(f"{' + '.join(part.column for part in parts)} is {found:g}, but time_s is {whole:g}")
