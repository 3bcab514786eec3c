"""One-line errors about inputs."""
import difflib
import pathlib


class InputError(Exception):
    """A one-line message with the file, the line, the problem and the remedy."""


class TooMuch(InputError):
    """The input has more than one picture can show."""

    def __init__(self, message: str, *entries: tuple[pathlib.Path, int]):
        super().__init__(message)
        self.entries = entries
        """File and line of two entries that the picture cannot show together."""


class WrongFile(InputError):
    """A file of another kind than the picture needs."""

    def __init__(self, path: pathlib.Path, found: str, needs: str):
        self.path, self.found, self.needs = path, found, needs
        super().__init__(self.text("this picture"))

    def text(self, picture: str) -> str:
        """The message, with the name of the picture."""
        return f"{self.path} is {self.found}; {picture} needs {self.needs}"


def unknown(what: str, wanted: str, known: list[str], source: str) -> InputError:
    """An error about an unknown name, with the known ones."""
    nearest = difflib.get_close_matches(wanted, known, n=1, cutoff=0.5)
    hint = f"; nearest is '{nearest[0]}'" if nearest else ""
    return InputError(f"{source}: there is no {what} '{wanted}'{hint}; there is: {', '.join(known)}")


def reason(problem: Exception) -> str:
    """An exception raised by malformed JSON, without Python's names."""
    if isinstance(problem, KeyError):
        return f"no key {problem}"
    if isinstance(problem, IndexError):
        return "a list is empty"
    if isinstance(problem, StopIteration):
        return "an unknown topology"
    if isinstance(problem, (TypeError, AttributeError)):
        return "a value of another type than expected"
    return str(problem)
