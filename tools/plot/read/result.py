"""Reads the links of one collective from the output of `equarx-sim run CONFIG --json --links`."""
import dataclasses
import pathlib
import re

from read import file_kinds, json_file, trust
from read.errors import InputError
from words import names


CHIP = re.compile(r"\((\d+(?:,\d+)*)\)")
ALL_LINKS = "run it with --set /simulation=full"
NEEDS = "a result of 'equarx-sim run CONFIG --json --links'"

Chip = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Link:
    """One direction of a link between two chips of a grid."""

    start: Chip
    end: Chip
    busy: float
    """Share of the collective's time, 0 to 1."""
    name: str


@dataclasses.dataclass(frozen=True)
class Run:
    """One collective with all its links, and its description."""

    label: str
    what: str
    machine: str
    time_s: float
    failed: bool
    shape: Chip
    links: list[Link]
    faults: list[frozenset[Chip]]
    """Links that the configuration slows down or breaks."""
    trust: str
    """Note on the calibration of the chip (read.trust)."""


def read(path: pathlib.Path, label: str) -> Run:
    """The run of that label; the only one if the label is empty."""
    result = json_file.load(path, file_kinds.RUN, NEEDS)
    try:
        run = _choose(path, result["runs"], label)
        if not run.get("links"):
            raise InputError(f"{path}: no links; "
                             "create it with 'equarx-sim run CONFIG --json --links'")
        return _run(path, result["config"], run, trust.of_result(result))
    except (LookupError, TypeError, AttributeError, StopIteration) as problem:
        raise file_kinds.wrong_file(path, file_kinds.RUN, problem, NEEDS) from None


def _choose(path: pathlib.Path, runs: list[dict], label: str) -> dict:
    labels = [run["label"] for run in runs]
    if not label and len(runs) == 1:
        return runs[0]
    if label not in labels:
        problem = f"no collective '{label}'" if label else "several collectives"
        raise InputError(f"{path}: {problem}; give --label one of: {', '.join(labels)}")
    return runs[labels.index(label)]


def _run(path: pathlib.Path, config: dict, run: dict, chip_trust: str) -> Run:
    if any("from" not in link for link in run["links"]):
        raise InputError(f"{path}: '{run['label']}' was timed on representative chips, whose links are not those of "
                         f"the whole slice; {ALL_LINKS}")
    links = [_link(path, link) for link in run["links"]]
    shape = tuple(max(link.end[axis] for link in links) + 1 for axis in range(len(links[0].start)))
    faults = [frozenset(map(_chip, fault["between"])) for fault in config.get("faults", {}).get("links", [])]
    failed = run["time_s"] is None
    return Run(label=run["label"],
               what=names.collective_text(config), machine=names.machine_text(config, run["chips"]),
               time_s=run["failure"]["time_s"] if failed else run["time_s"],
               failed=failed, shape=shape, links=links, faults=faults, trust=chip_trust)


def _chip(name: str) -> Chip:
    match = CHIP.fullmatch(name)
    return tuple(map(int, match[1].split(","))) if match else ()


def _link(path: pathlib.Path, link: dict) -> Link:
    start, end = _chip(link["from"]), _chip(link["to"])
    busy = link["utilisation"]
    if not start or len(start) != len(end):
        raise InputError(f"{path}: link {link['name']} does not join chips of a grid; the picture "
                         "shows a slice, mesh, torus or ring")
    if not 0 <= busy <= 1 + 1e-9:
        raise InputError(f"{path}: link {link['name']} is busy for {busy:g} of the time, which is not from 0 to 1")
    return Link(start, end, min(busy, 1.0), link["name"])
