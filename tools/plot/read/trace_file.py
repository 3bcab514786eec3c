"""Reads one chip's part of a trace that `equarx-sim run CONFIG --trace FILE` wrote."""
import dataclasses
import json
import pathlib

from read import trust
from read.errors import InputError
from words import names


CORE = 1
MICROSECOND = 1e-6
ASK = "make it with 'equarx-sim run CONFIG --trace FILE'"
ARROW = "->"
# So chips are called that are simulated for all that do the same.
REPRESENTATIVE = "representative "


@dataclasses.dataclass(frozen=True)
class Slice:
    """What happens from start to end, in seconds."""

    start: float
    end: float
    name: str
    category: str
    args: dict


@dataclasses.dataclass(frozen=True)
class Row:
    """One track: the chip's core, or one direction of a link to or from it."""

    name: str
    slices: list[Slice]
    is_core: bool = False


@dataclasses.dataclass(frozen=True)
class ChipTrace:
    """What one chip of one collective did."""

    label: str
    chip_text: str
    what: str
    """What was run on which machine, and what part of it the chip is."""
    time_s: float
    rows: list[Row]
    version: str
    config_hash: str
    trust: str
    """What to say about its chip (read.trust)."""


def read(path: pathlib.Path, label: str, chip: str) -> ChipTrace:
    """The collective of that label (the only one if it is empty), and that chip of it (the first if empty)."""
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
        raise InputError(f"{path}: not a trace of this program ({type(problem).__name__}: {problem}); "
                         f"{ASK}") from None


def _what(config: dict, run: dict) -> str:
    count = run["chips_of_collective"]
    part = f"; one of {len(run['chips'])} that stand for all" if run["representatives"] else ""
    return f"{names.run_text(config)} on {names.machine_text(config, count)}{part}"


def _chip_text(name: str) -> str:
    """Representatives are chips, too, but have no place."""
    return name.replace(REPRESENTATIVE, "chip ") if name.startswith(REPRESENTATIVE) else f"chip {name}"


def _choose(path: pathlib.Path, entries: list[dict], wanted: str, what: str, key: str, option: str) -> dict:
    names = [entry[key] for entry in entries]
    if not wanted and len(entries) == 1:
        return entries[0]
    if wanted in names:
        return entries[names.index(wanted)]
    shown = 16
    problem = f"there is no {what} '{wanted}'" if wanted else f"there are several {what}s"
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    raise InputError(f"{path}: {problem}; give {option} one of: {', '.join(names[:shown])}{more}")


def _other_data(path: pathlib.Path) -> dict:
    """What the file says about itself, behind its events: those are not read for it, as they may be many."""
    start = '"otherData": '
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(start):
                return json.loads("{" + line)["otherData"]
    raise InputError(f"{path}: not a trace of this program; {ASK}")


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
    """The events of these processes; there is one on each line."""
    keys = tuple(f'"pid":{process},' for process in processes)
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith('{"ph"') and any(key in line for key in keys):
                yield json.loads(line.rstrip().rstrip(","))


def _link_row(name: str, slices: list[Slice], run: dict, chip: str) -> Row | None:
    """A link as this chip sees it; None if it does not end here."""
    slices = sorted(slices, key=lambda slice: slice.start)
    if run["representatives"]:
        # Every link of a representative is used by one pair.
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
