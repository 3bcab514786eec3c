#!/usr/bin/python3
"""System faults: killed commands, full disks, exhausted memory and processes.

  tests/faults/run.py build/release/equarx-sim                  # each fault once, and each command killed once
  tests/faults/run.py --kills 100 --seed 1 build/release/equarx-sim
  tests/faults/run.py --only "kill sweep" --kills 20 --seed 7 build/release/equarx-sim
  tests/faults/run.py --list build/release/equarx-sim

Kills are distributed over the commands; their moments depend only on command and seed. Exit codes:
0 all invariants hold, 1 some do not (each is printed with the command that reproduces it), 2 wrong
usage.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
import time

import disk_faults  # noqa: F401  (imports register the faults)
import limit_faults  # noqa: F401
import name_faults  # noqa: F401
import network_faults  # noqa: F401
import path_faults  # noqa: F401
import signal_faults  # noqa: F401
import stream_faults  # noqa: F401
import together_faults  # noqa: F401
from killed_commands import COMMANDS, commands_here
from kills import Killer
from program import Failure, Place, Skipped
from registry import FAULTS, SLOW

QUICK_KILLS = ("sweep", "tune", "run --trace", "quantize")
KILLS_BETWEEN_ENDS = 5  # in one folder, before the command may finish


class Report:
    """Progress, estimated time left, and failures."""

    def __init__(self, arguments, steps: int):
        self.arguments, self.steps = arguments, steps
        self.tried, self.failures, self.skipped = 0, [], []
        self.begin = self.last = time.monotonic()

    def add(self, name: str, kills: int, outcome: str) -> None:
        """`outcome`: in words; starts with FAILS for a failure."""
        self.tried += max(kills, 1)
        now = time.monotonic()
        took, self.last = now - self.last, now
        left = (now - self.begin) / self.tried * max(self.steps - self.tried, 0)
        print(f"[{self.tried}/{self.steps}] {name}: {outcome} ({took:.1f} s); {left / 60:.1f} min left", flush=True)
        if outcome.startswith("FAILS"):
            self.failures.append((name, kills, outcome))
        if outcome.startswith("skipped"):
            self.skipped.append(name)

    def finish(self) -> int:
        print(f"{self.tried} tried, seed {self.arguments.seed}: {len(self.failures)} fail, {len(self.skipped)} skipped")
        for name, kills, outcome in self.failures:
            repeat = ["tests/faults/run.py", "--only", name, "--seed", str(self.arguments.seed)]
            repeat += ["--kills", str(kills)] if kills else []
            print(f"{name}: {outcome}\n  reproduce: {shlex.join([*repeat, str(self.arguments.program)])}")
        return 1 if self.failures else 0


def outcome_of(action) -> str:
    try:
        return action() or "holds"
    except Failure as failure:
        return f"FAILS: {failure}"
    except Skipped as reason:
        return f"skipped: {reason}"


def kill(program: pathlib.Path, folder: pathlib.Path, name: str, seed: int, kills: int) -> str:
    killer = Killer(program, folder, name, seed)
    for i in range(kills):
        killer.kill_once()
        if i + 1 == kills or (i + 1) % KILLS_BETWEEN_ENDS == 0:
            killer.finish_and_compare()
    return f"holds after {kills} kills, {killer.hits} of them during its work"


def shares(names: list[str], kills: int) -> dict[str, int]:
    """Number of kills per command. Commands that take seconds are killed less often."""
    weights = {name: 1 if COMMANDS[name].is_slow else 3 for name in names}
    given = {name: kills * weight // sum(weights.values()) for name, weight in weights.items()}
    for name in list(names)[:kills - sum(given.values())]:
        given[name] += 1
    return {name: count for name, count in given.items() if count > 0}


def chosen(arguments) -> tuple[list[str], dict[str, int]]:
    """Faults, and kills by command."""
    known = {**{name: "fault" for name in FAULTS}, **{f"kill {name}": "kill" for name in COMMANDS}}
    for name in arguments.only:
        if name not in known:
            fail(f"there is no fault '{name}'; --list shows all")
    wanted = arguments.only or [*(name for name in FAULTS if not (arguments.quick and name in SLOW)),
                                *(f"kill {name}" for name in commands_here(arguments.program)
                                  if not arguments.quick or name in QUICK_KILLS)]
    commands = [name.removeprefix("kill ") for name in wanted if known[name] == "kill"]
    kills = len(commands) if arguments.kills is None else arguments.kills
    return [name for name in wanted if known[name] == "fault"], shares(commands, kills) if commands else {}


def fail(message: str):
    print(f"run.py: error: {message}", file=sys.stderr)
    sys.exit(2)


def arguments_of_command_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path, help="equarx-sim")
    parser.add_argument("--kills", type=int, metavar="N", help="in total; by default one per command")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (%(default)s)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="run only this fault; may be repeated")
    parser.add_argument("--quick", action="store_true", help="only faults that take less than half a second each")
    parser.add_argument("--list", action="store_true", help="print the names of all faults, and exit")
    arguments = parser.parse_args()
    if not arguments.list and not arguments.program.is_file():
        fail(f"there is no program {arguments.program}; build it first")
    if arguments.kills is not None and arguments.kills < 0:
        fail(f"--kills: {arguments.kills} is too few; use 0 or more")
    arguments.program = arguments.program.resolve()
    return arguments


def main() -> int:
    arguments = arguments_of_command_line()
    if arguments.list:
        print("\n".join([*FAULTS, *(f"kill {name}" for name in COMMANDS)]))
        return 0
    faults, kills = chosen(arguments)
    report = Report(arguments, len(faults) + sum(kills.values()))
    base = pathlib.Path(tempfile.mkdtemp(prefix="equarx-faults-"))
    base.chmod(0o755)  # another user's processes are among the faults
    try:
        for i, name in enumerate(faults):
            place = Place(arguments.program, base / f"fault{i}")
            report.add(name, 0, outcome_of(lambda name=name, place=place: FAULTS[name](place)))
        for i, (name, count) in enumerate(kills.items()):
            place = base / f"kill{i}"
            report.add(f"kill {name}", count, outcome_of(lambda name=name, count=count, place=place: kill(
                arguments.program, place, name, arguments.seed, count)))
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return report.finish()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
