"""What is wrong with an input, as one line for whoever gave it."""
import difflib


class InputError(Exception):
    """A one-line message: which file, which line, what is wrong."""


class TooMuch(InputError):
    """There is more in the input than one picture can show."""


def unknown(what: str, wanted: str, known: list[str], source: str) -> InputError:
    """An error about a name that is not there, with what is."""
    nearest = difflib.get_close_matches(wanted, known, n=1, cutoff=0.5)
    hint = f"; nearest is '{nearest[0]}'" if nearest else ""
    return InputError(f"{source}: there is no {what} '{wanted}'{hint}; there is: {', '.join(known)}")
