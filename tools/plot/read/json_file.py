"""Reads JSON files."""
import json
import pathlib

from read import file_kinds
from read.errors import InputError


def load(path: pathlib.Path, kind: str, needs: str = "") -> dict:
    """The object in a file of that kind (read.file_kinds); `needs` as of file_kinds.wrong_file()."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror}") from None
    except ValueError as problem:  # not UTF-8, or not JSON
        raise file_kinds.wrong_file(path, kind, problem, needs) from None
    if file_kinds.of(path) != kind:
        raise file_kinds.wrong_file(path, kind, None, needs)
    return content
