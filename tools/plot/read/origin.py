"""Which version of the program computed an input, from which configurations. Empty if it is not known."""
import json
import pathlib

from read import point_files
from read.errors import InputError


def of_run(paths: list[pathlib.Path]) -> str:
    """'0.1.0, config 0123456789abcdef' of a result in JSON."""
    try:
        text = json.loads(paths[0].read_text(encoding="utf-8"))
        return f"{text['version']}, config {text['config_hash']}"
    except (OSError, ValueError, LookupError, TypeError):
        return ""  # the picture says where its numbers are from as far as is known


def of_study(paths: list[pathlib.Path]) -> str:
    """The same as of_points() of the study that a folder is, or that a file of one lies in."""
    folder = paths[0] if paths[0].is_dir() else paths[0].parent
    return of_points([point_files.of_study(folder)])


def of_points(paths: list[pathlib.Path]) -> str:
    """'0.1.0, 49 points, hash 0123456789abcdef' of the results of a sweep or a study."""
    if not point_files.are_lines(paths):
        return ""
    try:
        points = point_files.read(paths)
    except InputError:
        return ""  # which is said when the points are drawn
    failed = sum(not point.label for point in points.points)
    return (f"{', '.join(points.versions)}, {len(points.keys())} points{f' ({failed} failed)' if failed else ''}, "
            f"hash {points.digest()}")
