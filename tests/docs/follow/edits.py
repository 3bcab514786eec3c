"""Edits of source files that a page shows: a sentence that names the place, and below it a block.

    New file `PATH`:                          the block is the file
    In `PATH`, after `TEXT`:                  the block follows the line with TEXT
    In `PATH`, before `TEXT`:                 the block precedes the line with TEXT
    In `PATH`, instead of `TEXT`:             the block, one or more lines, replaces TEXT

TEXT occurs once in the file. Bold words may precede the sentence.
Usage: edits.py PAGE FOLDER     writes the files that the page adds into FOLDER
"""
import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

import markdown

NEW = re.compile(r"^(?:\*\*.*\*\* )?New file `([^`]+)`:$")
CHANGED = re.compile(r"^(?:\*\*.*\*\* )?In `([^`]+)`, (after|before|instead of) `([^`]+)`:$")
SHOWN = {"console", "sh", "text", ""}  # languages of blocks that are no edits
TO_FENCE = 3  # from the index of a sentence to the number of the fence's line


class EditError(Exception):
    """An edit that cannot be applied; names the line of the page."""


@dataclasses.dataclass(frozen=True)
class Edit:
    """One block and its place."""

    path: str
    how: str  # "new", "after", "before", "instead of"
    anchor: str  # empty for a new file
    lines: list[str]
    line: int  # of the opening fence in the page, from 1

    def changed(self, old: str) -> str:
        """The text of the file after the edit. `old`: before it."""
        if old.count(self.anchor) != 1:
            raise EditError(f"line {self.line}: {self.path} has {old.count(self.anchor)} times {self.anchor!r}, not once")
        block = "\n".join(self.lines)
        at = old.index(self.anchor)
        if self.how == "instead of":
            return old[:at] + block + old[at + len(self.anchor):]
        at = old.rfind("\n", 0, at) + 1 if self.how == "before" else old.index("\n", at) + 1
        return old[:at] + block + "\n" + old[at:]


def sentence(page: list[str], block: markdown.Block) -> str:
    """The line above a block, across one empty line."""
    return page[block.line - TO_FENCE] if block.line >= TO_FENCE and not page[block.line - TO_FENCE + 1] else ""


def edit_of(page: list[str], block: markdown.Block) -> Edit | None:
    """The edit that a block of a page is; None if no place is named above it."""
    above = sentence(page, block)
    made = NEW.match(above)
    if made:
        return Edit(made[1], "new", "", block.lines, block.line)
    made = CHANGED.match(above)
    return Edit(made[1], made[2], made[3], block.lines, block.line) if made else None


def edits(text: str) -> list[Edit]:
    """All edits of a page, in order."""
    page = text.splitlines()
    return [edit for edit in (edit_of(page, block) for block in markdown.blocks(text)) if edit]


def without_place(text: str) -> list[int]:
    """Lines of the blocks of code that no sentence places."""
    page = text.splitlines()
    return [block.line for block in markdown.blocks(text)
            if block.language not in SHOWN and not edit_of(page, block)]


def new_files(text: str) -> list[str]:
    """Paths of the files that a page adds."""
    return [edit.path for edit in edits(text) if edit.how == "new"]


def write(edit: Edit, root: pathlib.Path) -> None:
    """Writes a new file below `root`."""
    path = root / edit.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(edit.lines) + "\n", encoding="utf-8")


def apply(text: str, root: pathlib.Path) -> None:
    """Applies all edits of a page to a source tree.

    Raises: EditError if an anchor is absent or not unique, or a file to add exists.
    """
    for edit in edits(text):
        path = root / edit.path
        if edit.how == "new":
            if path.exists():
                raise EditError(f"line {edit.line}: {edit.path} exists")
            write(edit, root)
        elif not path.is_file():
            raise EditError(f"line {edit.line}: {edit.path} does not exist")
        else:
            path.write_text(edit.changed(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for new in edits(markdown.text(pathlib.Path(sys.argv[1]))):
        if new.how == "new":
            write(new, pathlib.Path(sys.argv[2]))
