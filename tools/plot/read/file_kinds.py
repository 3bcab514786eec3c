"""Identifies files by their content, for errors about a file that a picture cannot use."""
import csv
import json
import pathlib
import re

from read.errors import InputError, WrongFile, reason

RUN = "a result of 'equarx-sim run CONFIG --json'"
STEP = "a result of 'equarx-sim run CONFIG --json' of a step"
TUNING = "a result of 'equarx-sim tune CONFIG --json'"
STEP_TUNING = "a result of 'equarx-sim tune CONFIG --json' of a step"
ADVICE = "advice of 'equarx-sim advise CONFIG --json'"
CONTRACT = "a contract of 'equarx-sim contract CONFIG --json'"
PLAN = "a result of 'equarx-sim plan ... --json'"
SERVED = "a result of 'equarx-sim serve CONFIG --json'"
COMPARISON = "a comparison of 'equarx-sim compare A.json B.json --json'"
TRACE = "a trace of 'equarx-sim run CONFIG --trace FILE'"
POINTS = "results.jsonl of 'equarx-sim sweep' or 'reproduce'"
TABLE = "results.csv of 'equarx-sim sweep' or 'reproduce'"
ROWS = "rows.csv of 'equarx-sim reproduce'"
EXPERIMENT, STEP_CONFIG = "an experiment configuration", "a step configuration"
SERVED_CONFIG = "a configuration of a served model"
SWEEP, STUDY, CALIBRATION = "a sweep configuration", "a study", "a calibration task"
HARDWARE, TOPOLOGY, MODEL = "a hardware file", "a topology file", "a model file"

# The first whose keys are all present.
KEYS = [(TRACE, {"traceEvents"}), (COMPARISON, {"a", "b", "collectives"}), (STEP_TUNING, {"variants", "combinations"}),
        (STEP, {"variants", "version"}),  # of version 0.2
        (TUNING, {"front"}), (ADVICE, {"quantize", "sizes"}), (ADVICE, {"sites"}),
        (CONTRACT, {"config", "collectives"}), (SERVED, {"config", "ttft", "tpot"}), (PLAN, {"request", "ranked"}),
        (RUN, {"runs"}), (SWEEP, {"base", "axes"}), (STUDY, {"title", "experiments"}), (CALIBRATION, {"fit"}),
        (SERVED_CONFIG, {"hardware", "serving"}), (STEP_CONFIG, {"hardware", "mesh"}),
        (STEP_CONFIG, {"hardware", "workload"}), (EXPERIMENT, {"hardware", "topology"}),
        (HARDWARE, {"name", "parameters"}), (TOPOLOGY, {"name", "chips"}), (MODEL, {"name", "layers"})]
# A line of results.jsonl may lack one of them if it is malformed.
POINT_KEYS, LEAST_POINT_KEYS = {"point", "key", "axes", "run"}, 3
# Configurations may have them; strings are matched first, as they may contain slashes.
COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
TRACE_BEGINNING = '{"displayTimeUnit"'
MOST_NAMES = 4


def of(path: pathlib.Path) -> str:
    """The kind of a file as a noun phrase: one of the constants above, or a description of its content."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        return "not a text file"
    if text.startswith(TRACE_BEGINNING):  # too long to parse
        return TRACE
    if not text.strip():
        return "an empty file"
    return _json_kind(text) if text.lstrip().startswith(("{", "[", "//", "/*")) else _table_kind(text)


def wrong_file(path: pathlib.Path, kind: str, problem: Exception | None = None, needs: str = "") -> InputError:
    """An error about a file that is not of that kind, or is malformed.

    `needs`: the kind with the options that the picture requires, if it requires any.
    """
    found = of(path)
    if found == kind and problem:
        return InputError(f"{path}: malformed; expected {needs or kind}: {reason(problem)}")
    return WrongFile(path, found, command_of(needs or kind, path, found))


def command_of(needs: str, path: pathlib.Path, found: str) -> str:
    """A description of needed input, with the command for this file if it is a fitting configuration."""
    fitting = {STEP: STEP_CONFIG, SERVED: SERVED_CONFIG}.get(needs, EXPERIMENT)
    return needs.replace("CONFIG", str(path)) if found == fitting else needs


def _json_kind(text: str) -> str:
    try:
        content = _parsed(text)
    except ValueError as problem:
        return f"malformed JSON (line {getattr(problem, 'lineno', 1)})"
    if not isinstance(content, dict):
        return "JSON, but not an object"
    if len(POINT_KEYS & content.keys()) >= LEAST_POINT_KEYS:
        return POINTS
    if _has_groups(content.get("runs")):
        return STEP
    known = (kind for kind, keys in KEYS if keys <= content.keys())
    return next(known, f"a JSON object with the keys {_some(list(content))}" if content else "an empty JSON object")


def _has_groups(runs) -> bool:
    """True for the runs of a step, which have groups of tasks."""
    return isinstance(runs, list) and bool(runs) and isinstance(runs[0], dict) and "groups" in runs[0]


def _parsed(text: str):
    """The object in the text, or the first of several on lines of their own."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return json.loads(text.lstrip().split("\n", 1)[0])
    except ValueError:
        return json.loads(COMMENT.sub(lambda found: found[1] or "", text))


def _table_kind(text: str) -> str:
    names = [name.strip() for name in next(csv.reader(text.splitlines()[:1]))]
    if {"point", "key"} <= set(names):
        return TABLE
    if {"metric", "expected"} <= set(names):
        return ROWS
    return f"a table with the columns {_some(names)}" if len(names) > 1 else "neither JSON nor CSV"


def _some(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
