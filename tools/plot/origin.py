"""Which version of the program computed an input, from which configurations."""
import hashlib
import json
import pathlib

import sweep_file
from data import InputError

STUDY_FILE = "study.json"


def of(path: pathlib.Path) -> str:
    """'0.1.0, config 0123456789abcdef' of a result, or of the study that a CSV file lies in; empty if unknown."""
    described = path / STUDY_FILE if path.is_dir() else \
        path if path.suffix == ".json" else path.parent / STUDY_FILE
    try:
        text = json.loads(described.read_text(encoding="utf-8"))
        if "config_hash" in text:
            return f"{text['version']}, config {text['config_hash']}"
        hashes = sorted(point["result"]["config_hash"] for point in text["points"])
        digest = hashlib.sha256("\n".join(hashes).encode()).hexdigest()[:16]
        return f"{text['version']}, {len(hashes)} configs, hash {digest}"
    except (OSError, ValueError, LookupError, TypeError):
        return ""  # the picture says where its numbers are from as far as is known


def of_sweep(paths: list[pathlib.Path]) -> str:
    """'0.1.0, 49 points, hash 0123456789abcdef' of a sweep's results; empty if they cannot be read."""
    try:
        sweep = sweep_file.read(paths)
    except InputError:
        return ""  # which is said when the rows are read
    points = len({run.key for run in sweep.runs})
    failed = sum(not run.label for run in sweep.runs)
    return (f"{', '.join(sweep.versions)}, {points} points{f' ({failed} failed)' if failed else ''}, "
            f"hash {sweep.digest()}")
