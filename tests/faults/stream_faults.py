"""Standard streams that are closed, full, or infinite."""
import json
import os
import resource
import signal

from program import Place, check, check_done, check_line, check_refused
from registry import fault

GIBIBYTE = 1 << 30


def closing(*numbers: int):
    """Runs in the child: closes these streams before the program begins."""
    def close() -> None:
        for number in numbers:
            os.close(number)
    return close


@fault("the reader of standard output goes away")
def reader_goes_away(place: Place) -> None:
    config = place.config()
    for words in (["run", config, "--json"], ["hardware"], ["--help"], ["show", config]):
        child = place.start(*words)
        child.stdout.close()
        err = child.stderr.read()
        code = child.wait()
        check(code in (0, -signal.SIGPIPE) and err == b"", f"{words[0]}: exit code {code}, stderr {err!r}")


@fault("standard output is closed")
def output_closed(place: Place) -> None:
    check_refused(place.run("run", place.config(), preexec_fn=closing(1)), "cannot write to standard output")


@fault("standard output is a full disk")
def output_full(place: Place) -> None:
    with open("/dev/full", "wb") as full:
        done = place.run("run", place.config(), stdout=full)
    check_refused(done, "cannot write to standard output")


def check_trace(place: Place, **options) -> None:
    """No message ends up in the file, and no message is required."""
    done = place.run("run", place.config(), "--trace", "trace.json", **options)
    check_done(done)
    json.loads((place.folder / "trace.json").read_text())
    done = place.run("run", "nothing.json", **options)
    check(done.code == 2, f"exit code {done.code} for a wrong command")


@fault("standard error is closed")
def error_closed(place: Place) -> None:
    check_trace(place, preexec_fn=closing(2))


@fault("standard error is a full disk")
def error_full(place: Place) -> None:
    with open("/dev/full", "wb") as full:
        check_trace(place, stderr=full)


@fault("all standard streams are closed")
def all_closed(place: Place) -> None:
    sweep = {"base": json.loads((place.folder / place.config()).read_text()),
             "axes": [{"key": "/tensor/bytes", "values": ["16 KiB", "32 KiB"]}]}
    (place.folder / "sweep.json").write_text(json.dumps(sweep))
    done = place.run("sweep", "sweep.json", "-o", "out", preexec_fn=closing(0, 1, 2))
    check(done.code == 2, f"exit code {done.code} without streams")
    lines = (place.folder / "out" / "results.jsonl").read_text().splitlines()
    check(len(lines) == 4 and all(json.loads(line) for line in lines), "results.jsonl is incomplete")


def little_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (GIBIBYTE, GIBIBYTE))


@fault("an infinite configuration")
def no_end(place: Place) -> None:
    check_refused(place.run("run", "/dev/zero", preexec_fn=little_memory), "/dev/zero", "may have no end")
    with open("/dev/zero", "rb") as zeros:
        check_refused(place.run("run", "-", stdin=zeros, preexec_fn=little_memory), "standard input", "may have no end")


@fault("a file with a hole that is larger than memory")
def hole(place: Place) -> None:
    with open(place.folder / "hole.json", "wb") as file:
        file.truncate(1 << 40)
    check_refused(place.run("run", "hole.json", preexec_fn=little_memory), "hole.json", "more than this computer's memory")


@fault("standard input is closed")
def input_closed(place: Place) -> None:
    done = place.run("run", "-", preexec_fn=closing(0))
    check(done.code == 2, f"exit code {done.code}")
    check_line(done, "standard input")
