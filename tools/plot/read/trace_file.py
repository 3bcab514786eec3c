"""Reads the part of one chip from a trace of `equarx-sim run CONFIG --trace FILE`."""
import dataclasses
import json
import pathlib

from read import file_kinds, trust
from read.errors import InputError
from words import names


CORE = 1
MICROSECOND = 1e-6
ARROW = "->"
# Prefix of the names of representative chips.
REPRESENTATIVE = "representative "


@dataclasses.dataclass(frozen=True)
class Slice:
    """One event; times in seconds."""

    start: float
    end: float
    name: str
    category: str
    args: dict


@dataclasses.dataclass(frozen=True)
class Row:
    """One track: the core of the chip, or one direction of one of its links."""

    name: str
    slices: list[Slice]
    is_core: bool = False


@dataclasses.dataclass(frozen=True)
class ChipTrace:
    """Events of one chip during one collective."""

    label: str
    chip_text: str
    what: str
    """The collective, the machine, and the number of representative chips."""
    time_s: float
    rows: list[Row]
    version: str
    config_hash: str
    trust: str
    """Note on the calibration of the chip (read.trust)."""


def read(path: pathlib.Path, label: str, chip: str) -> ChipTrace:
    """Events of the collective of that label (default: the only one) on that chip (default: the first)."""
    try:
        other = _other_data(path)
        run = _choose(path, other["runs"], label, "collective", "label", "--label")
        place = _choose(path, run["chips"], chip or run["chips"][0]["name"], "chip", "name", "--chip")
        rows = _rows(path, run, place)
        return ChipTrace(label=run["label"], chip_text=_chip_text(place["name"]), what=_what(other["config"], run),
                         time_s=run["time_s"], rows=rows,
                         version=other["version"], config_hash=other["config_hash"],
                         trust=trust.of_result(other))
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror}") from None
    except (LookupError, TypeError, AttributeError, ValueError) as problem:
        raise file_kinds.wrong_file(path, file_kinds.TRACE, problem) from None


def _what(config: dict, run: dict) -> str:
    count = run["chips_of_collective"]
    part = f"; one of {len(run['chips'])} representative chips" if run["representatives"] else ""
    return f"{names.run_text(config)} on {names.machine_text(config, count)}{part}"


def _chip_text(name: str) -> str:
    """'chip (0,1)'; representative chips have a number and no coordinate."""
    return name.replace(REPRESENTATIVE, "chip ") if name.startswith(REPRESENTATIVE) else f"chip {name}"


def _choose(path: pathlib.Path, entries: list[dict], wanted: str, what: str, key: str, option: str) -> dict:
    names = [entry[key] for entry in entries]
    if not wanted and len(entries) == 1:
        return entries[0]
    if wanted in names:
        return entries[names.index(wanted)]
    shown = 16
    problem = f"no {what} '{wanted}'" if wanted else f"several {what}s"
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    raise InputError(f"{path}: {problem}; give {option} one of: {', '.join(names[:shown])}{more}")


def _other_data(path: pathlib.Path) -> dict:
    """The description at the end of the file, without parsing the events."""
    start = '"otherData": '
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(start):
                return json.loads("{" + line)["otherData"]
    raise file_kinds.wrong_file(path, file_kinds.TRACE, ValueError("no 'otherData'"))


def _rows(path: pathlib.Path, run: dict, chip: dict) -> list[Row]:
    tracks: dict[tuple[int, int], list[Slice]] = {}
    names: dict[tuple[int, int], str] = {}
    wanted = {chip["pid"], run["links_pid"]}
    for event in _events(path, wanted):
        track = event["pid"], event.get("tid", 0)
        if event["ph"] == "M" and event["name"] == "thread_name":
            names[track] = event["args"]["name"]
        elif event["ph"] == "X":
            start = event["ts"] * MICROSECOND
            tracks.setdefault(track, []).append(
                Slice(start, start + event["dur"] * MICROSECOND, event["name"], event["cat"], event["args"]))
    core = Row("core", sorted(tracks.get((chip["pid"], CORE), []), key=lambda slice: slice.start), is_core=True)
    links = [_link_row(names[track], slices, run, chip["name"]) for track, slices in sorted(tracks.items())
             if track[0] == run["links_pid"]]
    links = [row for row in links if row is not None]
    return [core, *sorted(links, key=lambda row: (not row.name.startswith("out"), row.name))]


def _events(path: pathlib.Path, processes: set[int]):
    """The events of these processes; the file has one on each line."""
    keys = tuple(f'"pid":{process},' for process in processes)
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith('{"ph"') and any(key in line for key in keys):
                yield json.loads(line.rstrip().rstrip(","))


def _link_row(name: str, slices: list[Slice], run: dict, chip: str) -> Row | None:
    """A link direction of this chip; None if the link does not end at it."""
    slices = sorted(slices, key=lambda slice: slice.start)
    if run["representatives"]:
        # Every link of a representative chip belongs to one pair.
        start, end = slices[0].args["from"], slices[0].args["to"]
        lane = slices[0].args["channel"]
    else:
        start, _, end = name.partition(ARROW)
        end, lane = end.partition(" ")[0], ""
    if chip not in (start, end):
        return None
    there = (end if chip == start else start).removeprefix(REPRESENTATIVE)
    way = f"out to {there}" if chip == start else f"in from {there}"
    return Row(f"{way}, {lane}" if lane else way, slices)
