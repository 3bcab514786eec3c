"""Looks of verdicts: distinguishable by colour, marker and label."""
from matplotlib.lines import Line2D

from drawing import style
from read.verdicts import NO, UNCLEAR, YES

# Dark enough for text on white.
AMBER = "#a86f00"
LOOKS = {YES: style.Look(style.BLUE, "o", "-"), UNCLEAR: style.Look(AMBER, "D", "-"),
         NO: style.Look(style.VERMILION, "X", "-")}
SIZE = 6.5


def handles(answers: list[str]) -> list[Line2D]:
    """Legend entries of the verdicts among `answers`."""
    return [Line2D([], [], color=look.colour, marker=look.marker, markersize=SIZE, linestyle="none",
                   label=f"quantize: {answer}") for answer, look in LOOKS.items() if answer in answers]
