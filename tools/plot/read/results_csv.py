"""Reads results.csv, which `equarx-sim sweep` makes of results.jsonl; it has no configurations and no version."""
import csv
import pathlib

from read.errors import InputError
from read.points import Point
from read.results_jsonl import ASK

# Columns that are neither axes nor of a run.
POINT, KEY, LABEL = "point", "key", "label"
BEGINNING = f"{POINT},{KEY},"


def read(path: pathlib.Path, text: str) -> list[Point]:
    """The points."""
    lines = csv.DictReader(text.splitlines())
    if not lines.fieldnames or not {POINT, KEY} <= set(lines.fieldnames):
        raise InputError(f"{path}: there are no columns '{POINT}' and '{KEY}'; {ASK}")
    points = []
    for row in lines:
        cells = {name: cell for name, cell in row.items() if name and cell}
        try:
            number, key = int(cells.pop(POINT)), cells.pop(KEY)
        except (KeyError, ValueError):
            raise InputError(f"{path}, line {lines.line_num}: '{POINT}' or '{KEY}' is missing or broken") from None
        axes = {name: cells.pop(name) for name in list(cells) if name.startswith("/")}
        points.append(Point(path=path, line=lines.line_num, number=number, key=key, axes=axes,
                            label=cells.get(LABEL, ""), values=cells, config={}))
    return points
