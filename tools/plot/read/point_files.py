"""Reads files of points, whatever their format."""
import pathlib

from read import bases, renamed_keys, results_csv, results_jsonl
from read.errors import InputError
from read.points import Point, Points

LINES = "results.jsonl"


def read(paths: list[pathlib.Path]) -> Points:
    """The points of results.jsonl and results.csv, all files together, as shards of a sweep are put together."""
    points: list[Point] = []
    versions: list[str] = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as problem:
            raise InputError(f"{path}: {problem.strerror}") from None
        except UnicodeDecodeError as problem:
            raise InputError(f"{path}: not a text file: {problem}") from None
        if text.lstrip().startswith("{"):
            found, said = results_jsonl.read(path, text)
            points += renamed_keys.current(path, found)
            versions += said
        else:
            points += renamed_keys.current(path, results_csv.read(path, text))
    ordered = sorted(bases.told_apart(points), key=lambda point: point.number)
    return Points(", ".join(map(str, paths)), ordered, sorted(set(versions)))


def read_with_machines(paths: list[pathlib.Path]) -> Points:
    """The points of results.jsonl, which says what machine and tensor they are of."""
    for path in paths:
        if _begins_with(path, results_csv.BEGINNING):
            raise InputError(f"{path}: a table does not say machine and tensor; give {LINES} beside it")
    return read(paths)


def of_study(folder: pathlib.Path) -> pathlib.Path:
    """Where a study has its points."""
    return folder / LINES


def are_lines(paths: list[pathlib.Path]) -> bool:
    """Whether all files look like results.jsonl rather than tables."""
    return all(_begins_with(path, "{") for path in paths)


def _begins_with(path: pathlib.Path, text: str) -> bool:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(len(text)) == text
    except (OSError, UnicodeDecodeError):
        return False  # whoever reads it says what is wrong
