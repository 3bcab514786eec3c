"""Checks random configurations of every kind against invariants. tools/campaign.sh builds the
program and starts this."""
import argparse
import collections
import multiprocessing
import os
import pathlib
import sys
import time

import cases
import kinds
import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVERY_SECONDS = 10.0  # interval of progress lines without a terminal
SHRINKING_SECONDS = 60.0  # per failure
MOST_SHRUNK = 10  # failures that are shrunk; further ones are only listed


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/campaign.sh", description="Random configurations over every key, valid and malformed: each answer is a "
        "result that passes all invariants, or one line and exit code 2. A seed repeats a campaign, "
        "SEED:NUMBER one case.")
    parser.add_argument("--cases", type=int, default=1000, metavar="N", help="number of cases (1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the campaign (1)")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="of the first case (0)")
    parser.add_argument("--only", choices=list(kinds.KINDS), metavar="KIND", help=f"of {', '.join(kinds.KINDS)}")
    parser.add_argument("--case", metavar="SEED:NUMBER", help="run this case, and describe it")
    parser.add_argument("--replay", type=pathlib.Path, metavar="FILE",
                        help="repeat a failure from a file")
    parser.add_argument("--found", type=pathlib.Path, metavar="DIR", help="repeat all failures found by earlier campaigns")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="parallel cases (all cores)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("results/campaign"), metavar="DIR",
                        help="folder for shrunk failures (results/campaign)")
    parser.add_argument("--program", default=str(ROOT / "build" / "release" / "equarx-sim"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if min(given.cases, given.jobs) < 1 or given.first < 0:
        parser.error("--cases and --jobs are at least 1, and --first is at least 0")
    if not os.access(given.program, os.X_OK):
        parser.error(f"there is no program {given.program}; build it by: bash tools/build.sh release equarx-sim")
    given.program = os.path.abspath(given.program)  # each case runs in a folder of its own
    return given


class Progress:
    """Progress and estimated time left, on standard error."""

    def __init__(self, count: int):
        self.count = count
        self.begin = self.last = time.monotonic()
        self.on_terminal = sys.stderr.isatty()

    def show(self, done: int, failures: int) -> None:
        now = time.monotonic()
        if now - self.last < (0.2 if self.on_terminal else EVERY_SECONDS) and done < self.count:
            return
        self.last = now
        left = (now - self.begin) / done * (self.count - done)
        minutes, seconds = divmod(int(left), 60)
        line = f"campaign: {done} of {self.count} cases, {failures} failures, about {minutes}:{seconds:02} left"
        print(f"\r\033[K{line}" if self.on_terminal else line, file=sys.stderr, end="" if self.on_terminal else "\n",
              flush=True)
        if self.on_terminal and done == self.count:
            print(file=sys.stderr)


def one(job: tuple) -> cases.Outcome:
    path, case, only = job
    return cases.run(path, case, only)


def run_all(given: argparse.Namespace) -> list[cases.Outcome]:
    jobs = [(given.program, f"{given.seed}:{number}", given.only)
            for number in range(given.first, given.first + given.cases)]
    progress = Progress(len(jobs))
    outcomes: list[cases.Outcome] = []
    failures = 0
    with multiprocessing.Pool(given.jobs, initializer=program.limit_memory) as pool:
        for outcome in pool.imap_unordered(one, jobs, chunksize=1):
            outcomes.append(outcome)
            for failure in outcome.failures:
                failures += 1
                print(f"{failure.case} ({failure.kind}): {failure.invariant}: {failure.text[:400]}", flush=True)
            progress.show(len(outcomes), failures)
    return outcomes


def summary(outcomes: list[cases.Outcome], seconds: float) -> None:
    print(f"{len(outcomes)} cases and {sum(one.runs for one in outcomes)} commands in {seconds:.0f} s")
    print(f"  {'kind':19} {'cases':>7} {'results':>8} {'refusals':>9} {'failures':>9}")
    for kind in kinds.KINDS:
        counts = collections.Counter(one.answer for one in outcomes if one.kind == kind)
        if counts:
            print(f"  {kind:19} {sum(counts.values()):7} {counts['result']:8} {counts['refusal']:9} "
                  f"{counts['failure']:9}")


def report(given: argparse.Namespace, failures: list[cases.Failure]) -> None:
    """The failures, shrunk, with the command that reproduces each."""
    for i, failure in enumerate(failures):
        if i < MOST_SHRUNK:
            print(f"campaign: shrinking {failure.case}", file=sys.stderr)
            failure = cases.make_small(given.program, failure, SHRINKING_SECONDS)
        path = cases.write(failure, given.output)
        only = f" --only {given.only}" if given.only else ""
        print(f"\n{failure.case} ({failure.kind}) breaks '{failure.invariant}': {failure.text[:1000]}")
        print(f"  full case: bash tools/campaign.sh --case {failure.case}{only}")
        print(f"  shrunk:    bash tools/campaign.sh --replay {path}")


def replay(given: argparse.Namespace) -> int:
    failure = cases.read(given.replay)
    found = cases.held(given.program, failure, failure.content)
    print(f"{failure.case} ({failure.kind}): " + (f"breaks '{found.invariant}': {found.text}" if found else "passes"))
    return 1 if found else 0


def repeat_found(given: argparse.Namespace) -> int:
    """Fixed failures must stay fixed."""
    failures = [cases.read(path) for path in sorted(given.found.glob("*.json"))]
    broken = [(failure, cases.held(given.program, failure, failure.content)) for failure in failures]
    for failure, found in broken:
        if found:
            print(f"{failure.case} ({failure.kind}) breaks '{found.invariant}' again: {found.text}")
    again = sum(found is not None for _, found in broken)
    print(f"{len(failures)} earlier failures, {again} of them reproduced")
    return 1 if not failures or any(found for _, found in broken) else 0


def repeat(given: argparse.Namespace) -> int:
    kind = cases.kind_of(given.case, given.only)
    names = ", ".join(invariant.__name__ for invariant in cases.invariants_of(given.case, kind))
    print(f"{given.case} ({kind}), held to {names}:")
    print(cases.json.dumps(cases.content_of(given.case, kind), indent=1))
    outcome = cases.run(given.program, given.case, given.only)
    print(f"{outcome.answer}, {outcome.runs} commands")
    for failure in outcome.failures:
        print(f"breaks '{failure.invariant}': {failure.text}")
    return 1 if outcome.failures else 0


def main() -> int:
    given = options()
    if given.replay or given.case or given.found:
        program.limit_memory()
        return replay(given) if given.replay else repeat_found(given) if given.found else repeat(given)
    begin = time.monotonic()
    outcomes = run_all(given)
    outcomes.sort(key=lambda outcome: int(outcome.case.split(":")[1]))
    # One failure per case and invariant: several checks of a case report the same internal error.
    failures = list({(failure.case, failure.invariant): failure for outcome in outcomes
                     for failure in reversed(outcome.failures)}.values())
    summary(outcomes, time.monotonic() - begin)
    report(given, failures)
    print("every answer passes" if not failures else f"\n{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\ncampaign: stopped; the same command starts over, --first NUMBER continues", file=sys.stderr)
        sys.exit(130)
