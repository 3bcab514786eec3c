"""Reads results of `equarx-sim plan ... --json`."""
import dataclasses
import pathlib

from read import file_kinds, json_file, trust
from read.errors import InputError


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Replicas of one kind."""

    name: str
    """Chips and formats."""
    chip: str
    points: list[tuple[float, float]]
    """Tokens/s per user and per chip, simulated under rising loads; the last one is the largest within the limits."""
    dollars: float | None
    """Per million output tokens."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """Candidates within the limits."""

    what: str
    """Model, lengths and limits."""
    least_per_user: float
    """Tokens/s of a user at the limit of the time per token."""
    ranked: list[Candidate]
    """Simulated under loads, best first."""
    estimated: list[tuple[str, float, float]]
    """Chip, tokens/s per user and per chip of all steady states."""
    trust: str
    """Note on the calibration of the chips (read.trust)."""


def read(path: pathlib.Path) -> Plan:
    """The plan in a file."""
    content = json_file.load(path, file_kinds.PLAN)
    try:
        plan = _plan(content)
    except (LookupError, TypeError, AttributeError, ValueError, ZeroDivisionError) as problem:
        raise file_kinds.wrong_file(path, file_kinds.PLAN, problem) from None
    if not plan.ranked:
        raise InputError(f"{path}: nothing meets the limits, so there is nothing to draw; relax --ttft or --tpot")
    return plan


def _plan(content: dict) -> Plan:
    request = content["request"]
    chips = {one["chip"]: one["calibrated"] for one in content["ranked"]}
    return Plan(what=f"{request['model'].rsplit('/', 1)[-1]}, {request['isl']} + {request['osl']} tokens; "
                     f"{request['percentile']:.0%} of requests within TTFT {request['ttft_s']:g} s and "
                     f"TPOT {request['tpot_s'] * 1e3:g} ms",
                least_per_user=1 / request["tpot_s"], ranked=[_candidate(one) for one in content["ranked"]],
                estimated=[(one["chip"], 1 / one["estimated_tpot_s"], one["output_tokens_per_s_per_chip"])
                           for one in content["estimated"]],
                trust=trust.note(chip for chip, is_calibrated in chips.items() if not is_calibrated))


def _candidate(one: dict) -> Candidate:
    sums = f", sums {one['collective']}" if one["collective"] else ""
    return Candidate(name=f"{one['chips']} x {one['chip']}: {one['precision']}, KV {one['kv']}{sums}",
                     chip=one["chip"], dollars=one["dollars_per_million_tokens"],
                     points=[(point["tokens_per_s_per_user"], point["output_tokens_per_s"] / one["chips"])
                             for point in one["points"]])
