#!/usr/bin/env python3
"""Makes Jupyter notebooks from Python scripts in the percent format, next to the scripts.

A cell begins with a line "# %%", a text cell with "# %% [markdown]"; its text is in comments.

Outputs of cells with unchanged source are kept. With --execute all cells run, and their outputs are
stored; this needs the package equarx, nbclient and ipykernel for the interpreter that runs this.

Usage: make_notebooks.py [--execute] [SCRIPT ...]   (default: all of experiments/studies/notebooks)
"""
import argparse
import importlib.util
import json
import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Iterator
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "experiments" / "studies" / "notebooks"
CODE, MARKDOWN = "# %%", "# %% [markdown]"
EXECUTORS = ("nbclient", "nbformat", "ipykernel")  # modules that --execute needs
# Temporary files, user folders, and addresses of objects: they differ between machines or runs.
UNSTABLE = re.compile(r"/tmp/|/home/|/root/|\bat 0x[0-9a-f]+|" + re.escape(str(ROOT)))


class NoNotebook(Exception):
    """A script that is not in the format, or fails; the message has the location."""


def notebook(script: str, former: str = "") -> str:
    """The notebook of a script, as the text of its file, deterministically. `former`: the notebook from
    which outputs of cells with equal source are kept. @raises NoNotebook"""
    kept: dict[str, list[dict]] = {}
    for cell in json.loads(former)["cells"] if former else []:
        if cell["cell_type"] == "code":
            kept.setdefault("".join(cell["source"]), []).append(cell)
    cells = [_cell(number, *cell) for number, cell in enumerate(_cells(script.splitlines()), 1)]
    for cell in cells:
        same = kept.get("".join(cell["source"])) if cell["cell_type"] == "code" else None
        if same:
            cell["outputs"] = same.pop(0)["outputs"]
    return _text(cells)


def executed(text: str, folder: pathlib.Path) -> str:
    """A notebook with the outputs of its cells, run in a folder by this interpreter. The user's settings and
    kernels are ignored. @raises NoNotebook if a cell fails, warns, or prints paths or addresses"""
    import nbclient
    import nbformat
    with tempfile.TemporaryDirectory() as own:
        variables = {name: own for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR",
                                            "IPYTHONDIR")}
        variables["EQUARX_PROGRESS"] = "off"  # it depends on the speed of the machine
        variables["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # a warning about modules that cannot be debugged
        variables["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, filter(None, os.environ.get(
            "PYTHONPATH", "").split(os.pathsep))))  # the kernel runs in another folder
        with mock.patch.dict(os.environ, variables):
            os.environ.pop("MPLBACKEND", None)
            made = nbformat.reads(text, as_version=4)
            client = nbclient.NotebookClient(made, timeout=600, kernel_name="python3",
                                             resources={"metadata": {"path": str(folder)}})
            try:
                client.execute()
            except nbclient.exceptions.CellExecutionError as error:
                raise NoNotebook(f"a cell failed: {error.ename}: {error.evalue}") from None
    cells = json.loads(text)["cells"]
    for cell, ran in zip(cells, made["cells"]):
        if cell["cell_type"] == "code":
            cell["outputs"] = list(_stable(ran["outputs"], cell["id"]))
    return _text(cells)


def _stable(outputs: list, cell: str) -> Iterator[dict]:
    """Outputs without metadata, with the texts of a stream joined, and of data only texts and pictures."""
    texts: list[str] = []
    for output in [*outputs, None]:
        if output is not None and output["output_type"] == "stream":
            if output["name"] != "stdout":
                raise NoNotebook(f"{cell}: warns: {output['text'].strip()}")
            texts.append(output["text"])
            continue
        if texts:
            yield {"name": "stdout", "output_type": "stream", "text": _lines("".join(texts), cell)}
            texts = []
        if output is not None:
            data = {kind: value if kind == "image/png" else _lines(value, cell)
                    for kind, value in sorted(output["data"].items()) if kind in ("image/png", "text/plain")}
            yield {"data": data, "metadata": {}, "output_type": output["output_type"]}


def _lines(text: str, cell: str) -> list[str]:
    found = UNSTABLE.search(text)
    if found:
        raise NoNotebook(f"{cell}: prints {found.group()!r}, which differs between machines or runs")
    return text.splitlines(keepends=True)


def _text(cells: list[dict]) -> str:
    """The text of a notebook file; cells with outputs are counted as if run in order."""
    count = 0
    for cell in cells:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count if cell["outputs"] else None
            for output in cell["outputs"]:
                if output["output_type"] == "execute_result":
                    output["execution_count"] = count
    made = {"cells": cells, "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _cells(lines: list[str]) -> list[tuple[str, list[str]]]:
    """The first line of each cell, and the lines below it."""
    cells = []
    for number, line in enumerate(lines, 1):
        if line.startswith(CODE):
            if line not in (CODE, MARKDOWN):
                raise NoNotebook(f"line {number}: a cell begins with {CODE!r} or {MARKDOWN!r}, not with {line!r}")
            cells.append((line, []))
        elif not cells:
            raise NoNotebook(f"line {number}: is before the first cell; begin the script with {MARKDOWN!r}")
        elif cells[-1][0] == MARKDOWN and line and line != "#" and not line.startswith("# "):
            raise NoNotebook(f"line {number}: is not a comment, but in a text cell; begin a code cell with {CODE!r}")
        else:
            cells[-1][1].append(line)
    if not cells:
        raise NoNotebook(f"has no cells; begin it with {MARKDOWN!r}")
    return cells


def _cell(number: int, kind: str, lines: list[str]) -> dict:
    """A cell of the notebook format, identified by its position."""
    text = "\n".join(line[2:] if kind == MARKDOWN else line for line in lines).strip("\n")
    cell = {"id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
    if kind == MARKDOWN:
        return {"cell_type": "markdown", **cell}
    return {"cell_type": "code", "execution_count": None, "outputs": [], **cell}


def main(scripts: list[pathlib.Path], execute: bool = False) -> int:
    """Writes the notebook of each script, or nothing if one is invalid."""
    missing = [module for module in EXECUTORS if execute and not importlib.util.find_spec(module)]
    if missing:
        print(f"error: --execute: {sys.executable} has no {' and no '.join(missing)} (Debian: apt-get install "
              "python3-nbconvert python3-ipykernel, and run this with /usr/bin/python3)", file=sys.stderr)
        return 2
    made = {}
    for script in scripts:
        path = script.with_suffix(".ipynb")
        try:
            former = path.read_text(encoding="utf-8") if path.exists() else ""
            made[path] = notebook(script.read_text(encoding="utf-8"), former)
            if execute:
                made[path] = executed(made[path], script.resolve().parent)
        except (NoNotebook, OSError, UnicodeError) as error:
            print(f"error: {script}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
            return 2
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--execute", action="store_true", help="run all cells, and store their outputs")
    parser.add_argument("scripts", nargs="*", type=pathlib.Path, metavar="SCRIPT")
    given = parser.parse_args()
    sys.exit(main(given.scripts or sorted(FOLDER.glob("*.py")), given.execute))
