"""Commands, tables, links and prose of the pages of the project."""
import dataclasses
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\S*)$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HERE_DOCUMENT = re.compile(r"<<-?\s*'?(\w+)'?")
COMMENT = re.compile(r"^<!-- (.*) -->$")
CODE = re.compile(r"`([^`]+)`")


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block."""

    language: str
    lines: list[str]
    line: int  # line of the opening fence in the page, from 1


@dataclasses.dataclass(frozen=True)
class Table:
    """A table, and the comment above it that names its content."""

    comment: str
    columns: list[str]
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        """The cells below a heading."""
        at = self.columns.index(name)
        return [row[at] for row in self.rows]


def pages() -> list[pathlib.Path]:
    """README.md and the pages of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def text(path: pathlib.Path) -> str:
    """The whole page."""
    return path.read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    """All fenced blocks, in order."""
    found, inside = [], None
    for number, line in enumerate(page.splitlines(), 1):
        fence = FENCE.match(line)
        if inside is None and fence:
            inside = Block(fence[1], [], number)
        elif inside is not None and line == "```":
            found.append(inside)
            inside = None
        elif inside is not None:
            inside.lines.append(line)
    return found


def without_blocks(page: str) -> list[tuple[int, str]]:
    """The lines outside of fences, with their numbers."""
    kept, inside = [], False
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            kept.append((number, line))
    return kept


def tables(page: str) -> list[Table]:
    """All tables, in order."""
    found, rows, comment, last = [], [], "", ""
    for _, line in [*without_blocks(page), (0, "")]:
        if line.startswith("|"):
            rows.append([cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
            continue
        if rows:
            found.append(Table(comment, rows[0], rows[2:]))
            rows, comment = [], ""
        if line:
            last = line
        made = COMMENT.match(last)
        comment = made[1] if made else ""
    return found


def commands(lines: list[str]) -> list[str]:
    """The commands of a shell block: continued lines joined, here-documents whole, comments left out."""
    found, left = [], list(lines)
    while left:
        command = left.pop(0)
        while command.endswith("\\") and left:
            command = command[:-1].rstrip() + " " + left.pop(0).strip()
        document = HERE_DOCUMENT.search(command)
        if document:
            end = left.index(document[1])
            command = "\n".join([command, *left[:end + 1]])
            left = left[end + 1:]
        if command.strip() and not command.lstrip().startswith("#"):
            found.append(command)
    return found


def page_commands(page: str) -> list[str]:
    """The commands of all shell blocks of a page."""
    return [command for block in blocks(page) if block.language == "sh" for command in commands(block.lines)]


def words(command: str) -> list[str]:
    """The words of a command, without comments."""
    return shlex.split(command, comments=True)


def keys(cell: str) -> list[str]:
    """The code spans of a cell."""
    return CODE.findall(cell)
