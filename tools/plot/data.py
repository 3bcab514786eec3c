"""Reads the CSV files of a study, and says precisely what is wrong with them."""
import csv
import difflib
import math
import pathlib


class InputError(Exception):
    """A one-line message: which file, which line, what is wrong."""


class TooMuch(InputError):
    """There is more in the input than one picture can show."""


class Row:
    """One line of a CSV file, which knows where it came from."""

    def __init__(self, path: pathlib.Path, line: int, cells: dict[str, str]):
        self._path = path
        self._line = line
        self._cells = cells

    def error(self, problem: str) -> InputError:
        """An error about this row, to be raised by the caller."""
        return InputError(f"{self._path}, line {self._line}: {problem}")

    def has(self, column: str) -> bool:
        """Whether the column exists and is not empty here."""
        return bool(self._cells.get(column))

    def text(self, column: str) -> str:
        """The cell, without surrounding blanks; it must not be empty."""
        if not self.has(column):
            raise self.error(f"'{column}' is empty")
        return self._cells[column]

    def signed_number(self, column: str) -> float:
        """The cell as a finite number: decibels may be negative."""
        cell = self.text(column)
        try:
            value = float(cell)
        except ValueError:
            raise self.error(f"'{column}' is '{cell}', which is not a number") from None
        if not math.isfinite(value):
            raise self.error(f"'{column}' is {cell}, but must be finite")
        return value

    def number(self, column: str) -> float:
        """The cell as a finite number that is not negative: no quantity of a study but decibels is."""
        value = self.signed_number(column)
        if value < 0:
            raise self.error(f"'{column}' is {self.text(column)}, but must not be negative")
        return value

    def positive(self, column: str) -> float:
        """The cell as a finite number above zero, as logarithmic axes need."""
        value = self.number(column)
        if value == 0:
            raise self.error(f"'{column}' is 0, but must be positive")
        return value

    def truth(self, column: str) -> bool:
        """The cell as a truth value."""
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        cell = self.text(column).lower()
        if cell not in words:
            raise self.error(f"'{column}' is '{cell}', but must be true or false")
        return words[cell]


def read_table(path: pathlib.Path, columns: list[str]) -> list[Row]:
    """All rows of a CSV file, at least one, which must have these columns and may have more."""
    rows = read_table_or_header(path, columns)
    if not rows:
        raise InputError(f"{path}: there is no row below the header")
    return rows


def read_table_or_header(path: pathlib.Path, columns: list[str]) -> list[Row]:
    """All rows of a CSV file, perhaps none."""
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
    if not header:
        raise InputError(f"{path}: the file is empty")
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise InputError(f"{path}: column '{min(twice)}' is there twice")
    for column in columns:
        if column not in header:
            nearest = difflib.get_close_matches(column, header, n=1)
            hint = f"; nearest is '{nearest[0]}'" if nearest else ""
            raise InputError(f"{path}: there is no column '{column}'{hint}")


def experiment_names(rows: list[Row]) -> list[str]:
    """The experiments in these rows, in order of appearance."""
    return list(dict.fromkeys(row.text("experiment") for row in rows))


def of_experiment(rows: list[Row], name: str, source: str) -> list[Row]:
    """The rows of one experiment; source is what to call the input in an error."""
    chosen = [row for row in rows if row.text("experiment") == name]
    if not chosen:
        raise InputError(f"{source}: there is no experiment '{name}'; "
                         f"there is: {', '.join(experiment_names(rows))}")
    return chosen


def grouped(rows: list[Row], column: str) -> dict[str, list[Row]]:
    """The rows by what they have in a column, in order of appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.text(column), []).append(row)
    return groups


def the_only(rows: list[Row], column: str) -> str:
    """What all rows have in a column; a picture that shows one machine must not mix two."""
    first = rows[0].text(column)
    for row in rows:
        if row.text(column) != first:
            raise TooMuch(str(row.error(f"'{column}' is '{row.text(column)}', but '{first}' in the rows before; "
                                        "a picture shows one only")))
    return first


def check_unique(rows: list[Row], columns: list[str]) -> None:
    """Refuses two rows that would be drawn at the same place."""
    seen = set()
    for row in rows:
        key = tuple(row.text(column) for column in columns)
        if key in seen:
            raise TooMuch(str(row.error(f"a second row for {', '.join(key)}")))
        seen.add(key)
