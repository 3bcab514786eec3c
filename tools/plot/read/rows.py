"""Groups and checks of rows."""
from read.errors import TooMuch
from read.row import Row


def grouped(rows: list[Row], column: str) -> dict[str, list[Row]]:
    """The rows by their value of a column, in order of appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.text(column), []).append(row)
    return groups


def the_only(rows: list[Row], column: str) -> str:
    """The value of a column that all rows share; throws TooMuch if they differ."""
    first = rows[0].text(column)
    for row in rows:
        if row.text(column) != first:
            problem = row.error(f"'{column}' is '{row.text(column)}', but '{first}' in the rows before; "
                                "a picture shows one value")
            raise TooMuch(str(problem), (rows[0].path, rows[0].line), (row.path, row.line))
    return first


def check_unique(rows: list[Row], columns: list[str]) -> None:
    """Throws TooMuch for two rows that would be drawn at the same position."""
    seen: dict[tuple, Row] = {}
    for row in rows:
        key = tuple(row.text(column) for column in columns)
        if key in seen:
            raise TooMuch(str(row.error(f"a second row for {', '.join(key)}")),
                          (seen[key].path, seen[key].line), (row.path, row.line))
        seen[key] = row
