"""Reads results.csv of `equarx-sim sweep`, which has neither configurations nor a version."""
import csv
import pathlib

from read import file_kinds
from read.errors import InputError
from read.points import Point

# Columns other than axes and values of runs.
POINT, KEY, LABEL, STATUS = "point", "key", "label", "status"
BEGINNING = f"{POINT},{KEY},"


def read(path: pathlib.Path, text: str) -> list[Point]:
    """The points."""
    lines = csv.DictReader(text.splitlines())
    if not lines.fieldnames or not {POINT, KEY} <= set(lines.fieldnames):
        raise file_kinds.wrong_file(path, file_kinds.TABLE, needs=file_kinds.POINTS)
    points = []
    for row in lines:
        cells = {name: cell for name, cell in row.items() if name and cell}
        try:
            number, key = int(cells.pop(POINT)), cells.pop(KEY)
        except (KeyError, ValueError):
            raise InputError(f"{path}, line {lines.line_num}: '{POINT}' or '{KEY}' is missing or malformed") from None
        axes = {name: cells.pop(name) for name in list(cells) if name.startswith("/")}
        points.append(Point(path=path, line=lines.line_num, number=number, key=key, axes=axes,
                            label=cells.get(LABEL, ""), values=cells, config={}, does_not_fit=STATUS in cells))
    return points
