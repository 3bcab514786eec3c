"""Reads JSON files."""
import json
import pathlib

from read.errors import InputError


def load(path: pathlib.Path) -> dict:
    """What the file has."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror}") from None
    except ValueError as problem:
        raise InputError(f"{path}: not JSON: {problem}") from None
