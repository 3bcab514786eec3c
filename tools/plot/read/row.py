"""A row of named cells with the file and line it was read from."""
import math
import pathlib

from read.errors import InputError


class Row:
    """Cells as text, by name."""

    def __init__(self, path: pathlib.Path, line: int, cells: dict[str, str]):
        self.path = path
        self.line = line
        self.cells = cells

    def error(self, problem: str) -> InputError:
        """Returns an error about this row."""
        return InputError(f"{self.path}, line {self.line}: {problem}")

    def has(self, column: str) -> bool:
        """True if the column exists and its cell is not empty."""
        return bool(self.cells.get(column))

    def text(self, column: str) -> str:
        """The cell; throws if it is empty."""
        if not self.has(column):
            raise self.error(f"'{column}' is empty")
        return self.cells[column]

    def signed_number(self, column: str) -> float:
        """The cell as a finite number, such as decibels."""
        cell = self.text(column)
        try:
            value = float(cell)
        except ValueError:
            raise self.error(f"'{column}' is '{cell}', which is not a number") from None
        if not math.isfinite(value):
            raise self.error(f"'{column}' is {cell}, but must be finite")
        return value

    def number(self, column: str) -> float:
        """The cell as a finite number that is not negative."""
        value = self.signed_number(column)
        if value < 0:
            raise self.error(f"'{column}' is {self.text(column)}, but must not be negative")
        return value

    def positive(self, column: str) -> float:
        """The cell as a finite positive number, as logarithmic axes require."""
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
