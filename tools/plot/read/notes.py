"""What whoever gave an input should know of it, though it can be drawn."""
import sys


def say(text: str) -> None:
    """One line on standard error."""
    print(f"plot: note: {text}", file=sys.stderr)
