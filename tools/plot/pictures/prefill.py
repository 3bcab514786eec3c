"""What the pictures of prefill share: a panel for each model, against the tokens of the prompt."""
from pictures import subject
from read.row import Row
from read.rows import check_unique, the_only

MOST_ACROSS = 2


def is_one(row: Row) -> bool:
    """Whether a row is of a prefill; those of bare collectives have no phase."""
    return row.has("phase") and row.text("phase") == "prefill"


def rows_of(rows: list[Row]) -> list[Row]:
    """The rows of prefills."""
    return [row for row in rows if is_one(row)]


def are_compared(rows: list[Row]) -> bool:
    """Whether there are prefills of several collectives, which a study has these pictures for."""
    return len({row.text("label") for row in rows_of(rows)}) > 1


def panels(rows: list[Row]) -> list[list[Row]]:
    """The rows of each model on each slice, by tokens, fewest chips first."""
    chosen = rows_of(rows)
    if not chosen:
        raise rows[0].error("there is no row here whose 'phase' is 'prefill'")
    check_unique(chosen, ["model", "topology", "label", "tokens"])
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(chosen, key=lambda row: row.positive("tokens")):
        groups.setdefault((row.text("model"), row.text("topology")), []).append(row)
    return sorted(groups.values(), key=lambda group: group[0].number("chips"))


def title(group: list[Row]) -> str:
    """Of a panel: the model, and the chips that it runs on."""
    first = group[0]
    return f"{first.text('model')} on {first.text('topology')} ({first.number('chips'):.0f} chips)"


def context(groups: list[list[Row]]) -> str:
    """For a subtitle; a picture shows one chip and one batch only."""
    rows = [row for group in groups for row in group]
    the_only(rows, "hardware")
    the_only(rows, "batch")
    return subject.context(rows)
