"""The program equarx-sim, for work that is unsafe in this process: everything that forks."""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import subprocess

from . import _core
from ._errors import InputError, ProgramError
from ._progress import Display, Messages

ENVIRONMENT = "EQUARX_SIM"
# also if this process is killed and cannot end its children
_ENDS_WITH_PARENT = {"EQUARX_SIM_ENDS_WITH_PARENT": "1"}
_NAME = "equarx-sim"
_HERE = pathlib.Path(__file__).resolve().parent
# Next to the package in a wheel, in the build tree, and in the layout of `cmake --install`.
_PLACES = ("_program/bin", "../..", "../../../../bin")


def path() -> str:
    """Path of the program: the environment variable EQUARX_SIM, else next to the package, else in
    PATH."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return named
    for place in _PLACES:
        candidate = (_HERE / place / _NAME).resolve()
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which(_NAME)
    if found is None:
        raise ProgramError(f"{_NAME} was found neither next to the package nor in PATH; install it, or name it by the "
                           f"environment variable {ENVIRONMENT}")
    return found


def check_version(program: str, version: str) -> None:
    """Rejects a program of another version, whose results may differ; uncommitted changes do not
    count."""
    if version.partition(".dirty")[0] != _core.version().partition(".dirty")[0]:
        raise ProgramError(f"{program} has version {version}, but this package {_core.version()}; install both "
                           f"from one source, or name the right one by {ENVIRONMENT}")


def start(arguments: list[str], **options) -> subprocess.Popen:
    """Starts the program. It is spawned, not forked, and in a session of its own: this process
    handles Ctrl-C."""
    program = path()
    try:
        return subprocess.Popen([program, *arguments], start_new_session=True, **options)
    except OSError as error:
        raise ProgramError(f"{program} cannot be started: {error.strerror}; {ENVIRONMENT} may name another") from None


def kill(process: subprocess.Popen) -> None:
    """Ends it, with all its child processes, if it still runs."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


def end(process: subprocess.Popen) -> None:
    """The same; closes its pipes, too."""
    kill(process)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # unwritten input
                pass


def command(arguments: list[str], given: str = "", accepted: tuple[int, ...] = (0,)) -> str:
    """Output of a subcommand; its progress is shown (_progress.py). @raises InputError for exit code
    2, ProgramError for any other code not accepted."""
    require_same_version()
    display = Display()
    environment = os.environ | _ENDS_WITH_PARENT | ({"EQUARX_PROGRESS": "lines"} if display.is_seen else {})
    process = start(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    errors="replace", env=environment)
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # pipes
    messages = Messages(process.stderr, display)
    try:
        # Not communicate(), which continues for a quarter of a second after Ctrl-C. Commands
        # read all before they write.
        with process.stdin as asked:
            asked.write(given)
        printed = process.stdout.read()
        process.wait()
    except BrokenPipeError:  # it has ended already; its message gives the reason
        printed = ""
        process.wait()
    finally:
        kill(process)
        complaints = messages.end()
        end(process)
    if process.returncode in accepted:
        return printed
    lines = [line for line in complaints if "error: " in line]
    message = lines[-1].split("error: ", 1)[1] if lines else f"it ended with code {process.returncode}"
    if process.returncode == 2:
        message = message.removeprefix("standard input: ")
        pointer = re.match(r"(/[^\s:]*):", message)
        is_file = pointer is not None and pointer.group(1) in arguments
        raise InputError(message, pointer.group(1) if pointer and not is_file else "")
    raise ProgramError(f"{_NAME} {arguments[0]}: {message}")


_checked: set[str] = set()


def require_same_version() -> None:
    """Reads the program's version, once."""
    program = path()
    if program in _checked:
        return
    process = start(["--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        printed = process.communicate()[0].strip()
    finally:
        end(process)
    words = printed.split()
    if process.returncode != 0 or len(words) != 2 or words[0] != _NAME:
        output = printed.splitlines()[-1] if printed else f"exit code {process.returncode}"
        raise ProgramError(f"{program} is not {_NAME}: {output}")
    check_version(program, words[1])
    _checked.add(program)
