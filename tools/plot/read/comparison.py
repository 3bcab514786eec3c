"""Reads comparisons of `equarx-sim compare A.json B.json --json`."""
import dataclasses
import json
import pathlib

from read import file_kinds, json_file
from read.errors import InputError
from words import names

SIDES = ("a", "b")


@dataclasses.dataclass(frozen=True)
class Collective:
    """Numbers of one collective in both results."""

    label: str
    numbers: dict[str, tuple[float | None, float | None]]
    """Values in A and B by path in a run; None where absent."""

    def of(self, name: str) -> tuple[float | None, float | None]:
        """Values in A and B."""
        return self.numbers.get(name, (None, None))


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two results of `run --json`."""

    files: tuple[str, str]
    versions: tuple[str, str]
    differences: list[str]
    """Differences of the configurations: '/hardware: tpu-v5e, tpu-v6e'."""
    collectives: list[Collective]


def read(path: pathlib.Path) -> Comparison:
    """The comparison in a file; throws InputError without a time."""
    content = json_file.load(path, file_kinds.COMPARISON)
    try:
        comparison = Comparison(
            files=tuple(content[side]["file"] for side in SIDES),
            versions=tuple(content[side]["version"] for side in SIDES),
            differences=[f"{one['pointer']}: {', '.join(_text(one[side]) for side in SIDES)}"
                         for one in content["configuration"]],
            collectives=[Collective(one["label"], {number["name"]: tuple(number[side] for side in SIDES)
                                                   for number in one["numbers"]}) for one in content["collectives"]])
    except (LookupError, TypeError, AttributeError) as problem:
        raise file_kinds.wrong_file(path, file_kinds.COMPARISON, problem) from None
    if not any(any(one.of("time_s")) for one in comparison.collectives):
        raise InputError(f"{path}: neither result has a time")
    return comparison


def _text(value) -> str:
    if value is None:
        return "none"
    return names.short(value if isinstance(value, str) else json.dumps(value))
