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
    except json.JSONDecodeError as problem:
        if problem.msg == "Extra data" and problem.lineno > 1:
            raise InputError(f"{path}: has an object in each line, like the results of a sweep; "
                             "this picture is of one object") from None
        raise InputError(f"{path}: not JSON: {problem}") from None
    except ValueError as problem:  # not UTF-8
        raise InputError(f"{path}: not JSON: {problem}") from None
