"""Exceptions of the package."""
from __future__ import annotations


class InputError(ValueError):
    """What was asked for cannot be done: one sentence with the place and the remedy.

    ``pointer`` is the JSON pointer of what is wrong in a configuration, like ``"/tensor/bytes"``, or ``""``.
    """

    def __init__(self, message: str, pointer: str = ""):
        super().__init__(message)
        self.pointer = pointer

    def __reduce__(self):
        return type(self), (str(self), self.pointer)


class DefectError(RuntimeError):
    """A result broke an invariant that all results obey, or a simulation crashed: a defect of equarx-sim."""

    def __init__(self, message: str, _pointer: str = ""):
        super().__init__(message)


class ProgramError(RuntimeError):
    """The program equarx-sim is missing, is of another version, or ended without an answer."""
