"""The program under test, the remains of a fault, and the invariants common to all faults."""
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import uuid

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WRONG_INPUT = 2  # also: no disk space, memory or processes
MARK = "EQUARX_FAULT"  # in the environment of all processes of one command
NOBODY = 65534
LONGEST = 120  # seconds that any command here may take

SMALL = {
    "hardware": "tpu-v5e",
    "topology": {"slice": "4x2"},
    "tensor": {"bytes": "64 KiB"},
    "collectives": [
        {"label": "bf16", "algorithm": "ring", "format": "bf16"},
        {"label": "int8", "algorithm": "equarx", "format": "int8"},
    ],
}


class Failure(Exception):
    """A violated invariant: one sentence."""


class Skipped(Exception):
    """A fault that this machine does not support: one sentence."""


@dataclasses.dataclass(frozen=True)
class Done:
    """A finished command: `code` is negative if a signal ended it."""

    code: int
    out: bytes
    err: bytes


class Place:
    """A folder of one fault, and commands in it."""

    def __init__(self, program: pathlib.Path, folder: pathlib.Path):
        self.program, self.folder = program, folder
        folder.mkdir(parents=True, exist_ok=True)

    def config(self, name: str = "config.json", **changes) -> str:
        (self.folder / name).write_text(json.dumps(SMALL | changes))
        return name

    def start(self, *words, before=(), mark: str = "", program=None, **options) -> subprocess.Popen:
        """`before`: words before the program; `program`: another one. All standard streams are
        pipes unless set in `options`."""
        streams = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        environment = options.pop("env", None) or dict(os.environ)
        environment[MARK] = mark or uuid.uuid4().hex
        environment["PYTHONPATH"] = str(self.program.parent / "python")  # the package, for studies
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        return subprocess.Popen([*map(str, before), *(program or [str(self.program)]), *map(str, words)], cwd=self.folder,
                                env=environment, **(streams | options))

    def run(self, *words, given: bytes = b"", wait: float = LONGEST, **options) -> Done:
        mark = uuid.uuid4().hex
        child = self.start(*words, mark=mark, **options)
        try:
            out, err = child.communicate(given, timeout=wait)
        except subprocess.TimeoutExpired as late:
            child.kill()
            child.communicate()
            raise Failure(f"did not end within {wait:g} s") from late
        check_none_left(mark)
        return Done(child.returncode, out or b"", err or b"")


def as_another_user(place: Place) -> list[str]:
    """Prefix of a command that drops root's rights, which would hide a fault. Empty if this user is
    not root."""
    if os.getuid() != 0:
        return []
    if not shutil.which("setpriv"):
        raise Skipped("setpriv is not installed")
    place.folder.chmod(0o777)
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def processes_of(mark: str) -> list[int]:
    """Processes of a command that are not zombies."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                if "\nState:\tZ" not in (folder / "status").read_text():
                    found.append(int(folder.name))
        except OSError:  # gone, or another user's
            continue
    return found


def check_none_left(mark: str, within: float = 5) -> None:
    end = time.monotonic() + within
    while left := processes_of(mark):
        if time.monotonic() > end:
            for process in left:
                os.kill(process, signal.SIGKILL)
            raise Failure(f"{len(left)} processes did not end")
        time.sleep(0.02)


def check(holds: bool, sentence: str) -> None:
    if not holds:
        raise Failure(sentence)


def check_done(done: Done) -> None:
    check(done.code == 0, f"exit code {done.code}: {done.err.decode(errors='replace').strip()[-300:]}")


def check_line(done: Done, *words: str) -> None:
    """One error line with these words that does not report a defect of the program."""
    text = done.err.decode(errors="replace")
    check(text.count("\n") == 1 and text.startswith("equarx-sim: error: "), f"not an error line: {text[:300]!r}")
    for word in words:
        check(word in text, f"the error does not contain '{word}': {text.strip()!r}")


def check_refused(done: Done, *words: str) -> None:
    check(done.code == WRONG_INPUT, f"exit code {done.code} instead of {WRONG_INPUT}: {done.err[-300:]!r}")
    check_line(done, *words)


def names_in(folder: pathlib.Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
