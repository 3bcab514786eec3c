"""Reads CSV files; errors name the line and the column."""
import csv
import difflib
import pathlib

from read import file_kinds
from read.errors import InputError
from read.row import Row


def read_table(path: pathlib.Path, columns: list[str]) -> list[Row]:
    """Rows of a rows.csv with at least these columns; at least one row."""
    rows = read_table_or_header(path, columns)
    if not rows:
        raise InputError(f"{path}: no row below the header")
    return rows


def read_table_or_header(path: pathlib.Path, columns: list[str]) -> list[Row]:
    """Like read_table(), but may return no rows."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            return _rows(path, lines, columns)
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror}") from None
    except (csv.Error, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: not a CSV text file: {problem}") from None


def _rows(path: pathlib.Path, lines, columns: list[str]) -> list[Row]:
    header = [name.strip() for name in next(lines, [])]
    _check_header(path, header, columns)
    rows = []
    for cells in lines:
        if not cells:
            continue
        if len(cells) != len(header):
            raise InputError(f"{path}, line {lines.line_num}: {len(cells)} cells, "
                             f"but the header has {len(header)}")
        rows.append(Row(path, lines.line_num, dict(zip(header, map(str.strip, cells)))))
    return rows


def _check_header(path: pathlib.Path, header: list[str], columns: list[str]) -> None:
    if file_kinds.of(path) != file_kinds.ROWS:
        raise file_kinds.wrong_file(path, file_kinds.ROWS)
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise InputError(f"{path}: duplicate column '{min(twice)}'")
    for column in columns:
        if column not in header:
            nearest = difflib.get_close_matches(column, header, n=1)
            hint = f"; nearest is '{nearest[0]}'" if nearest else ""
            raise InputError(f"{path}: no column '{column}'{hint}")
