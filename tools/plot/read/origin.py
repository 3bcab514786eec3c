"""Which version of the program computed an input, from which configurations. Empty if it is not known."""
import hashlib
import json
import pathlib

from read import point_files
from read.errors import InputError

STUDY_FILE = "study.json"


def of_run(paths: list[pathlib.Path]) -> str:
    """'0.1.0, config 0123456789abcdef' of a result in JSON."""
    return _of_json(paths[0])


def of_study(paths: list[pathlib.Path]) -> str:
    """'0.1.0, 5 configs, hash 0123456789abcdef' of the study that a folder is, or that a file of one lies in."""
    folder = paths[0] if paths[0].is_dir() else paths[0].parent
    return _of_json(folder / STUDY_FILE) or _of_lines([point_files.of_study(folder)])


def of_points(paths: list[pathlib.Path]) -> str:
    """'0.1.0, 49 points, hash 0123456789abcdef' of a sweep's results; of other files that of their study."""
    return _of_lines(paths) if point_files.are_lines(paths) else of_study(paths)


def _of_json(path: pathlib.Path) -> str:
    try:
        text = json.loads(path.read_text(encoding="utf-8"))
        if "config_hash" in text:
            return f"{text['version']}, config {text['config_hash']}"
        hashes = sorted(point["result"]["config_hash"] for point in text["points"])
        digest = hashlib.sha256("\n".join(hashes).encode()).hexdigest()[:16]
        return f"{text['version']}, {len(hashes)} configs, hash {digest}"
    except (OSError, ValueError, LookupError, TypeError):
        return ""  # the picture says where its numbers are from as far as is known


def _of_lines(paths: list[pathlib.Path]) -> str:
    if not point_files.are_lines(paths):
        return ""
    try:
        points = point_files.read(paths)
    except InputError:
        return ""  # which is said when the points are drawn
    failed = sum(not point.label for point in points.points)
    return (f"{', '.join(points.versions)}, {len(points.keys())} points{f' ({failed} failed)' if failed else ''}, "
            f"hash {points.digest()}")
