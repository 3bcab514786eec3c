"""Reads results.jsonl and results.csv."""
import pathlib

from read import bases, file_kinds, renamed_keys, results_csv, results_jsonl
from read.errors import InputError
from read.points import Point, Points

LINES = "results.jsonl"


def read(paths: list[pathlib.Path]) -> Points:
    """The points of all files, such as the shards of a sweep."""
    points: list[Point] = []
    versions: list[str] = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as problem:
            raise InputError(f"{path}: {problem.strerror}") from None
        except UnicodeDecodeError:
            raise file_kinds.wrong_file(path, file_kinds.POINTS) from None
        if text.lstrip().startswith("{"):
            found, computed_by = results_jsonl.read(path, text)
            points += renamed_keys.current(path, found)
            versions += computed_by
        else:
            points += renamed_keys.current(path, results_csv.read(path, text))
    ordered = sorted(bases.with_base_axes(points), key=lambda point: point.number)
    return Points(", ".join(map(str, paths)), ordered, sorted(set(versions)))


def read_with_machines(paths: list[pathlib.Path]) -> Points:
    """The points of results.jsonl, with their configurations."""
    for path in paths:
        if _begins_with(path, results_csv.BEGINNING):
            raise InputError(f"{path}: a table without machine and tensor; give {LINES} of the same folder")
    return read(paths)


def of_study(folder: pathlib.Path) -> pathlib.Path:
    """The file with the points of a study."""
    return folder / LINES


def _begins_with(path: pathlib.Path, text: str) -> bool:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(len(text)) == text
    except (OSError, UnicodeDecodeError):
        return False  # the reader of the file throws
