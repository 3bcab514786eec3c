"""Reads how times depend on a chip's parameters from what `equarx-sim run CONFIG --json --sensitivity` prints."""
import dataclasses
import math
import pathlib

from read import json_file, trust
from read.errors import InputError, unknown
from words import names


COMMAND = "'equarx-sim run CONFIG --json --sensitivity'"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of the chip, and what the times do when it grows."""

    name: str
    value: str
    """With its unit."""
    provenance: str
    """Its class: datasheet, measured, calibrated or assumed."""
    uncertainty: float
    """Standard uncertainty / value; 0 if it is taken as exact."""
    elasticities: dict[str, float]
    """By label: by how many per cent the time changes if the parameter grows by 1 %."""


@dataclasses.dataclass(frozen=True)
class Sensitivities:
    """All parameters that are no counts, and the words for what was run."""

    what: str
    machine: str
    labels: list[str]
    parameters: list[Parameter]
    without: list[str]
    """Names of parameters that are uncertain, but have no elasticity, because they are 0."""
    trust: str
    """What to say about its chip (read.trust)."""


def read(path: pathlib.Path, label: str) -> Sensitivities:
    """Those of the collective of that label; of all if it is empty."""
    result = json_file.load(path)
    try:
        labels = [run["label"] for run in result["runs"]]
        if label and label not in labels:
            raise unknown("collective", label, labels, str(path))
        _check_there(path, result)
        labels = [label] if label else labels
        return Sensitivities(
            what=names.run_text(result["config"]),
            machine=names.machine_text(result["config"], result["runs"][0]["chips"]), labels=labels,
            parameters=[_parameter(path, one, result["parameters"], labels) for one in result["sensitivity"]],
            without=_without(result), trust=trust.of_result(result))
    except (LookupError, TypeError, AttributeError, StopIteration) as problem:
        raise InputError(f"{path}: not a result of {COMMAND}: {type(problem).__name__} {problem}") from None


def _check_there(path: pathlib.Path, result: dict) -> None:
    """A result without sensitivities has either not been asked for them, or has none because a link failed."""
    if result.get("sensitivity"):
        return
    failed = [run["label"] for run in result["runs"] if run["time_s"] is None]
    if failed:
        raise InputError(f"{path}: '{failed[0]}' fails, so there are no sensitivities; leave out the fault")
    raise InputError(f"{path}: there are no sensitivities in it; make it with {COMMAND}")


def _without(result: dict) -> list[str]:
    known = {one["parameter"] for one in result["sensitivity"]}
    return [name for name, one in result["parameters"].items()
            if name not in known and ("range" in one or "standard_error" in one)]


def _parameter(path: pathlib.Path, one: dict, parameters: dict, labels: list[str]) -> Parameter:
    name, uncertainty = one["parameter"], one["relative_uncertainty"]
    times = {run["label"]: run["time"] for run in one["runs"]}
    elasticities = {label: times[label] for label in labels}
    if not (math.isfinite(uncertainty) and uncertainty >= 0):
        raise InputError(f"{path}: '{name}' has a relative_uncertainty of {uncertainty}, but it must not be negative")
    for label, elasticity in elasticities.items():
        if not math.isfinite(elasticity):
            raise InputError(f"{path}: '{name}' has an elasticity of {elasticity} for '{label}', but it must be finite")
    return Parameter(name, _text(parameters[name]["value"]), one["class"], uncertainty, elasticities)


def _text(value: str | float) -> str:
    """Ratios have no unit, and are numbers."""
    return value if isinstance(value, str) else f"{value:g}"
