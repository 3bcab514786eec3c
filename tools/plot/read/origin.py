"""Which version of the program computed an input, from which configurations. Empty if it is not known."""
import json
import pathlib

from read import point_files
from read.errors import InputError
from read.points import Points

# Tables do not tell.
UNKNOWN = "(version: see results.jsonl)"


def of_run(path: pathlib.Path) -> str:
    """'0.1.0, config 0123456789abcdef' of a result in JSON."""
    try:
        text = json.loads(path.read_text(encoding="utf-8"))
        return f"{text['version']}, config {text['config_hash']}"
    except (OSError, ValueError, LookupError, TypeError):
        return ""  # the picture says where its numbers are from as far as is known


def of_study(path: pathlib.Path) -> str:
    """The same as of_points() of the study that a file lies in."""
    lines = point_files.of_study(path.parent)
    if not lines.exists():
        return ""
    try:
        points = point_files.read([lines])
    except InputError:
        return ""  # the picture is of another file, which can be read
    return of_points(points, points)


def of_points(points: Points, drawn: Points) -> str:
    """'0.1.0, 1 of 49 points, hash 0123456789abcdef' of the points drawn among those of a sweep or a study."""
    count, there = len(drawn.keys()), len(points.keys())
    part = f"{count} of {there}" if count < there else f"{count}"
    failed = sum(point.failed() for point in drawn.points)
    return (f"{', '.join(points.versions) or UNKNOWN}, {part} point{'' if there == 1 else 's'}"
            f"{f' ({failed} failed)' if failed else ''}, hash {drawn.digest()}")
