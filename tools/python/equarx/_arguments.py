"""Arguments of a function as a command line."""
from __future__ import annotations

import os
from collections.abc import Mapping

from . import _program
from ._config import naming_file, overrides_of, text_of
from ._errors import InputError


def options(given: Mapping[str, object]) -> list[str]:
    """Options with their values: None and False are left out, True is a flag, a list is joined by
    commas, and a mapping becomes NAME=VALUE, once for each."""
    arguments: list[str] = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(name)
        elif isinstance(value, Mapping):
            for key, one in value.items():
                arguments += [name, f"{key}={one}"]
        elif isinstance(value, (list, tuple)):
            arguments += [name, ",".join(map(str, value))]
        else:
            arguments += [name, str(os.fspath(value) if isinstance(value, os.PathLike) else value)]
    return arguments


def with_unit(value, unit: str) -> str | None:
    """A number with its unit; texts have theirs already."""
    return value if value is None or isinstance(value, str) else f"{value!r} {unit}"


def configuration(config, overrides) -> tuple[list[str], str]:
    """The positional argument for a configuration, with overrides, and standard input."""
    return ["-", *settings(overrides)], text_of(config)


def settings(overrides) -> list[str]:
    """Overrides as options."""
    return [argument for pointer, value in overrides_of(overrides) for argument in ("--set", f"{pointer}={value}")]


def answer(arguments: list[str], config, given: str) -> str:
    """Output of a subcommand on a configuration; messages about a file name it."""
    with naming_file(config):
        return _program.command(arguments, given=given)


def path(given, what: str) -> str:
    """A path as text. @raises InputError for other types"""
    if not isinstance(given, (str, os.PathLike)):
        raise InputError(f"{what} must be the path of a file, not a {type(given).__name__}")
    return os.fspath(given)
