"""Processes of equarx-sim that are kept for the session, for runs that need SimGrid.

SimGrid forks, which is unsafe in a process with threads; so a helper is spawned, forks there, and
replies over pipes. There are as many helpers as concurrent runs, and no more than cores.
"""
from __future__ import annotations

import atexit
import json
import os
import subprocess
import threading

from . import _program
from ._errors import DefectError, InputError, ProgramError


class _Helper:
    """One process, for one request at a time."""

    def __init__(self):
        _program.require_same_version()
        self.process = _program.start(["answer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL)
        try:
            self._answer()  # reads its version
        except BaseException:
            self.end()
            raise

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            raise ProgramError(f"{_program.path()} ended without a reply; it may have run out of memory")
        try:
            return json.loads(line)
        except ValueError:
            raise ProgramError(f"{_program.path()} replied {line[:80].decode(errors='replace').strip()!r}, which is no "
                               f"JSON; reinstall it") from None

    def ask(self, request: dict) -> dict:
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise ProgramError(f"{_program.path()} ended before the request; it may have run out of memory") from None
        return self._answer()

    def end(self) -> None:
        _program.end(self.process)

    def forget(self) -> None:
        """In a forked child, which must not use the helper: closes the child's ends of the pipes."""
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()
        self.process.returncode = 0  # otherwise its destructor would wait for it


class _Helpers:
    """Idle helpers."""

    def __init__(self):
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(max(1, os.cpu_count() or 1))
        self._idle: list[_Helper] = []

    def ask(self, request: dict) -> dict:
        with self._slots:
            helper = self._take()
            try:
                answer = helper.ask(request)
            except BaseException:  # Ctrl-C, too: its reply is not needed any more
                helper.end()
                raise
            with self._lock:
                self._idle.append(helper)
            return answer

    def _take(self) -> _Helper:
        with self._lock:
            while self._idle:
                helper = self._idle.pop()
                if helper.process.poll() is None:
                    return helper
                helper.end()
        return _Helper()

    def end(self) -> None:
        with self._lock:
            while self._idle:
                self._idle.pop().end()

    def forget(self) -> None:
        for helper in self._idle:
            helper.forget()


_helpers = _Helpers()


def _in_forked_child() -> None:
    global _helpers
    _helpers.forget()
    _helpers = _Helpers()


atexit.register(lambda: _helpers.end())
os.register_at_fork(after_in_child=_in_forked_child)


def ask(request: dict) -> dict:
    """Sends a request to a helper and returns the reply (tools/cli/commands.hpp)."""
    answer = _helpers.ask({**request, "folder": os.getcwd()})
    error = answer.get("error")
    if error is None:
        return answer
    if error["kind"] == "input":
        raise InputError(error["message"], error["pointer"])
    raise DefectError(error["message"])
