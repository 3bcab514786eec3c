"""Reads advice of `equarx-sim advise CONFIG --json`, for one machine or for several."""
import dataclasses
import pathlib

from read import file_kinds, json_file, notes, point_cells, trust
from read.errors import InputError
from words import names, quantities


@dataclasses.dataclass(frozen=True)
class Advice:
    """Speedups of quantization on one machine."""

    collective: str
    dtype: str
    machine: str
    site: str
    """Chip and topology, without the number of chips."""
    plain: str
    """Label of the fastest unquantized candidate."""
    quantized: str
    """Label of the fastest quantized candidate within the limits."""
    sizes: list[tuple[float, float]]
    """Tensor bytes and speedup of one collective, by size."""
    break_even_bytes: float | None
    """Smallest of the sizes from which on quantization is beneficial; None if there is none."""
    tensor_bytes: float
    answer: str
    """Whether to quantize at tensor_bytes: 'yes', 'no' or 'unclear'."""
    speedup: float | None
    """At tensor_bytes; None for a workload, whose speedup is not on the curve."""
    interval: tuple[float, float] | None
    """68 % interval of the speedup at tensor_bytes; None if there is none, or if it is that of a workload."""
    workload: str
    """Description, speedup and interval of the workload; empty for a bare collective."""
    trust: str
    """Note on the calibration of the chip (read.trust)."""


def read(path: pathlib.Path) -> list[Advice]:
    """The advice for each machine in a file; prints a note for each machine without a curve."""
    content = json_file.load(path, file_kinds.ADVICE)
    try:
        sites = content["sites"] if "sites" in content else [{"advice": content}]
        missing = {number: reason for number, site in enumerate(sites) if (reason := _missing(site))}
        if len(missing) == len(sites):
            raise InputError(f"{path}: no speedups over sizes: {missing[0]}")
        for number, reason in missing.items():
            notes.warn(f"{path}: {sites[number]['chip']}, {sites[number]['topology']}: left out: {reason}")
        return [_advice(site["advice"]) for number, site in enumerate(sites) if number not in missing]
    except (LookupError, TypeError, AttributeError, StopIteration) as problem:
        raise file_kinds.wrong_file(path, file_kinds.ADVICE, problem) from None


def has_curve(path: pathlib.Path) -> bool:
    """True if read() finds a curve for any machine."""
    content = json_file.load(path, file_kinds.ADVICE)
    try:
        return not all(map(_missing, content["sites"] if "sites" in content else [{"advice": content}]))
    except (LookupError, TypeError, AttributeError) as problem:
        raise file_kinds.wrong_file(path, file_kinds.ADVICE, problem) from None


def _missing(site: dict) -> str:
    """Reason for which there is no curve; empty if there is one."""
    if not site["advice"]:
        return site["why_not"]
    if not site["advice"]["quantized"]:
        broken = site["advice"].get("broken")
        return "no quantized candidate " + ("keeps the contract" if broken else "is within the limits")
    return "" if site["advice"]["sizes"] else "other sizes take long to simulate"


def _advice(one: dict) -> Advice:
    config, uncertainty = one["config"], one["uncertainty"]
    interval = (uncertainty["speedup_low"], uncertainty["speedup_high"]) if uncertainty else None
    is_workload = "workload" in config
    is_of_one = not is_workload or one["of_one_allreduce"]
    return Advice(
        collective=names.COLLECTIVES[config["collective"]], dtype=config["tensor"]["dtype"],
        machine=names.machine_text(config, one["chips"]),
        site=f"{names.chip_text(config['hardware'])}, {names.topology_text(config['topology'])}",
        plain=one["plain"]["label"], quantized=one["quantized"]["label"],
        sizes=[(size["tensor_bytes"], size["speedup"]) for size in one["sizes"]],
        break_even_bytes=one["pays_from_bytes"], tensor_bytes=float(point_cells.tensor_bytes(config["tensor"])),
        answer=one["quantize"], speedup=one["speedup"] if is_of_one else None,
        interval=interval if is_of_one else None,
        workload=_workload(config, one["speedup"], None if is_of_one else interval) if is_workload else "",
        trust=trust.of_result(one))


def _workload(config: dict, speedup: float, interval: tuple[float, float] | None) -> str:
    ends = f", {quantities.interval_text(*interval)}" if interval else ""
    return f"{names.run_text(config)}: {speedup:.2f}x{ends}"
