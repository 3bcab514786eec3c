"""Notes about inputs that can be drawn in spite of a defect."""
import sys


def warn(text: str) -> None:
    """Prints one line on standard error."""
    print(f"plot: note: {text}", file=sys.stderr)
