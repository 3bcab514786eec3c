"""Reads points.csv, which `equarx-sim reproduce` writes, as the points of a sweep.

Nothing else knows this format but read/point_files.py, which chooses a reader.
"""
import pathlib

from read import csv_file
from read.points import Point, Points
from read.row import Row

# A study does not say these: it is of AllReduces of bf16, compared with the one of that label.
UNSAID = {"baseline": "bf16", "collective": "AllReduce", "dtype": "bf16"}


def read(paths: list[pathlib.Path], columns: list[str]) -> Points:
    """The points of all files together, which must have these columns."""
    rows = [row for path in paths for row in csv_file.read_table(path, columns)]
    return Points(", ".join(map(str, paths)), [_point(number, row) for number, row in enumerate(rows)], [])


def _point(number: int, row: Row) -> Point:
    cells = UNSAID | row.cells
    return Point(path=row.path, line=row.line, number=number, key=str(number), axes={}, label=cells.get("label", ""),
                 values={}, config={}, experiment=row.text("experiment"), cells=cells)
