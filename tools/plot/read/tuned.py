"""Reads results of `equarx-sim tune CONFIG --json`."""
import dataclasses
import math
import pathlib

from read import file_kinds, json_file, trust
from read.errors import InputError
from words import names


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A simulated candidate."""

    scheme: str
    """Algorithm and ring style."""
    name: str
    """Format, phases, scale granularity and tiling."""
    time_s: float
    nmse: float


@dataclasses.dataclass(frozen=True)
class Tuning:
    """A Pareto front, its surroundings, and the description of the collective."""

    what: str
    machine: str
    values: str
    """Values of the tensor."""
    front: list[Candidate]
    """Fastest first."""
    others: list[Candidate]
    best: int
    """Index into the front: the fastest; the most accurate if only the time is limited."""
    baseline: Candidate | None
    """None if it fails."""
    max_nmse: float | None
    max_time_s: float | None
    counts: dict[str, int]
    trust: str
    """Note on the calibration of the chip (read.trust)."""


def read(path: pathlib.Path) -> Tuning:
    """The tuning in a file."""
    content = json_file.load(path, file_kinds.TUNING)
    try:
        return _tuning(path, content)
    except (LookupError, TypeError, AttributeError, StopIteration) as problem:
        raise file_kinds.wrong_file(path, file_kinds.TUNING, problem) from None


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
    parts = [collective["format"], *([] if only == "both" else [f"{only} only"]), _tiling(one)]
    return Candidate(" ".join([collective["algorithm"], *ring]), ", ".join(parts), one["time_s"], one["nmse"])


def _tiling(one: dict) -> str:
    collective = one["collective"]
    strided = collective.get("layout") == "strided"
    scales = f"{collective['elements_per_scale']} per scale, " if strided else ""
    minishards = f"{one['minishards']} x " if "minishards" in one else ""
    return f"{scales}{minishards}{collective['microshards']}"
