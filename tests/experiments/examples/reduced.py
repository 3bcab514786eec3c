"""Small copies of experiments/examples, in which every command of their pages can be run within seconds.

Reduced are, mechanically: each axis of a sweep to its first and its last value (of a range its `from` and `to`),
with what is excluded of these; a tensor's `shape` to no more than
MOST_ROWS along its first axis; `sample` to no more than MOST_SAMPLE. Everything else is as users have it.
"""
import json
import pathlib
import re
import shlex
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "experiments" / "examples"
MOST_ROWS, MOST_SAMPLE = 64, 0.125
SHELL_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def names() -> list[str]:
    """The folders of all examples."""
    return sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir() and folder.name != "__pycache__")


def copy(sandbox: pathlib.Path, program: pathlib.Path) -> None:
    """Makes a folder that looks like the top of the repository to the commands of the pages."""
    for name in ("tools", "configs", "docs", "tests"):
        (sandbox / name).symlink_to(ROOT / name)
    (sandbox / "build" / "release").mkdir(parents=True)
    (sandbox / "build" / "release" / "equarx-sim").symlink_to(program)
    shutil.copytree(EXAMPLES, sandbox / "experiments" / "examples")
    for path in (sandbox / "experiments" / "examples").glob("*/*.json"):
        path.write_text(json.dumps(_reduced(json.loads(path.read_text()))))


def commands(name: str) -> list[str]:
    """The command lines in the page of an example, in their order."""
    text = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    lines = "".join(SHELL_BLOCK.findall(text)).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def words(command: str) -> list[str]:
    """The words of a command line, without comments."""
    return shlex.split(command, comments=True)


def _reduced(value):
    if isinstance(value, list):
        return [_reduced(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    made = {key: _reduced(entry) for key, entry in value.items()}
    if "axes" in made:
        made["axes"] = [_ends(axis) for axis in made["axes"]]
        left = _values(made["axes"])
        made["exclude"] = [entry for entry in made.get("exclude", [])
                           if all(value in left[key] for key, value in entry.items())]
    if isinstance(made.get("shape"), list):
        made["shape"][0] = min(made["shape"][0], MOST_ROWS)
    if "sample" in made:
        made["sample"] = min(made["sample"], MOST_SAMPLE)
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
