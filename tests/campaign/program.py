"""Interface to the program from a user's perspective: a command and its answer."""
import dataclasses
import json
import re
import resource
import signal
import subprocess
import time

WRONG_INPUT = 2
MOST_MEMORY = 6 << 30  # of one command, in bytes: machines and tensors are small
MOST_SECONDS = 60.0  # of one command: they take milliseconds
LONGEST_LINE = 4000  # of a message


class Broken(Exception):
    """A violated invariant. `invariant` is its name, which shrinking preserves."""

    def __init__(self, invariant: str, text: str):
        super().__init__(f"{invariant}: {text}")
        self.invariant = invariant
        self.text = text


@dataclasses.dataclass(frozen=True)
class Answer:
    command: tuple
    code: int
    out: str
    err: str
    seconds: float
    hung: bool = False

    @property
    def refused(self) -> bool:
        return self.code == WRONG_INPUT


def limit_memory() -> None:
    """Limits this process and its children."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = MOST_MEMORY if most == resource.RLIM_INFINITY else min(most, MOST_MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def ask(program: str, arguments: list, folder, stdin: str = "", seconds: float = MOST_SECONDS) -> Answer:
    command = (program, *map(str, arguments))
    begin = time.monotonic()
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, close_fds=False, start_new_session=True) as process:
        try:
            out, err = process.communicate(stdin.encode(), timeout=seconds)
            hung = False
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            hung = True
    return Answer(command, process.returncode, out.decode(errors="replace"), err.decode(errors="replace"),
                  time.monotonic() - begin, hung)


def check(answer: Answer, *, allowed_failure: bool = False) -> Answer:
    """An answer is a result, or one line on standard error and exit code 2. @raises Broken

    `allowed_failure`: exit code 1 is an answer, too, as from a sweep with failed points.
    """
    if answer.hung:
        raise Broken("hangs", f"no answer after {answer.seconds:.0f} s")
    if answer.code < 0:
        raise Broken("crash", f"ended by {signal.Signals(-answer.code).name}: {answer.err[-300:]}")
    if answer.code == 1 and allowed_failure:
        return answer
    if answer.code not in (0, WRONG_INPUT):
        raise Broken("exit code", f"{answer.code}: {answer.err[-600:]}")
    if answer.code == 0:
        return answer
    if answer.out:
        raise Broken("refusal", f"refused, but standard output has: {answer.out[:200]!r}")
    line = without_progress(answer.err)
    if not line.endswith("\n") or line.count("\n") != 1 or not line.strip():
        raise Broken("refusal", f"not one line: {answer.err[:600]!r}")
    if len(line) > LONGEST_LINE:
        raise Broken("refusal", f"a line of {len(line)} characters: {line[:200]!r}")
    for word in ("internal", "std::", "exception", "assert", "bad_alloc", "vector::", "basic_string"):
        if word in line.lower():
            raise Broken("refusal", f"has '{word}': {answer.err[:600]!r}")
    return answer


def without_progress(text: str) -> str:
    """Long commands print their progress every ten seconds."""
    return "".join(line for line in text.splitlines(keepends=True) if not re.match(r"equarx-sim: \d+ % of ", line))


def refuse_constant(name: str):
    raise ValueError(f"{name} is no JSON")


def parse(text: str) -> dict:
    """Standard JSON, without NaN and Infinity. @raises Broken"""
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except ValueError as error:
        raise Broken("json", f"{error}: {text[:200]!r}") from error
