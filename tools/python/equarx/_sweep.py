"""equarx.sweep()."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping

from . import _program
from ._config import text_of, to_json
from ._errors import InputError
from .result import Run, flat, frame

_SOME_POINTS_FAILED = 1


class Swept:
    """The runs of a sweep, by point. Each is a dict of ``results.jsonl`` (docs/results.md) with its ``run`` as a Run."""

    def __init__(self, lines: list[dict]):
        self._lines = sorted(lines, key=lambda line: line["point"])

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[dict]:
        for line in self._lines:
            yield {**line, "run": Run(line["run"])} if "run" in line else dict(line)

    @property
    def failures(self) -> list[dict]:
        """Of the points that failed: ``axes`` and ``error``."""
        return [dict(line) for line in self._lines if "error" in line]

    def to_rows(self) -> list[dict]:
        """One flat dict for each run: its axes by their pointers, and all numbers and texts of the run."""
        return [{"point": line["point"], **line["axes"], **flat(line.get("run", {})),
                 **({"error": line["error"]} if "error" in line else {})} for line in self._lines]

    def to_frame(self):
        """The rows as a pandas.DataFrame."""
        return frame(self.to_rows())

    def __repr__(self) -> str:
        failed = f", of which {len(self.failures)} failed" if self.failures else ""
        return f"Swept({len(self)} runs{failed})"


def _axes_of(axes) -> list:
    """A dict of pointers and lists of values, or axes as a sweep file has them."""
    if not isinstance(axes, Mapping):
        return list(axes)
    return [{"key": pointer, "values": list(values)} for pointer, values in axes.items()]


def sweep(config, axes, *, folder: str | os.PathLike | None = None, jobs: int | None = None) -> Swept:
    """Runs all combinations of some keys' values, side by side on all cores (docs/sweeps.md).

    config: a configuration as a dict, or the path of a JSON file.
    axes: values by JSON pointer, ``{"/topology/slice": ["2x2", "4x2"], "/tensor/bytes": ["1 MiB", "8 MiB"]}``, the last
        one fastest; or a list of axes as in a sweep file.
    folder: where results are kept; a sweep that was stopped goes on there. By default they are not kept.
    jobs: points at once; by default as many as there are cores.

    Runs ``equarx-sim sweep``. Raises InputError for what is wrong in the configuration or the axes; a point that cannot
    run is in ``failures``.
    """
    with tempfile.TemporaryDirectory(prefix="equarx-") as temporary:
        file = pathlib.Path(temporary, "sweep.json")
        file.write_text(to_json({"name": "sweep", "base": json.loads(text_of(config)), "axes": _axes_of(axes)}))
        results = pathlib.Path(folder) if folder is not None else pathlib.Path(temporary, "results")
        arguments = ["sweep", str(file), "--output", str(results)]
        if jobs is not None:
            arguments += ["--jobs", str(jobs)]
        try:
            _program.command(arguments, accepted=(0, _SOME_POINTS_FAILED))
        except InputError as error:
            raise InputError(str(error).removeprefix(f"{file}: "), error.pointer) from None
        with (results / "results.jsonl").open(encoding="utf-8") as lines:
            return Swept([json.loads(line) for line in lines])
