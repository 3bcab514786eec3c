"""A copy of the top folder of the repository for the commands of pages, with less to compute.

Reduces each axis of a sweep to its first and last value (a range to `from` and `to`), and exclusions to these values;
the first axis of a tensor `shape` to at most MOST_ROWS; `sample` to at most MOST_SAMPLE; `tokens` of a prefill to at
most MOST_TOKENS.
"""
import json
import pathlib
import shutil

from markdown import ROOT

MOST_ROWS, MOST_SAMPLE, MOST_TOKENS = 64, 0.125, 256
LINKED = ("tools", "docs", "tests")
COPIED = ("configs", "experiments")


def make(sandbox: pathlib.Path, program: pathlib.Path, *, whole: bool = False) -> None:
    """Creates the folder. `whole`: without reduction, for comparing output with a page."""
    for name in LINKED:
        (sandbox / name).symlink_to(ROOT / name)
    (sandbox / "build" / "release").mkdir(parents=True)
    (sandbox / "build" / "release" / "equarx-sim").symlink_to(program)
    if whole:
        for name in COPIED:
            (sandbox / name).symlink_to(ROOT / name)
        return
    shutil.copytree(ROOT / "configs", sandbox / "configs")
    for path in (ROOT / "experiments" / "studies").glob("*/*.json"):
        (sandbox / path.parent.relative_to(ROOT)).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, sandbox / path.relative_to(ROOT))  # rows of studies need whole experiments
    shutil.copytree(ROOT / "experiments" / "studies" / "examples", sandbox / "experiments" / "studies" / "examples")
    for folder in ("configs/experiments", "configs/sweeps", "experiments/studies/examples"):
        for path in (sandbox / folder).rglob("*.json"):
            path.write_text(json.dumps(reduced(json.loads(path.read_text()))))


def reduced(value):
    """The configuration, with less to compute."""
    if isinstance(value, list):
        return [reduced(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    made = {key: reduced(entry) for key, entry in value.items()}
    if all(isinstance(axis, dict) for axis in made.get("axes", [""])):  # axes of a sweep, not of a mesh
        made["axes"] = [_ends(axis) for axis in made["axes"]]
        left = _values(made["axes"])
        made["exclude"] = [entry for entry in made.get("exclude", [])
                           if all(value in left[key] for key, value in entry.items())]
    if isinstance(made.get("shape"), list):
        made["shape"][0] = min(made["shape"][0], MOST_ROWS)
    for key, most in (("sample", MOST_SAMPLE), ("tokens", MOST_TOKENS)):
        if key in made:
            made[key] = min(made[key], most)
    return made


def _ends(axis: dict) -> dict:
    """An axis with its first and its last value."""
    if "zip" in axis:
        return {"zip": [_ends(entry) for entry in axis["zip"]]}
    span = axis.get("range") or axis.get("log_range")
    values = [span["from"], span["to"]] if span else axis["values"]
    return {"key": axis["key"], "values": values[:1] + values[1:][-1:]}


def _values(axes: list[dict]) -> dict[str, list]:
    """The values of each key."""
    keys = [entry for axis in axes for entry in axis.get("zip", [axis])]
    return {entry["key"]: entry["values"] for entry in keys}
