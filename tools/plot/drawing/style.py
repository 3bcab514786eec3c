"""How pictures look: colours that survive black and white, and letters that can be read."""
import dataclasses

import matplotlib

INK, GREY, PALE = "#222222", "#666666", "#e4e4e4"
# Okabe and Ito's palette, which colour-blind readers can tell apart.
BLUE, VERMILION, GREEN, ORANGE, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7"
SKY = "#56B4E9"

# Sizes of letters, in points; use() sets them.
SIZES, SMALL_SIZES = (8.0, 9.5, 13.0), (7.0, 8.0, 10.0)
SMALL, NORMAL, LARGE = SIZES
# Of lines in legends, in letters.
LEGEND_HANDLE = 3.2


@dataclasses.dataclass(frozen=True)
class Look:
    """Colour, marker and line that together tell one series from the others."""

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
]


def looks(names: list[str]) -> dict[str, Look]:
    """A look for each name; the known names look the same in all pictures."""
    others = [name for name in names if name not in KNOWN_LOOKS]
    spare = {name: OTHER_LOOKS[i % len(OTHER_LOOKS)] for i, name in enumerate(others)}
    return {name: KNOWN_LOOKS.get(name) or spare[name] for name in names}


def inches(usual: float) -> float:
    """Room for letters that take so many inches in their usual size."""
    return usual * NORMAL / SIZES[1]


def use(is_small: bool = False) -> None:
    """Sets matplotlib's defaults for all pictures; letters are small where a picture is for the column of a paper."""
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
        "text.parse_math": False,  # labels are text: a $ in them begins no formula
        "lines.linewidth": 1.6,
        "lines.markersize": 4.5,
        "hatch.linewidth": 0.7,
        "legend.frameon": False,
        "legend.handlelength": LEGEND_HANDLE,
        # The same input gives the same file.
        "svg.hashsalt": "equarx-sim",
        # Publishers want fonts as such, and not as drawings.
        "pdf.fonttype": 42,
    })
