#!/usr/bin/env python3
"""Makes Jupyter notebooks of Python scripts in the percent format, beside them, without outputs.

A cell begins with a line "# %%", one of text with "# %% [markdown]", and text stands in comments.

Usage: make_notebooks.py [SCRIPT ...]   (all of experiments/notebooks unless given)
"""
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "notebooks"
CODE, MARKDOWN = "# %%", "# %% [markdown]"


class NoNotebook(Exception):
    """A script is in another format; the message says where."""


def notebook(script: str) -> str:
    """The notebook of a script, as the text of its file. The same script gives the same text. @raises NoNotebook"""
    cells = [_cell(number, *cell) for number, cell in enumerate(_cells(script.splitlines()), 1)]
    made = {"cells": cells, "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _cells(lines: list[str]) -> list[tuple[str, list[str]]]:
    """The line that begins each cell, and those below it."""
    cells = []
    for number, line in enumerate(lines, 1):
        if line.startswith(CODE):
            if line not in (CODE, MARKDOWN):
                raise NoNotebook(f"line {number}: a cell begins with {CODE!r} or {MARKDOWN!r}, and not with {line!r}")
            cells.append((line, []))
        elif not cells:
            raise NoNotebook(f"line {number}: stands before the first cell; begin the script with {MARKDOWN!r}")
        elif cells[-1][0] == MARKDOWN and line and line != "#" and not line.startswith("# "):
            raise NoNotebook(f"line {number}: is no comment, and in a cell of text; begin one of code with {CODE!r}")
        else:
            cells[-1][1].append(line)
    if not cells:
        raise NoNotebook(f"has no cells; begin it with {MARKDOWN!r}")
    return cells


def _cell(number: int, kind: str, lines: list[str]) -> dict:
    """A cell as the format has it; cells are named by their place."""
    text = "\n".join(line[2:] if kind == MARKDOWN else line for line in lines).strip("\n")
    cell = {"id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
    if kind == MARKDOWN:
        return {"cell_type": "markdown", **cell}
    return {"cell_type": "code", "execution_count": None, "outputs": [], **cell}


def main(scripts: list[pathlib.Path]) -> int:
    """Writes the notebook of each script, or nothing if one is no notebook."""
    made = {}
    for script in scripts:
        try:
            made[script.with_suffix(".ipynb")] = notebook(script.read_text(encoding="utf-8"))
        except (NoNotebook, OSError, UnicodeError) as error:
            print(f"error: {script}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
            return 2
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main([pathlib.Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.py"))))
