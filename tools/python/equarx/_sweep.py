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
from ._pictures import Picture, picture_of_points
from .result import Run, flat, frame, html_of_rows

_SOME_POINTS_FAILED = 1
# Members of the line of a point without runs.
_ABSENCE = ("error", "status", "needs_bytes", "reason")


class Swept:
    """The runs of a sweep, by point. Each is a dict of ``results.jsonl`` (docs/results.md) with its
    ``run`` as a Run."""

    def __init__(self, lines: list[dict]):
        self._lines = sorted(lines, key=lambda line: line["point"])

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[dict]:
        for line in self._lines:
            yield {**line, "run": Run(line["run"])} if "run" in line else dict(line)

    @property
    def failures(self) -> list[dict]:
        """The failed points: ``axes`` and ``error``."""
        return [dict(line) for line in self._lines if "error" in line]

    @property
    def does_not_fit(self) -> list[dict]:
        """Points that need more HBM than a chip has: ``axes``, ``needs_bytes`` and ``reason``."""
        return [dict(line) for line in self._lines if "status" in line]

    def to_rows(self) -> list[dict]:
        """One flat dict per run: its axes by their pointers, and all numbers and texts of the run."""
        return [{"point": line["point"], **line["axes"], **flat(line.get("run", {})),
                 **{name: line[name] for name in _ABSENCE if name in line}} for line in self._lines]

    def plot(self, kind: str = "time", *, label: str | None = None, x: str | None = None, y: str | None = None,
             value: str | None = None) -> Picture:
        """A picture of a kind of docs/plots.md: "time" or "speedup" against tensor size, "breakdown", "error"; or
        "sweep", a value against the axes x and y, such as "/topology/slice", of the collective with this label."""
        return picture_of_points(kind, self._lines, label=label, x=x, y=y, value=value)

    def to_frame(self):
        """The rows as a pandas.DataFrame."""
        return frame(self.to_rows())

    def _repr_html_(self) -> str:
        """The axes, times and errors of the runs, for notebooks."""
        shown = [{**line["axes"], **{name: line.get("run", {}).get(name) for name in ("label", "time_s", "speedup")},
                  **{name: line[name] for name in _ABSENCE if name in line}} for line in self._lines]
        return html_of_rows(shown)

    def __repr__(self) -> str:
        without = [f"{len(points)} {what}" for points, what in
                   ((self.does_not_fit, "do not fit"), (self.failures, "failed")) if points]
        return f"Swept({len(self)} runs{', of which ' if without else ''}{' and '.join(without)})"


def _axes_of(axes) -> list:
    """A dict of pointers and lists of values, or axes in the form of a sweep file."""
    if not isinstance(axes, Mapping):
        return list(axes)
    return [{"key": pointer, "values": list(values)} for pointer, values in axes.items()]


def sweep(config, axes, *, folder: str | os.PathLike | None = None, jobs: int | None = None) -> Swept:
    """Runs all combinations of some keys' values in parallel on all cores (docs/sweeps.md).

    config: a configuration as a dict, or the path of a JSON file.
    axes: values by JSON pointer, ``{"/topology/slice": ["2x2", "4x2"], "/tensor/bytes": ["1 MiB",
        "8 MiB"]}``, the last one fastest; or a list of axes in the form of a sweep file.
    folder: where results are kept; an interrupted sweep resumes from it. By default they are
        not kept.
    jobs: number of concurrent points; by default the number of cores.

    Runs ``equarx-sim sweep``. Raises InputError if the configuration or the axes are invalid;
    failed points are in ``failures``, points that exceed a chip's HBM in ``does_not_fit``.
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
