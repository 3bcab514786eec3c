"""Reads sensitivities of times to chip parameters from `equarx-sim run CONFIG --json --sensitivity`."""
import dataclasses
import math
import pathlib

from read import file_kinds, json_file, step, trust
from read.errors import InputError, unknown
from words import names


COMMAND = "'equarx-sim run CONFIG --json --sensitivity'"
NEEDS = f"a result of {COMMAND}"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A chip parameter and the elasticities of times in it."""

    name: str
    value: str
    """With its unit."""
    provenance: str
    """Its class: datasheet, measured, calibrated or assumed."""
    uncertainty: float
    """Standard uncertainty / value; 0 if exact."""
    elasticities: dict[str, float]
    """Change of the time in % if the parameter grows by 1 %, by label."""


@dataclasses.dataclass(frozen=True)
class Sensitivities:
    """Parameters other than counts, and the description of the run."""

    what: str
    machine: str
    labels: list[str]
    parameters: list[Parameter]
    without: list[str]
    """Names of uncertain parameters without an elasticity, because they are 0."""
    trust: str
    """Note on the calibration of the chip (read.trust)."""


def read(path: pathlib.Path, label: str) -> Sensitivities:
    """Sensitivities of the collective, or variant of a step, of that label; of all if it is empty."""
    is_step = file_kinds.of(path) == file_kinds.STEP
    result = json_file.load(path, file_kinds.STEP if is_step else file_kinds.RUN, NEEDS)
    try:
        if is_step:
            result = dict(result, runs=step.runs_of(result))
        labels = [run["label"] for run in result["runs"]]
        if label and label not in labels:
            raise unknown("variant" if is_step else "collective", label, labels, str(path))
        _check_there(path, result)
        labels = [label] if label else labels
        chips = step.chips_of(result) if is_step else result["runs"][0]["chips"]
        return Sensitivities(
            what="Step" if is_step else names.run_text(result["config"]),
            machine=names.machine_text(result["config"], chips), labels=labels,
            parameters=[_parameter(path, one, result["parameters"], labels) for one in result["sensitivity"]],
            without=_without(result), trust=trust.of_result(result))
    except (LookupError, TypeError, AttributeError, StopIteration) as problem:
        raise file_kinds.wrong_file(path, file_kinds.RUN, problem, NEEDS) from None


def _check_there(path: pathlib.Path, result: dict) -> None:
    """Throws InputError without sensitivities: --sensitivity is missing, or a link fails."""
    if result.get("sensitivity"):
        return
    failed = [run["label"] for run in result["runs"] if run["time_s"] is None]
    if failed:
        raise InputError(f"{path}: '{failed[0]}' fails and has no sensitivities; remove the fault")
    raise InputError(f"{path}: no sensitivities; create it with {COMMAND}")


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
    """Ratios are numbers without a unit."""
    return value if isinstance(value, str) else f"{value:g}"
