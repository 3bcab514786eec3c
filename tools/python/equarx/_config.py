"""Configurations in user form: dictionaries, or paths of JSON files."""
from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping

from . import _core
from ._errors import InputError


def _plain(value):
    """Converts types that json lacks: numbers of NumPy, paths, mappings."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # NumPy: a scalar, or an array of lengths
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is no value of a configuration; it takes what JSON has")


def to_json(value) -> str:
    """A value as JSON text. @raises InputError for values without a JSON form."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"configuration: {error}") from None


def text_of(config) -> str:
    """The JSON text of a configuration: a mapping, or the path of a file. @raises InputError"""
    if isinstance(config, Mapping):
        return to_json(config)
    if isinstance(config, (str, os.PathLike)):
        text = _core.read_file(os.fspath(config))
        with naming_file(config):
            return _core.without_comments(text)
    raise InputError(f"a configuration must be a dict or the path of a JSON file, not a {type(config).__name__}")


def overrides_of(overrides) -> list[tuple[str, str]]:
    """Pairs of pointer and text, in the form of ``--set``."""
    if overrides is None:
        return []
    if not isinstance(overrides, Mapping):
        raise InputError('overrides must be a dict of JSON pointers, like {"/tensor/bytes": "8 MiB"}')
    pairs = []
    for pointer, value in overrides.items():
        if not isinstance(pointer, str) or not pointer.startswith("/"):
            raise InputError(f"overrides: {pointer!r} is not a JSON pointer; write it like /tensor/bytes")
        pairs.append((pointer, value if isinstance(value, str) else to_json(value)))
    return pairs


@contextlib.contextmanager
def naming_file(config):
    """Prefixes messages about a file with its name, as the program does."""
    try:
        yield
    except InputError as error:
        if isinstance(config, Mapping) or str(error).startswith(str(config)):
            raise
        raise InputError(f"{os.fspath(config)}: {error}", error.pointer) from None
