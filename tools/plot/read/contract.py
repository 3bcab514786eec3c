"""Reads contracts of `equarx-sim contract CONFIG --json`."""
import dataclasses
import pathlib

from read import file_kinds, json_file, trust
from read.errors import InputError
from words import names

SAME, DIFFER, UNKNOWN = "same", "differ", "-"


@dataclasses.dataclass(frozen=True)
class Contract:
    """The contract of one collective."""

    label: str
    time_s: float
    roundings: str
    """On the longest path: '7 x bf16'."""
    nmse: float | None
    """None if it is not finite."""
    expected_nmse: float | None
    """None without a theory."""
    elements: int
    by_distance: dict[str, int]
    """Elements by ULP from the exact sum."""
    nonfinite: int
    ranks: str
    """SAME, DIFFER, or the share of elements that differ between ranks."""
    cuts: str
    """SAME, DIFFER or UNKNOWN, as for fewer ranks."""
    fewer_ranks: str
    sizes: dict[int, float | None]
    """By bytes, the share of elements that differ from the largest size; None where it does not run."""


@dataclasses.dataclass(frozen=True)
class Contracts:
    """All contracts of a file, and their subject."""

    subject: str
    contracts: list[Contract]
    fastest: dict[int, float | None]
    """Like `sizes`, for the fastest at each size; empty without sizes."""
    trust: str
    """Note on the calibration of the chip (read.trust)."""


def read(path: pathlib.Path) -> Contracts:
    """The contracts in a file."""
    content = json_file.load(path, file_kinds.CONTRACT)
    try:
        found = _contracts(content)
    except (LookupError, TypeError, AttributeError, StopIteration, ZeroDivisionError) as problem:
        raise file_kinds.wrong_file(path, file_kinds.CONTRACT, problem) from None
    if not found.contracts:
        raise InputError(f"{path}: no collective")
    return found


def _contracts(content: dict) -> Contracts:
    config = content["config"]
    switching = content.get("switching") or {"sizes": []}
    values = names.values_text(config["tensor"])
    subject = f"{names.collective_text(config)} on each of {names.machine_text(config, content['chips'])}"
    return Contracts(subject="; ".join(filter(None, [subject, values])),
                     contracts=[_contract(one) for one in content["collectives"]],
                     fastest=_sizes(switching["sizes"]), trust=trust.of_result(content))


def _contract(one: dict) -> Contract:
    ulps = one["ulps"]
    differing = one["ranks_differing"] / ulps["elements"]
    return Contract(label=one["label"], time_s=one["time_s"], roundings=one["path"]["text"], nmse=one["nmse"],
                    expected_nmse=one["expected_nmse"], elements=ulps["elements"], by_distance=ulps["by_distance"],
                    nonfinite=ulps["nonfinite"],
                    ranks=SAME if one["ranks_identical"] else f"{100 * differing:.3g} % {DIFFER}",
                    cuts=_word(one["same_at_all_cuts"]), fewer_ranks=_word(one["same_for_all_ranks"]),
                    sizes=_sizes(one["sizes"]))


def _word(is_same: bool | None) -> str:
    return UNKNOWN if is_same is None else SAME if is_same else DIFFER


def _sizes(sizes: list[dict]) -> dict[int, float | None]:
    return {size["bytes"]: None if "obstacle" in size else size["ulps"]["differing_share"] for size in sizes}
