"""Pages and comparisons of results, and configurations with all defaults."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping

from . import _program
from ._arguments import answer, configuration, options, path
from ._config import to_json
from ._errors import InputError
from .result import Record, Result


def _file(folder: str, name: str, result) -> str:
    """The path of a result: its own, or a file with its JSON form."""
    if isinstance(result, (str, os.PathLike)):
        return os.fspath(result)
    if not isinstance(result, (Mapping, Record, Result)):
        raise InputError(f"a result is needed, or the path of one, not a {type(result).__name__}")
    data = result.to_dict() if hasattr(result, "to_dict") else result
    file = pathlib.Path(folder, f"{name}.json")
    file.write_text(to_json(data), encoding="utf-8")
    return str(file)


def report(results, output: str | os.PathLike = "report.html", *, title: str | None = None) -> pathlib.Path:
    """Writes results as one self-contained HTML page (docs/report.md) and returns its path.

    results: one of run(), serve() or plan(), a path of the same as JSON or of a sweep's folder, or a list.
    """
    given = results if isinstance(results, (list, tuple)) else [results]
    with tempfile.TemporaryDirectory(prefix="equarx-") as folder:
        files = [_file(folder, f"result-{index + 1}", one) for index, one in enumerate(given)]
        _program.command(["report", *files, "-o", path(output, "output"), *options({"--title": title})])
    return pathlib.Path(output)


def compare(a, b) -> Record:
    """Differences of configurations and results of two runs, or paths of them; ratios are b / a."""
    with tempfile.TemporaryDirectory(prefix="equarx-") as folder:
        return Record(json.loads(_program.command(["compare", _file(folder, "a", a), _file(folder, "b", b), "--json"])))


def validate(config, overrides: Mapping | None = None) -> None:
    """Checks a configuration without running it. @raises InputError with the JSON pointer"""
    named, text = configuration(config, overrides)
    answer(["validate", *named], config, text)


def show(config, overrides: Mapping | None = None) -> dict:
    """The configuration with all defaults filled in."""
    named, text = configuration(config, overrides)
    return json.loads(answer(["show", *named], config, text))
