"""Progress of the program, shown below a notebook's cell or on a terminal.

The environment variable EQUARX_PROGRESS=off turns it off.
"""
from __future__ import annotations

import collections
import os
import sys
import threading
from typing import IO

# Marks of messages that are no progress.
_MESSAGES = ("error: ", "warning: ", "note: ")
_MOST_LINES = 1000  # of messages that are kept


class Display:
    """The newest line of progress; nothing without a notebook or terminal."""

    def __init__(self) -> None:
        self._handle = None
        self._shown = 0  # characters on the terminal
        is_off = os.environ.get("EQUARX_PROGRESS") == "off"
        self._is_notebook = not is_off and _in_notebook()
        self._is_terminal = not is_off and not self._is_notebook and sys.stderr is not None and sys.stderr.isatty()

    @property
    def is_seen(self) -> bool:
        """True on a terminal or in a notebook."""
        return self._is_notebook or self._is_terminal

    def show(self, line: str) -> None:
        """Replaces the line."""
        if self._is_notebook:
            self._show_in_notebook(line)
        elif self._is_terminal:
            sys.stderr.write(f"\r{line:<{self._shown}}")
            sys.stderr.flush()
            self._shown = len(line)

    def close(self) -> None:
        """Removes the line."""
        if self._handle is not None:
            self._show_in_notebook("")
        elif self._shown:
            self.show("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _show_in_notebook(self, line: str) -> None:
        from IPython.display import Pretty, display
        text = Pretty(line)
        if self._handle is None:
            self._handle = display(text, display_id=True)
        else:
            self._handle.update(text)


def _in_notebook() -> bool:
    """True in a kernel of Jupyter, whose front end replaces outputs."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


class Messages:
    """Reads the program's standard error until it ends: shows progress, keeps all else."""

    def __init__(self, stream: IO[str], display: Display):
        self._lines: collections.deque[str] = collections.deque(maxlen=_MOST_LINES)
        self._display = display
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            text = line.rstrip("\n").removeprefix("equarx-sim: ")
            if any(mark in line for mark in _MESSAGES) or not line.startswith("equarx-sim: "):
                self._lines.append(line.rstrip("\n"))
            else:
                self._display.show(text)

    def end(self) -> list[str]:
        """The lines that are no progress, after the program has ended."""
        self._thread.join()
        self._display.close()
        return list(self._lines)
