"""Reads what `equarx-sim tune CONFIG --json` prints."""
import dataclasses
import math
import pathlib

from read import json_file, trust
from read.errors import InputError
from words import names



@dataclasses.dataclass(frozen=True)
class Candidate:
    """A way to carry out the collective, whose time and error are known."""

    scheme: str
    """Algorithm and ring style."""
    name: str
    """What else tells it from others."""
    time_s: float
    nmse: float


@dataclasses.dataclass(frozen=True)
class Tuning:
    """A front with what is around it, and the words for it."""

    what: str
    machine: str
    values: str
    """What the tensor is filled with."""
    front: list[Candidate]
    """Fastest first."""
    others: list[Candidate]
    best: int
    baseline: Candidate | None
    """None if it fails."""
    max_nmse: float | None
    max_time_s: float | None
    counts: dict[str, int]
    trust: str
    """What to say about its chip (read.trust)."""


def read(path: pathlib.Path) -> Tuning:
    """All of it."""
    content = json_file.load(path)
    try:
        return _tuning(path, content)
    except (LookupError, TypeError, AttributeError, StopIteration) as problem:
        if isinstance(content, dict) and "collectives" in content:
            raise InputError(f"{path}: a configuration, as 'equarx-sim tune -o' writes the best one; "
                             "this picture is of what --json prints") from None
        raise InputError(f"{path}: not a result of 'equarx-sim tune CONFIG --json': "
                         f"{type(problem).__name__} {problem}") from None


def _tuning(path: pathlib.Path, content: dict) -> Tuning:
    config, baseline, limits = content["config"], content["baseline"], content["limits"]
    front = [_candidate(path, one) for one in content["front"]]
    if not front or not 0 <= content["best"] < len(front):
        raise InputError(f"{path}: 'best' is {content['best']}, but the front has {len(front)} members")
    fails = baseline["time_s"] is None
    return Tuning(
        what=names.collective_text(config), machine=names.machine_text(config, content["chips"]),
        values=names.values_text(config["tensor"]),
        front=front, others=[_candidate(path, one) for one in content["others"]], best=content["best"],
        baseline=None if fails else Candidate("baseline", baseline["label"], baseline["time_s"], baseline["nmse"]),
        max_nmse=limits["max_nmse"], max_time_s=limits["max_time_s"], counts=content["counts"],
        trust=trust.of_result(content))


def _candidate(path: pathlib.Path, one: dict) -> Candidate:
    for key in ("time_s", "nmse"):
        if not (math.isfinite(one[key]) and one[key] > 0):
            raise InputError(f"{path}: '{one['label']}' has '{key}' {one[key]}, but it must be above 0")
    collective = one["collective"]
    ring = [collective["ring"]] if "ring" in collective else []
    only = collective.get("quantize", "both")
    parts = [collective["format"], *([] if only == "both" else [f"{only} only"]), _cuts(one)]
    return Candidate(" ".join([collective["algorithm"], *ring]), ", ".join(parts), one["time_s"], one["nmse"])


def _cuts(one: dict) -> str:
    collective = one["collective"]
    strided = collective.get("layout") == "strided"
    scales = f"{collective['elements_per_scale']} per scale, " if strided else ""
    minishards = f"{one['minishards']} x " if "minishards" in one else ""
    return f"{scales}{minishards}{collective['microshards']}"
