"""Style of pictures: colours that work in black and white, and legible font sizes."""
import dataclasses

import matplotlib

INK, GREY, PALE = "#222222", "#666666", "#e4e4e4"
# Palette of Okabe and Ito, for colour-blind readers.
BLUE, VERMILION, GREEN, ORANGE, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7"
SKY = "#56B4E9"

# Font sizes in points; use() sets them.
SIZES, SMALL_SIZES = (8.0, 9.5, 13.0), (7.0, 8.0, 10.0)
SMALL, NORMAL, LARGE = SIZES
# Length of lines in legends, in multiples of the font size.
LEGEND_HANDLE = 3.2


@dataclasses.dataclass(frozen=True)
class Look:
    """Colour, marker and line of a series."""

    colour: str
    marker: str
    line: object


KNOWN_LOOKS = {
    "bf16": Look(INK, "o", "-"),
    "full-loop": Look(BLUE, "s", "--"),
    "semi-loop": Look(VERMILION, "^", "-."),
    "plain ring": Look(INK, "D", "-"),
}
OTHER_LOOKS = [
    Look(GREEN, "<", (0, (6, 2))),
    Look(PURPLE, "v", (0, (3, 1, 1, 1))),
    Look(ORANGE, "P", (0, (1, 1))),
    Look(GREY, "X", (0, (6, 1, 1, 1, 1, 1))),
    Look(SKY, ">", (0, (4, 1))),
    Look(BLUE, "h", (0, (2, 2))),
    Look(VERMILION, "d", (0, (8, 2, 2, 2))),
    Look(INK, "p", (0, (5, 5))),
    Look(GREEN, "*", (0, (1, 3))),
    Look(PURPLE, "H", (0, (8, 3))),
    Look(ORANGE, "8", (0, (3, 3))),
]


def looks(names: list[str]) -> dict[str, Look]:
    """A look for each name; known names have the same look in all pictures."""
    others = [name for name in names if name not in KNOWN_LOOKS]
    spare = {name: OTHER_LOOKS[i % len(OTHER_LOOKS)] for i, name in enumerate(others)}
    return {name: KNOWN_LOOKS.get(name) or spare[name] for name in names}


def inches(usual: float) -> float:
    """Scales inches at the usual font size to the current one."""
    return usual * NORMAL / SIZES[1]


def use(is_small: bool = False) -> None:
    """Sets the defaults of matplotlib; is_small: font sizes for the column of a paper."""
    global SMALL, NORMAL, LARGE
    SMALL, NORMAL, LARGE = SMALL_SIZES if is_small else SIZES
    matplotlib.rcParams.update({
        "font.family": "DejaVu Sans",
        "font.size": NORMAL,
        "axes.titlesize": NORMAL,
        "axes.labelcolor": INK,
        "axes.edgecolor": GREY,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": PALE,
        "grid.linewidth": 0.8,
        "text.color": INK,
        "text.parse_math": False,  # a $ in a label does not start a formula
        "lines.linewidth": 1.6,
        "lines.markersize": 4.5,
        "hatch.linewidth": 0.7,
        "legend.frameon": False,
        "legend.handlelength": LEGEND_HANDLE,
        # For reproducible files.
        "svg.hashsalt": "equarx-sim",
        # Publishers require embedded fonts instead of outlines.
        "pdf.fonttype": 42,
    })
