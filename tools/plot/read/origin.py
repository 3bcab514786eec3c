"""Version of the program and hash of the configurations of an input; empty if unknown."""
import json
import pathlib

from read import point_files
from read.errors import InputError
from read.points import Points

# For tables, which have no version.
UNKNOWN = "(version: see results.jsonl)"


def of_run(path: pathlib.Path) -> str:
    """'0.1.0, config 0123456789abcdef' for a result in JSON; without the hash if the result has several."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return ", config ".join(filter(None, [content["version"], content.get("config_hash")]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""


def of_study(path: pathlib.Path) -> str:
    """Like of_points(), for the study in the folder of a file."""
    lines = point_files.of_study(path.parent)
    if not lines.exists():
        return ""
    try:
        points = point_files.read([lines])
    except InputError:
        return ""  # the file itself can be read
    return of_points(points, points)


def of_points(points: Points, drawn: Points) -> str:
    """'0.1.0, 1 of 49 points, hash 0123456789abcdef': points drawn, of all points of a sweep or a study."""
    count, there = len(drawn.keys()), len(points.keys())
    part = f"{count} of {there}" if count < there else f"{count}"
    absent = sum(point.does_not_fit for point in drawn.points)
    failed = sum(point.failed() for point in drawn.points) - absent
    without = [f"{absent} do not fit"] * bool(absent) + [f"{failed} failed"] * bool(failed)
    missing = f" ({', '.join(without)})" if without else ""
    return (f"{', '.join(points.versions) or UNKNOWN}, {part} point{'' if there == 1 else 's'}{missing}, "
            f"hash {drawn.digest()}")
