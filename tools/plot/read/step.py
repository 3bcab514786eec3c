"""Reads results of `equarx-sim run CONFIG --json` of a step."""
import dataclasses
import math
import pathlib

from read import file_kinds, json_file, trust
from read.errors import InputError
from words import names


@dataclasses.dataclass(frozen=True)
class Task:
    """Start and end of a task."""

    group: str
    stream: str
    start_s: float
    end_s: float


@dataclasses.dataclass(frozen=True)
class Variant:
    """The step with one choice of collectives."""

    label: str
    time_s: float
    exposed_s: float
    tasks: list[Task]
    path: list[int]
    """Critical path: indices into `tasks`, in order."""


@dataclasses.dataclass(frozen=True)
class Step:
    """All variants, and the description of the machine."""

    machine: str
    variants: list[Variant]
    kinds: dict[str, str]
    """'computation', 'collective' or 'host' by group, in order of their start."""
    trust: str
    """Note on the calibration of the chip (read.trust)."""


def read(path: pathlib.Path, label: str | None) -> Step:
    """All variants, or the one of this label."""
    content = json_file.load(path, file_kinds.STEP)
    try:
        made = _step(content)
    except (LookupError, TypeError, AttributeError) as problem:
        raise file_kinds.wrong_file(path, file_kinds.STEP, problem) from None
    if not label:
        return made
    wanted = [variant for variant in made.variants if variant.label == label]
    if not wanted:
        raise InputError(f"{path}: no variant '{label}'; there are: "
                         f"{', '.join(variant.label for variant in made.variants)}")
    return dataclasses.replace(made, variants=wanted)


def runs_of(content: dict) -> list[dict]:
    """The variants of a step's result; 'variants' in version 0.2."""
    return content["runs"] if "runs" in content else content["variants"]


def chips_of(content: dict) -> int:
    """Number of chips of a step's result."""
    first = runs_of(content)[0]
    return first["chips"] if "chips" in first else math.prod(axis["length"] for axis in content["config"]["mesh"].values())


def _step(content: dict) -> Step:
    config, variants = content["config"], runs_of(content)
    kinds = {group["group"]: group["kind"] for variant in variants for group in variant["groups"]}
    return Step(machine=names.machine_text(config, chips_of(content)), variants=[_variant(one) for one in variants], kinds=kinds,
                trust=trust.of_result({"config": config, "runs": variants}))


def _variant(one: dict) -> Variant:
    places = {task["name"]: place for place, task in enumerate(one["tasks"])}
    return Variant(
        label=one["label"], time_s=one["time_s"], exposed_s=one["exposed_s"],
        tasks=[Task(task["group"], task["stream"], task["start_s"], task["end_s"]) for task in one["tasks"]],
        path=[places[name] for name in one["critical_path"]])
