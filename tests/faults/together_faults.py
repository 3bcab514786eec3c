"""Concurrency: commands that write to one place, and files that change while they are read."""
import os
import pathlib
import signal

from killed_commands import COMMANDS, write_tensor
from kills import contents
from program import Place, check, check_done, check_refused
from registry import fault


def ends(children) -> list:
    return [(child.communicate()[1], child.returncode) for child in children]


def check_one_is_refused(place: Place, name: str) -> None:
    """Two commands in one folder: both succeed, or one fails with a one-line reason."""
    command = COMMANDS[name]
    command.prepare(place)
    expected = Place(place.program, place.folder / "alone")
    command.prepare(expected)
    check_done(expected.run(*command.words))
    for both in ends([place.start(*command.words) for _ in range(2)]):
        if both[1] != 0:
            check(both[1] == 2 and b"another sweep or study" in both[0], f"exit code {both[1]}: {both[0][-300:]!r}")
    check(contents(place.folder / "out") == contents(expected.folder / "out"), "the results differ from those of one command")


@fault("two sweeps in one folder", slow=True)
def two_sweeps(place: Place) -> None:
    check_one_is_refused(place, "sweep")


@fault("two studies in one folder", slow=True)
def two_studies(place: Place) -> None:
    check_one_is_refused(place, "reproduce")


@fault("two commands that write one file")
def two_writers(place: Place) -> None:
    check_writers(place, ("run --trace", "quantize"))


@fault("two other commands that write one file", slow=True)
def two_other_writers(place: Place) -> None:
    check_writers(place, ("tune", "calibrate", "run --output-tensors", "import", "report"))


def check_writers(place: Place, names) -> None:
    for name in names:
        command = COMMANDS[name]
        here = Place(place.program, place.folder / name.replace(" ", "_"))
        command.prepare(here)
        check_done(here.run(*command.words))
        expected = contents(here.folder / "out")
        for err, code in ends([here.start(*command.words) for _ in range(3)]):
            check(code == 0, f"{name}: exit code {code}: {err[-300:]!r}")
        check(contents(here.folder / "out") == expected, f"{name}: the files differ from those of one command")


def stop_at_mapping(child) -> None:
    """Returns once the process has the file in memory, or has ended."""
    while child.poll() is None:
        if "big.npy" in pathlib.Path(f"/proc/{child.pid}/maps").read_text():
            return child.send_signal(signal.SIGSTOP)


@fault("a tensor file is truncated while it is read")
def cut_while_read(place: Place) -> None:
    write_tensor(place)
    whole = (place.folder / "big.npy").read_bytes()
    hits = tries = 0
    while hits == 0 and tries < 20:
        tries += 1
        (place.folder / "big.npy").write_bytes(whole)
        child = place.start("quantize", "big.npy", "-o", "out.npy")
        stop_at_mapping(child)
        os.truncate(place.folder / "big.npy", 256)
        child.send_signal(signal.SIGCONT)
        _, err = child.communicate()
        check(child.returncode in (0, 2), f"exit code {child.returncode}: {err!r}")
        check(child.returncode == 0 or b"big.npy: " in err, f"stderr {err!r}")
        hits += b"was truncated" in err
        check(child.returncode == 0 or not (place.folder / "out.npy").exists(), "a partial tensor was left")
        (place.folder / "out.npy").unlink(missing_ok=True)
    check(hits > 0, "it was never truncated while being read: retry on an idle machine")


@fault("a tensor file is truncated before it is read")
def cut_before(place: Place) -> None:
    write_tensor(place)
    whole = (place.folder / "big.npy").read_bytes()
    for length in (0, 1, 6, 10, 64, 127, 128, 129, 4096, len(whole) - 1):
        (place.folder / "cut.npy").write_bytes(whole[:length])
        check_refused(place.run("quantize", "cut.npy"), "cut.npy")
