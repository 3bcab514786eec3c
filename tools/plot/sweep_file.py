"""Reads what `equarx-sim sweep` wrote: results.jsonl, or results.csv."""
import csv
import dataclasses
import difflib
import hashlib
import json
import math
import pathlib

from data import InputError

ASK = "is it results.jsonl or results.csv of 'equarx-sim sweep'?"
# Columns of results.csv that are neither axes nor of a run.
POINT, KEY, LABEL, ERROR = "point", "key", "label", "error"


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of one point, or a point that failed, which has no label."""

    point: int
    key: str
    axes: dict[str, str]
    label: str
    values: dict[str, str]
    """By name; those of objects as 'numerics/nmse'."""
    path: pathlib.Path
    line: int
    config: dict
    """Empty if the file does not say."""


@dataclasses.dataclass(frozen=True)
class Sweep:
    """All runs in the order of their points."""

    source: str
    runs: list[Run]
    versions: list[str]
    """Empty if the file does not say."""

    def axes(self) -> list[str]:
        """The axes in the order of the sweep."""
        return list(dict.fromkeys(axis for run in self.runs for axis in run.axes))

    def labels(self) -> list[str]:
        """The labels in the order of the configuration."""
        return list(dict.fromkeys(run.label for run in self.runs if run.label))

    def digest(self) -> str:
        """Names the resolved configurations of all points: a hash of their keys."""
        keys = "\n".join(sorted({run.key for run in self.runs}))
        return hashlib.sha256(keys.encode()).hexdigest()[:16]


def has_lines(path: pathlib.Path) -> bool:
    """Whether a file looks like results.jsonl rather than a table."""
    return _begins_with(path, "{")


def has_table(path: pathlib.Path) -> bool:
    """Whether a file looks like a sweep's results.csv rather than a study's points.csv."""
    return _begins_with(path, f"{POINT},{KEY},")


def _begins_with(path: pathlib.Path, text: str) -> bool:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(len(text)) == text
    except (OSError, UnicodeDecodeError):
        return False  # whoever reads it says what is wrong


def read(paths: list[pathlib.Path]) -> Sweep:
    """All files together, as shards of a sweep are put together."""
    runs: list[Run] = []
    versions: list[str] = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
            found, said = _lines(path, text) if text.lstrip().startswith("{") else (_table(path, text), [])
        except OSError as problem:
            raise InputError(f"{path}: {problem.strerror}") from None
        except UnicodeDecodeError as problem:
            raise InputError(f"{path}: not a text file: {problem}") from None
        runs += found
        versions += said
    return Sweep(", ".join(map(str, paths)), sorted(runs, key=lambda run: run.point), sorted(set(versions)))


def _lines(path: pathlib.Path, text: str) -> tuple[list[Run], list[str]]:
    """Of a point that is there twice, as one that failed and was repeated, the last lines count."""
    runs: dict[tuple[str, str], Run] = {}
    versions = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            entry = json.loads(line)
            result = entry.get("run") or {}
            run = Run(int(entry["point"]), entry["key"], {name: _text(value) for name, value in entry["axes"].items()},
                      result.get("label", ""), _flat("", result), path, number, entry.get("config", {}))
            versions.append(entry["version"])
        except (ValueError, LookupError, TypeError, AttributeError) as problem:
            raise InputError(f"{path}, line {number}: not a line of a sweep "
                             f"({type(problem).__name__}: {problem}); {ASK}") from None
        if run.label:
            runs.pop((run.key, ""), None)
        runs[run.key, run.label] = run
    return list(runs.values()), versions


def _text(value) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _flat(prefix: str, values: dict) -> dict[str, str]:
    flat = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(f"{prefix}{name}/", value)
        elif value is not None and not isinstance(value, list):
            flat[prefix + name] = _text(value)
    return flat


def _table(path: pathlib.Path, text: str) -> list[Run]:
    lines = csv.DictReader(text.splitlines())
    if not lines.fieldnames or not {POINT, KEY} <= set(lines.fieldnames):
        raise InputError(f"{path}: there are no columns '{POINT}' and '{KEY}'; {ASK}")
    runs = []
    for row in lines:
        cells = {name: cell for name, cell in row.items() if name and cell}
        try:
            point = int(cells.pop(POINT))
            runs.append(Run(point, cells.pop(KEY), {name: cells.pop(name) for name in list(cells)
                                                    if name.startswith("/")}, cells.get(LABEL, ""), cells, path,
                            lines.line_num, {}))
        except (KeyError, ValueError):
            raise InputError(f"{path}, line {lines.line_num}: '{POINT}' or '{KEY}' is missing or broken") from None
    return runs


def short(step: str) -> str:
    """A value of an axis as people write it: '{"torus": "4x4"}' is 'torus 4x4'."""
    try:
        return _words(json.loads(step)) if step.startswith(("{", "[")) else step
    except ValueError:
        return step


def _words(value) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {_words(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return " ".join(map(_words, value))
    return value.rsplit("/", 1)[-1] if isinstance(value, str) else json.dumps(value)


def check_where(sweep: Sweep, where: dict[str, list[str]]) -> None:
    """Refuses axes that the sweep does not have, and values that they do not have."""
    for axis, wanted in where.items():
        if axis not in sweep.axes():
            raise unknown("axis", axis, sweep.axes(), sweep.source)
        steps = list(dict.fromkeys(run.axes.get(axis, "") for run in sweep.runs))
        for value in wanted:
            if value not in steps and value not in map(short, steps):
                raise unknown(f"{axis} =", value, list(map(short, steps)), sweep.source)


def is_at(run: Run, where: dict[str, list[str]]) -> bool:
    """Whether a run is of a point with one of these values of each axis."""
    found = {axis: run.axes.get(axis, "") for axis in where}
    return all(found[axis] in wanted or short(found[axis]) in wanted for axis, wanted in where.items())


def at_text(where: dict[str, list[str]]) -> str:
    """'/topology/slice = 4x2' for people."""
    return "; ".join(f"{axis} = {' or '.join(wanted)}" for axis, wanted in where.items())


def number(run: Run, name: str) -> float | None:
    """The value of that name, or of a part of it: 'nmse' is 'numerics/nmse'. None if the run has none."""
    matches = [value for known, value in run.values.items() if known == name or known.endswith(f"/{name}")]
    exact = run.values.get(name)
    cell = exact if exact is not None else matches[0] if matches else None
    if cell is None:
        return None
    try:
        value = float(cell)
    except ValueError:
        raise InputError(f"'{name}' of point {run.point} is '{cell}', which is not a number") from None
    return value if math.isfinite(value) else None


def value_names(runs: list[Run]) -> list[str]:
    """Names of the values that are numbers."""
    names = dict.fromkeys(name for run in runs for name, cell in run.values.items() if _is_number(cell))
    return list(names)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def unknown(what: str, wanted: str, known: list[str], source: str) -> InputError:
    """An error about a name that is not there, with what is."""
    nearest = difflib.get_close_matches(wanted, known, n=1, cutoff=0.5)
    hint = f"; nearest is '{nearest[0]}'" if nearest else ""
    return InputError(f"{source}: there is no {what} '{wanted}'{hint}; there is: {', '.join(known)}")
