"""The command as the user types it."""
import pathlib
import shlex
import sys

INSTALLED = "equarx-plot"


def is_installed() -> bool:
    """True if the command is called by its installed name."""
    return pathlib.Path(sys.argv[0]).name == INSTALLED


def command() -> str:
    """The command without arguments."""
    return INSTALLED if is_installed() else "python3 tools/plot/plot.py"


def example(*words: str) -> str:
    """The command with these arguments, quoted for a shell."""
    return f"{command()} {shlex.join(words)}"
