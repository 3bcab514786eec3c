"""Results of a study as files: JSON with settings and versions, and CSV."""
import csv
import hashlib
import io
import json
import pathlib
import platform

import equarx
import numpy
import torch

from store import write_whole


def digest(text: str) -> str:
    """Hash of a text, twelve digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def versions() -> dict:
    return {"equarx": equarx.__version__, "torch": torch.__version__, "numpy": numpy.__version__,
            "python": platform.python_version()}


def write(folder: pathlib.Path, study: str, rows: list[dict], summary: dict) -> None:
    """Writes DIR/results.json and DIR/results.csv. Every row has the same keys."""
    document = {"study": study, "versions": versions(), "summary": summary, "rows": rows}
    write_whole(folder / "results.json", json.dumps(document, indent=2) + "\n")
    table = io.StringIO()
    writer = csv.DictWriter(table, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    write_whole(folder / "results.csv", table.getvalue())
