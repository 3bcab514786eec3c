"""Reads results.jsonl of `equarx-sim sweep`: one line for each run of each point."""
import json
import pathlib

from read import file_kinds, notes
from read.errors import InputError, reason
from read.points import Point


def read(path: pathlib.Path, text: str) -> tuple[list[Point], list[str]]:
    """The points, and the versions of the program that computed them.

    The last lines of a repeated point count, as after a failure.
    """
    points: dict[tuple[str, str, str], Point] = {}
    versions = []
    lines = _whole_lines(text)
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            point = _point(path, number, entry)
            versions.append(entry["version"])
        except (ValueError, LookupError, TypeError, AttributeError) as problem:
            if file_kinds.of(path) != file_kinds.POINTS:
                raise file_kinds.wrong_file(path, file_kinds.POINTS) from None
            raise InputError(f"{path}, line {number}: malformed line of {file_kinds.POINTS}: "
                             f"{_reason(problem)}") from None
        if point.label:
            points.pop((point.experiment, point.key, ""), None)
        points[point.experiment, point.key, point.label] = point
    if len(lines) < len(text.splitlines()):
        notes.warn(f"{path}: line {len(lines) + 1}, the last one, is truncated and left out")
    return list(points.values()), versions


def _reason(problem: Exception) -> str:
    """Without the position within a line, which is not that within the file."""
    return problem.msg if isinstance(problem, json.JSONDecodeError) else reason(problem)


def _whole_lines(text: str) -> list[str]:
    """All lines, without a truncated last one, as after a full disk or during a sweep."""
    lines = text.splitlines()
    if lines and not text.endswith("\n") and not _is_json(lines[-1]):
        return lines[:-1]
    return lines


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _point(path: pathlib.Path, line: int, entry: dict) -> Point:
    run = entry.get("run") or {}
    return Point(path=path, line=line, number=int(entry["point"]), key=entry["key"],
                 axes={name: _text(value) for name, value in entry["axes"].items()}, label=run.get("label", ""),
                 values=_flat("", run), config=entry.get("config", {}), experiment=entry.get("experiment", ""),
                 base=entry.get("base", ""), does_not_fit="status" in entry)


def _text(value) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _flat(prefix: str, values: dict) -> dict[str, str]:
    flat = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(f"{prefix}{name}/", value)
        elif value is not None and not isinstance(value, list):
            flat[prefix + name] = _text(value)
    return flat
