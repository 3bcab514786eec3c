"""Reads results.jsonl, which `equarx-sim sweep` writes: a line for each run of each point."""
import json
import pathlib

from read import notes
from read.errors import InputError
from read.points import Point

ASK = "is it results.jsonl or results.csv of 'equarx-sim sweep'?"


def read(path: pathlib.Path, text: str) -> tuple[list[Point], list[str]]:
    """The points, and the versions of the program that computed them.

    Of a point that is there twice, as one that failed and was repeated, the last lines count.
    """
    points: dict[tuple[str, str, str], Point] = {}
    versions = []
    for number, line in enumerate(_whole_lines(path, text), 1):
        try:
            entry = json.loads(line)
            point = _point(path, number, entry)
            versions.append(entry["version"])
        except (ValueError, LookupError, TypeError, AttributeError) as problem:
            raise InputError(f"{path}, line {number}: not a line of a sweep "
                             f"({type(problem).__name__}: {problem}); {ASK}") from None
        if point.label:
            points.pop((point.experiment, point.key, ""), None)
        points[point.experiment, point.key, point.label] = point
    return list(points.values()), versions


def _whole_lines(path: pathlib.Path, text: str) -> list[str]:
    """All lines but a last one that was cut off, as by a full disk, or that is just being written."""
    lines = text.splitlines()
    if lines and not text.endswith("\n") and not _is_json(lines[-1]):
        notes.say(f"{path}: its last line, {len(lines)}, was cut off and is left out")
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
                 base=entry.get("base", ""))


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
