"""Notes on uncalibrated chips for pictures of times, worded as in the HTML report.

Empty if all chips are calibrated, and for inputs of older versions, which do not record it.
"""
import typing

from read.points import Point
from read.row import Row
from words import names

CALIBRATED = "calibrated"
NOTE = "not calibrated; times rest on datasheet values and assumptions"
SOME_CHIP = "a chip"


def note(chips: typing.Iterable[str]) -> str:
    """'tpu-v4: not calibrated; ...' for these uncalibrated chips; files without their folders."""
    called = sorted({_last_name(chip) for chip in chips})
    return f"{', '.join(called)}: {NOTE}" if called else ""


def _last_name(chip: str) -> str:
    """Removes the folders of 'chips/mine.json (link_bandwidth 90 GB/s)', but no slashes of the changes."""
    file, bracket, changes = chip.partition(" (")
    return file.rsplit("/", 1)[-1] + bracket + changes


def of_points(points: list[Point]) -> str:
    """Note for points. Tables have no configurations, but may have the chip as an axis."""
    return note(names.chip_text(point.config.get("hardware") or point.axes.get("/hardware", SOME_CHIP))
                for point in points if point.values.get(CALIBRATED) == "false")


def of_rows(rows: list[Row]) -> str:
    """Note for rows of points and of rows.csv; without closed forms, which have no chip."""
    return note(row.text("hardware") for row in rows if row.has(CALIBRATED) and not row.truth(CALIBRATED)
                and row.cells.get("role") != "closed form")


def of_result(content: dict) -> str:
    """Note for results of `run --json`, `tune --json` and `advise --json`, and for traces."""
    calibrated = [part.get(CALIBRATED) for part in (content, *content.get("runs", []))]
    return note([names.chip_text(content["config"]["hardware"])] if False in calibrated else [])
