"""One case: generated from its seed and number, checked against its invariants, and shrunk if it
breaks one."""
import dataclasses
import json
import pathlib
import shutil
import tempfile
import traceback

import kinds
import shrink
from desk import Desk
from draw import Draw
from program import Broken


@dataclasses.dataclass
class Failure:
    case: str
    kind: str
    invariant: str  # the broken one
    check: str  # the function that found it
    text: str
    content: dict


@dataclasses.dataclass
class Outcome:
    case: str
    kind: str
    answer: str  # "result", "refusal" or "failure"
    runs: int
    failures: list


def kind_of(case: str, only: str | None) -> str:
    names = list(kinds.KINDS)
    return only or Draw(f"{case}:kind").choices(names, [kinds.KINDS[name].weight for name in names])[0]


def content_of(case: str, kind: str) -> dict:
    return kinds.KINDS[kind].make(Draw(f"{case}:{kind}"))


def invariants_of(case: str, kind: str) -> list:
    known = kinds.KINDS[kind]
    # This text is part of the seed: changing it would draw other invariants for known cases.
    return known.always + Draw(f"{case}:laws").sample(known.drawn, min(known.take, len(known.drawn)))


def broken(desk: Desk, case: str, invariant) -> Broken | None:
    """The violation of the invariant by the case on the desk, if any."""
    try:
        invariant(desk, desk.content, Draw(f"{case}:{invariant.__name__}"))
    except Broken as found:
        return found
    except Exception:  # the invariant cannot process the result: one of them is wrong
        return Broken("campaign", f"{invariant.__name__} cannot read this: {traceback.format_exc(limit=-3)}")
    return None


def run(program: str, case: str, only: str | None = None) -> Outcome:
    kind = kind_of(case, only)
    failures = []
    try:
        content = content_of(case, kind)
    except Exception:  # a defect of the generator must not lose the other cases
        failures.append(Failure(case, kind, "campaign", "", f"cannot be made: {traceback.format_exc(limit=-3)}", {}))
        return Outcome(case, kind, "failure", 0, failures)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="equarx-campaign-"))
    try:
        desk = Desk(program, folder, content)
        for invariant in invariants_of(case, kind):
            found = broken(desk, case, invariant)
            if found:
                failures.append(Failure(case, kind, found.invariant, invariant.__name__, found.text, content))
        codes = [answer.code for answer in desk.answers.values()]
        answer = "failure" if failures else "result" if 0 in codes else "refusal"
        return Outcome(case, kind, answer, desk.runs, failures)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def invariant_named(kind: str, name: str):
    known = kinds.KINDS[kind]
    return next(invariant for invariant in known.always + known.drawn if invariant.__name__ == name)


def held(program: str, failure: Failure, content: dict) -> Broken | None:
    """The content's violation of the failure's invariant, if any."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="equarx-campaign-"))
    try:
        return broken(Desk(program, folder, content), failure.case, invariant_named(failure.kind, failure.check))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_small(program: str, failure: Failure, seconds: float) -> Failure:
    def fails(content: dict) -> bool:
        try:
            found = held(program, failure, content)
        except Exception:  # shrinking left no valid case
            return False
        return found is not None and found.invariant == failure.invariant
    small = shrink.shrink(failure.content, fails, seconds)
    found = held(program, failure, small)
    return dataclasses.replace(failure, content=small, text=found.text if found else failure.text)


def write(failure: Failure, folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{failure.case.replace(':', '-')}-{failure.check}.json"
    path.write_text(json.dumps(dataclasses.asdict(failure), indent=1) + "\n", encoding="utf-8")
    return path


def read(path: pathlib.Path) -> Failure:
    return Failure(**json.loads(path.read_text(encoding="utf-8")))
