"""Pictures of results, drawn by equarx-plot (docs/plots.md)."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable

from . import _program
from ._config import to_json
from ._errors import InputError, ProgramError

_FORMATS = (".svg", ".png", ".pdf")
# Next to the installed program, and in the source tree that it was built in.
_SCRIPTS = ("../share/equarx-sim/plot/plot.py", "../../tools/plot/plot.py", "../tools/plot/plot.py")


class Picture:
    """A picture of a result: shown by notebooks, and written by ``save``."""

    def __init__(self, kind: str, name: str, content: str, options: list[str]):
        self._kind, self._name, self._content, self._options = kind, name, content, options
        self._svg: str | None = None

    def to_svg(self) -> str:
        """The picture as SVG."""
        if self._svg is None:
            self._svg = self._drawn("svg").decode()
        return self._svg

    def save(self, path: str | os.PathLike) -> pathlib.Path:
        """Writes the picture as SVG, PNG or PDF, by the ending of the name, and returns its path. @raises
        InputError for other names"""
        path = pathlib.Path(path)
        if path.suffix not in _FORMATS:
            raise InputError(f"{path} does not end in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}; use one of them")
        path.write_bytes(self.to_svg().encode() if path.suffix == ".svg" else self._drawn(path.suffix[1:]))
        return path

    def _drawn(self, format: str) -> bytes:
        with tempfile.TemporaryDirectory(prefix="equarx-") as folder:
            given = pathlib.Path(folder, self._name)
            given.write_text(self._content, encoding="utf-8")
            output = pathlib.Path(folder, "drawn")
            ran = subprocess.run([sys.executable, "-B", _script(), self._kind, str(given), "-o", str(output),
                                  "--format", format, *self._options], capture_output=True, text=True, check=False)
            drawn = sorted(output.glob(f"*.{format}")) if ran.returncode == 0 else []
            if not drawn:
                reason = (ran.stderr.strip().splitlines() or ["failed without a message"])[-1]
                raise InputError(f"{self._kind}: {reason.removeprefix('plot: ')}")
            return drawn[0].read_bytes()

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        return f"Picture({self._kind}); save() writes it"


def _script() -> str:
    """Path of equarx-plot. @raises ProgramError"""
    folder = pathlib.Path(_program.path()).resolve().parent
    for place in _SCRIPTS:
        script = (folder / place).resolve()
        if script.is_file():
            return str(script)
    raise ProgramError(f"plot.py was not found next to {_program.path()}; install the program completely")


def picture(kind: str, data) -> Picture:
    """A picture of a kind of equarx-plot, of a result in its JSON form."""
    return Picture(kind, "result.json", to_json(data), [])


def picture_of_points(kind: str, lines: Iterable[dict], **options: str | None) -> Picture:
    """The same of the lines of results.jsonl, with options by their names without dashes; None: not given."""
    given = [text for name, value in options.items() if value is not None for text in (f"--{name}", value)]
    return Picture(kind, "results.jsonl", "".join(to_json(line) + "\n" for line in lines), given)
