"""What pictures of times say about chips that were not calibrated, in the words of the report's page.

Empty where all were, and for inputs that do not say: those of older versions.
"""
import typing

from read.points import Point
from read.row import Row
from words import names

CALIBRATED = "calibrated"
NOTE = "not calibrated; times rest on datasheet values and assumptions"
SOME_CHIP = "a chip"


def note(chips: typing.Iterable[str]) -> str:
    """'tpu-v4: not calibrated; ...' of chips that were not; a file is called by its last name."""
    called = sorted({_last_name(chip) for chip in chips})
    return f"{', '.join(called)}: {NOTE}" if called else ""


def _last_name(chip: str) -> str:
    """Of 'chips/mine.json (link_bandwidth 90 GB/s)': changes have slashes, too."""
    file, bracket, changes = chip.partition(" (")
    return file.rsplit("/", 1)[-1] + bracket + changes


def of_points(points: list[Point]) -> str:
    """Of runs of points. A table of them has no configurations, but perhaps the chip as an axis."""
    return note(names.chip_text(point.config.get("hardware") or point.axes.get("/hardware", SOME_CHIP))
                for point in points if point.values.get(CALIBRATED) == "false")


def of_rows(rows: list[Row]) -> str:
    """Of rows of points, and of rows.csv. Closed forms are about no chip that there is."""
    return note(row.text("hardware") for row in rows if row.has(CALIBRATED) and not row.truth(CALIBRATED)
                and row.cells.get("role") != "closed form")


def of_result(content: dict) -> str:
    """Of what `run --json` and `tune --json` print, and of what a trace says about itself."""
    said = [part.get(CALIBRATED) for part in (content, *content.get("runs", []))]
    return note([names.chip_text(content["config"]["hardware"])] if False in said else [])
