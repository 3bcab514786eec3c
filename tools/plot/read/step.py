"""Reads what `equarx-sim run CONFIG --json` prints of a whole step."""
import dataclasses
import pathlib

from read import json_file, trust
from read.errors import InputError
from words import names


@dataclasses.dataclass(frozen=True)
class Task:
    """When a task went on."""

    group: str
    stream: str
    start_s: float
    end_s: float


@dataclasses.dataclass(frozen=True)
class Variant:
    """The step with its collectives carried out in one way."""

    label: str
    time_s: float
    exposed_s: float
    tasks: list[Task]
    path: set[int]
    """Places in `tasks` of those that the time hangs on."""


@dataclasses.dataclass(frozen=True)
class Step:
    """All variants, and the words for them."""

    machine: str
    variants: list[Variant]
    kinds: dict[str, str]
    """'computation', 'collective' or 'host', by group in the order in which they begin."""
    trust: str
    """What to say about its chip (read.trust)."""


def read(path: pathlib.Path, label: str | None) -> Step:
    """All variants, or the one of this label."""
    content = json_file.load(path)
    try:
        made = _step(content)
    except (LookupError, TypeError, AttributeError) as problem:
        raise InputError(f"{path}: not a result of a step, as 'equarx-sim run CONFIG --json' prints it: "
                         f"{type(problem).__name__} {problem}") from None
    if not label:
        return made
    wanted = [variant for variant in made.variants if variant.label == label]
    if not wanted:
        raise InputError(f"{path}: there is no variant '{label}'; there are: "
                         f"{', '.join(variant.label for variant in made.variants)}")
    return dataclasses.replace(made, variants=wanted)


def _step(content: dict) -> Step:
    config, variants = content["config"], content["variants"]
    chips = 1
    for axis in config["mesh"].values():
        chips *= axis["length"]
    kinds = {group["group"]: group["kind"] for variant in variants for group in variant["groups"]}
    return Step(machine=names.machine_text(config, chips), variants=[_variant(one) for one in variants], kinds=kinds,
                trust=trust.of_result({"config": config, "runs": variants}))


def _variant(one: dict) -> Variant:
    path = set(one["critical_path"])
    return Variant(
        label=one["label"], time_s=one["time_s"], exposed_s=one["exposed_s"],
        tasks=[Task(task["group"], task["stream"], task["start_s"], task["end_s"]) for task in one["tasks"]],
        path={place for place, task in enumerate(one["tasks"]) if task["name"] in path})
