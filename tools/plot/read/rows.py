"""What pictures ask of all their rows together."""
from read.errors import TooMuch
from read.row import Row


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
