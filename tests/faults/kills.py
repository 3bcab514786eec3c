"""Kills commands (SIGKILL, as by the kernel when out of memory) at random moments, and restarts
them.

Invariants of every kill: nothing finished is lost, no partial file has a final name, no process is
left; in the end the results equal an undisturbed run's, byte for byte.
"""
import random
import shutil
import signal
import time
import uuid

from killed_commands import COMMANDS, Command
from program import LONGEST, Failure, Place, check, check_done, check_none_left, names_in

LINES = "results.jsonl"


def contents(folder) -> dict[str, bytes]:
    """Remaining files, by name: without locks, and with lines of points sorted, as points finish in
    any order."""
    found = {name: (folder / name).read_bytes() for name in names_in(folder) if not name.endswith("lock")}
    return {name: b"".join(sorted(text.splitlines(True))) if name.endswith(LINES) else text
            for name, text in found.items()}


def whole_lines(folder) -> set[bytes]:
    return {line for file in folder.rglob(LINES) for line in file.read_bytes().splitlines(True) if line.endswith(b"\n")}


def is_hidden(name: str) -> bool:
    return name.rpartition("/")[2].startswith(".equarx-")


class Killer:
    """Kills one command again and again, in one folder."""

    def __init__(self, program, folder, name: str, seed: int, ending=signal.SIGKILL):
        self.command: Command = COMMANDS[name]
        self.ending = ending
        self.moments = random.Random(f"{seed} {name}")
        self.whole, self.killed = Place(program, folder / "whole"), Place(program, folder / "killed")
        self.kills = self.hits = 0
        self.takes = self.make_whole()

    def words(self, place: Place) -> list[str]:
        self.command.prepare(place)
        return self.command.words

    def start(self, place: Place, mark: str = ""):
        return place.start(*self.words(place), program=self.command.program, mark=mark)

    def finish(self, place: Place) -> float:
        words = self.words(place)
        begin = time.monotonic()
        check_done(place.run(*words, program=self.command.program))
        return time.monotonic() - begin

    def make_whole(self) -> float:
        takes = self.finish(self.whole)
        self.expected = contents(self.whole.folder / "out")
        check(bool(self.expected), "the command writes nothing, so there is nothing to check")
        return takes

    def kill_once(self) -> None:
        self.kills += 1
        out = self.killed.folder / "out"
        before = whole_lines(out)
        mark = uuid.uuid4().hex
        child = self.start(self.killed, mark)
        moment = self.moments.uniform(0, 1) * self.takes
        try:
            time.sleep(moment)
            self.hits += child.poll() is None
            child.send_signal(self.ending)
            _, err = child.communicate(timeout=LONGEST)
            self.check_end(child.returncode, err)
            check_none_left(mark)
            check(before <= whole_lines(out), "finished lines are lost")
            self.check_no_half()
        except Failure as failure:
            raise Failure(f"killed after {moment:.3f} s: {failure}") from failure

    def check_end(self, code: int, err: bytes) -> None:
        """The command ended by the signal, reported directly or as by a shell, or had finished
        before."""
        allowed = (0, -self.ending, 128 + self.ending)
        check(code in allowed, f"exit code {code}: {err[-300:]!r}")

    def check_no_half(self) -> None:
        """Every file with a final name is complete; in a file of lines, all lines but the last."""
        for name, text in contents(self.killed.folder / "out").items():
            if is_hidden(name) or ".part" in name:
                continue  # not a final name: nothing reads it
            if name.endswith(LINES):
                wanted = set(self.expected.get(name, b"").splitlines(True))
                strange = [line for line in text.splitlines(True) if line.endswith(b"\n") and line not in wanted]
                check(not strange, f"{name} has a line that differs from the results: {strange[:1]}")
            elif not self.command.is_inner(name):
                check(text == self.expected.get(name), f"{name} is incomplete: {len(text)} bytes of "
                      f"{len(self.expected.get(name, b''))}")

    def finish_and_compare(self) -> None:
        self.finish(self.killed)
        found = contents(self.killed.folder / "out")
        # may hit between a complete file's temporary name and its final one
        if self.ending == signal.SIGKILL:
            found = {name: text for name, text in found.items() if not is_hidden(name)}
        for name in sorted(self.expected.keys() | found.keys()):
            check(name in self.expected, f"{name} was left behind")
            check(found.get(name) == self.expected[name], f"{name} differs from a run without kills")
        shutil.rmtree(self.killed.folder / "out")  # the next kills find a new folder
