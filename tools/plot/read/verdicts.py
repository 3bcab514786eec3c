"""Reads the verdicts of `equarx-sim advise --json`: for a step by group of collectives, else by machine."""
import dataclasses
import math
import pathlib

from read import file_kinds, json_file, point_cells, step, trust
from read.errors import WrongFile
from words import names, quantities

YES, NO, UNCLEAR = "yes", "no", "unclear"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether to quantize a group of collectives, a whole step or one collective on a machine."""

    name: str
    detail: str
    """The quantized candidate, or the reason for which there is none."""
    answer: str
    """YES, NO, UNCLEAR, or empty if the machine cannot run the collective."""
    speedup: float | None
    """None without a quantized candidate."""
    interval: tuple[float, float] | None
    """68 % interval of the speedup; None if no parameter is uncertain."""
    sqnr_db: float | None
    break_even_bytes: float | None
    is_whole: bool = False
    """True for a whole step, next to its groups."""


@dataclasses.dataclass(frozen=True)
class Verdicts:
    """All verdicts of a file, and their subject."""

    subject: str
    is_of_step: bool
    rows: list[Verdict]
    trust: str
    """Note on the calibration of the chip (read.trust)."""


def read(path: pathlib.Path) -> Verdicts:
    """The whole step first, then its groups; or a verdict for each machine."""
    is_of_step = _is_of_step(path)
    kind = file_kinds.STEP if is_of_step else file_kinds.ADVICE
    content = json_file.load(path, kind)
    try:
        return _of_step(content) if is_of_step else _of_machines(content)
    except (LookupError, TypeError, AttributeError) as problem:
        raise file_kinds.wrong_file(path, kind, problem, needs=file_kinds.ADVICE) from None


def _is_of_step(path: pathlib.Path) -> bool:
    """True for advice on a step; throws WrongFile for other results of steps."""
    if file_kinds.of(path) != file_kinds.STEP:
        return False
    if "advice" not in json_file.load(path, file_kinds.STEP):
        raise WrongFile(path, file_kinds.STEP, file_kinds.ADVICE)
    return True


def _of_step(content: dict) -> Verdicts:
    advice, config, runs = content["advice"], content["config"], step.runs_of(content)
    mesh = ", ".join(f"{axis}={size['length'] if isinstance(size, dict) else size}"
                     for axis, size in config.get("mesh", {}).items())
    subject = _step_text(config)
    machine = names.machine_text(config, step.chips_of(content))
    return Verdicts(subject=f"{subject} on {machine}{'; mesh: ' if mesh else ''}{mesh}", is_of_step=True,
                    rows=[_whole(advice, runs), *map(_group, advice["groups"])],
                    trust=trust.of_result({"config": config, "runs": runs}))


def _step_text(config: dict) -> str:
    training = config.get("step", {}).get("training")
    if training:
        return f"Training step of {training['model'].rsplit('/', 1)[-1]}"
    workload = config.get("workload") or config.get("step", {}).get("workload")
    return names.run_text({"workload": workload}) if workload else "Step"


def _whole(advice: dict, runs: list[dict]) -> Verdict:
    groups = advice["groups"]
    is_quantized = len(runs) > 1
    count = sum(group["quantize"] == YES for group in groups)
    plain, advised = (quantities.time_text(run["time_s"]) for run in (runs[0], runs[-1]))
    of_groups = f"{count} of {len(groups)} group{'' if len(groups) == 1 else 's'}"
    detail = f"{of_groups}; {plain} unquantized, {advised} advised" if is_quantized else \
        f"{plain}; no quantized group"
    return Verdict("whole step", detail, advice["quantize"], advice["speedup"] if is_quantized else None,
                   _interval(advice["uncertainty"]) if is_quantized else None,
                   _decibels(advice["worst_nmse"]) if is_quantized else None, None, is_whole=True)


def _group(group: dict) -> Verdict:
    if "label" not in group:
        return Verdict(group["group"], group["reason"], group["quantize"], None, None, None, None)
    low, high = group["step_speedup_low"], group["step_speedup_high"]
    return Verdict(group["group"], "; ".join(filter(None, [group["label"], group["reason"]])), group["quantize"],
                   group["step_speedup"], None if low is None else (low, high), group["sqnr_db"],
                   group["break_even_bytes"])


def _of_machines(content: dict) -> Verdicts:
    sites = content["sites"] if "sites" in content else [{"advice": content}]
    found = [site["advice"] for site in sites if site["advice"]]
    config = found[0]["config"]
    tensor = config["tensor"]
    size = quantities.size_text(float(point_cells.tensor_bytes(tensor)))
    return Verdicts(subject=f"{names.COLLECTIVES[config['collective']]} of {size} of {tensor['dtype']} on each chip",
                    is_of_step=False, rows=[_machine(site) for site in sites],
                    trust="; ".join(dict.fromkeys(filter(None, map(trust.of_result, found)))))


def _machine(site: dict) -> Verdict:
    advice = site["advice"]
    if not advice:
        return Verdict(f"{site['chip']}, {site['topology']}", site["why_not"], "", None, None, None, None)
    name = names.machine_text(advice["config"], advice["chips"])
    quantized = advice["quantized"]
    if not quantized:
        return Verdict(name, _why_none(advice), advice["quantize"], None, None, None, None)
    return Verdict(name, f"{quantized['label']}, compared with {advice['plain']['label']}", advice["quantize"],
                   advice["speedup"], _interval(advice["uncertainty"]), quantized["sqnr_db"],
                   advice["pays_from_bytes"])


def _why_none(advice: dict) -> str:
    if advice["nearest"]:
        return f"no candidate within the limits; nearest: {advice['nearest']['label']}"
    if advice.get("broken"):
        return f"every candidate breaks {advice['broken']['promise']} or another promise"
    return "no candidate can run"


def _interval(uncertainty: dict | None) -> tuple[float, float] | None:
    return (uncertainty["speedup_low"], uncertainty["speedup_high"]) if uncertainty else None


def _decibels(nmse: float) -> float | None:
    """SQNR; None for exact results, whose SQNR is infinite."""
    return -10 * math.log10(nmse) if nmse else None
