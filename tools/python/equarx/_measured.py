"""Simulated against measured figures: studies, accuracy, kernels, calibration."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence

from . import _program
from ._arguments import options, path
from ._config import text_of, to_json
from .result import Record, frame


class Study(Record):
    """Rows of a study: ``study.rows`` with expected and simulated figures, and whether they are within."""

    def to_rows(self) -> list[dict]:
        """The rows, as in study.json."""
        return list(self._data["rows"])

    def to_frame(self):
        """The rows as a pandas.DataFrame."""
        return frame(self.to_rows())

    def __repr__(self) -> str:
        return f"Study({self._data.get('title', '')}: {len(self._data['rows'])} rows)"


def reproduce(study: str | os.PathLike, output: str | os.PathLike | None = None, *, jobs: int | None = None,
              fresh: bool = False, retry: bool = False) -> Study:
    """Runs a study and compares it with reported figures (docs/studies.md).

    study: a name such as "equarx_paper", or a folder with a study.json. output: folder of results, in which
    the study resumes; None: a temporary one. Raises InputError for an unknown study.
    """
    with tempfile.TemporaryDirectory(prefix="equarx-") as folder:
        where = pathlib.Path(folder, "results") if output is None else pathlib.Path(output)
        _program.command(["reproduce", path(study, "a study"), "-o", str(where),
                          *options({"--jobs": jobs, "--fresh": fresh, "--retry": retry})])
        return Study(json.loads((where / "study.json").read_text(encoding="utf-8")))


def accuracy(results: Sequence[str | os.PathLike] = ()) -> Record:
    """How far simulated figures were from measurements, by class of question (docs/accuracy.md).

    results: folders of reproduce(); without any, all studies as of this version.
    """
    arguments = ["accuracy", *(path(one, "results") for one in results), "--json"]
    return Record(json.loads(_program.command(arguments)))


class Timed(Record):
    """Times of kernels: ``timed.rows``, one for each of the list."""

    @property
    def rows(self) -> list[Record]:
        """Rows with ``simulated`` and ``expected`` times, in s."""
        return [Record(row) for row in self._data["rows"]]

    def to_frame(self):
        """The rows as a pandas.DataFrame."""
        return frame(self._data["rows"])

    def __repr__(self) -> str:
        return f"Timed({len(self._data['rows'])} kernels on {self._data['hardware']})"


def kernels(rows: Sequence[Mapping] | str | os.PathLike, hardware: str, *, timer_overhead: str | None = None) -> Timed:
    """Times GEMMs, passes and attention, and compares them with measured times (docs/calibrate.md).

    rows: dicts like {"kernel": "gemm", "m": 16, "k": 8192, "n": 8192}, or the path of a .jsonl or .csv file.
    """
    given = {"--hardware": hardware, "--timer-overhead": timer_overhead}
    with tempfile.TemporaryDirectory(prefix="equarx-") as folder:
        if isinstance(rows, (str, os.PathLike)):
            file = os.fspath(rows)
        else:
            file = str(pathlib.Path(folder, "kernels.jsonl"))
            pathlib.Path(file).write_text("".join(to_json(row) + "\n" for row in rows), encoding="utf-8")
        return Timed(json.loads(_program.command(["kernels", file, "--json", *options(given)])))


class Calibrated(Record):
    """Result of calibrate(): all of ``calibrate --json`` (docs/calibrate.md)."""

    def __repr__(self) -> str:
        return f"Calibrated({self._data['chip']}: {', '.join(self._data['parameters'])})"


def calibrate(measurements: Mapping | str | os.PathLike, output: str | os.PathLike | None = None) -> Calibrated:
    """Fits parameters of a chip to measurements (docs/calibrate.md).

    measurements: a dict or the path of a JSON file. output: also write a hardware file, for the key
    ``hardware`` of a configuration. Raises InputError with its pointer.
    """
    with tempfile.TemporaryDirectory(prefix="equarx-") as folder:
        if isinstance(measurements, Mapping):
            file = str(pathlib.Path(folder, "measurements.json"))
            pathlib.Path(file).write_text(text_of(measurements), encoding="utf-8")
        else:
            file = path(measurements, "measurements")
        return Calibrated(json.loads(_program.command(["calibrate", file, "--json", *options({"-o": output})])))
