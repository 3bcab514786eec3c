"""Exceptions of the package."""
from __future__ import annotations


class InputError(ValueError):
    """Invalid input: one sentence with the location and the remedy.

    ``pointer`` is the JSON pointer of the invalid value in a configuration, like
    ``"/tensor/bytes"``, or ``""``.
    """

    def __init__(self, message: str, pointer: str = ""):
        super().__init__(message)
        self.pointer = pointer

    def __reduce__(self):
        return type(self), (str(self), self.pointer)


class DefectError(RuntimeError):
    """A result violated an invariant of all results, or a simulation crashed: a defect of
    equarx-sim."""

    def __init__(self, message: str, _pointer: str = ""):
        super().__init__(message)


class ProgramError(RuntimeError):
    """The program equarx-sim is missing, has a different version, or ended without a result."""
