"""Shared by the pictures of prefill: a panel for each model, over the tokens of the prompt."""
from pictures import subject
from read.row import Row
from read.rows import check_unique, the_only

MOST_ACROSS = 2


def is_one(row: Row) -> bool:
    """True if the row is a prefill; bare collectives have no phase."""
    return row.has("phase") and row.text("phase") == "prefill"


def rows_of(rows: list[Row]) -> list[Row]:
    """The rows of prefills."""
    return [row for row in rows if is_one(row)]


def are_compared(rows: list[Row]) -> bool:
    """True if there are prefills with several collectives."""
    return len({row.text("label") for row in rows_of(rows)}) > 1


def panels(rows: list[Row]) -> list[list[Row]]:
    """The rows of each model on each slice, by tokens, fewest chips first."""
    chosen = rows_of(rows)
    if not chosen:
        raise rows[0].error("no row with the 'phase' 'prefill'")
    check_unique(chosen, ["model", "topology", "label", "tokens"])
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(chosen, key=lambda row: row.positive("tokens")):
        groups.setdefault((row.text("model"), row.text("topology")), []).append(row)
    return sorted(groups.values(), key=lambda group: group[0].number("chips"))


def title(group: list[Row]) -> str:
    """Title of a panel: the model, and its chips."""
    first = group[0]
    return f"{first.text('model')} on {first.text('topology')} ({first.number('chips'):.0f} chips)"


def context(groups: list[list[Row]]) -> str:
    """Subtitle; throws TooMuch for several chips or batches."""
    rows = [row for group in groups for row in group]
    the_only(rows, "hardware")
    the_only(rows, "batch")
    return subject.context(rows)
