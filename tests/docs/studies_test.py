"""Verifies the figures on the pages of studies against the studies' results.

Usage: studies_test.py EQUARX_SIM [unittest arguments]
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import markdown

PROGRAM = ""
STUDIES = markdown.ROOT / "experiments" / "studies"


class Reproduced(unittest.TestCase):
    """Runs studies."""

    def reproduce(self, study: str) -> pathlib.Path:
        """The folder with the results of a study."""
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        subprocess.run([pathlib.Path(PROGRAM).resolve(), "reproduce", STUDIES / study, "-o", temporary.name],
                       cwd=markdown.ROOT, check=True, capture_output=True)
        return pathlib.Path(temporary.name)


class Studies(Reproduced):
    """experiments/studies/*/README.md"""

    def table(self, study: str, column: str) -> markdown.Table:
        """The table of the study's page that has this column."""
        found = [table for table in markdown.tables(markdown.text(STUDIES / study / "README.md"))
                 if column in table.columns]
        self.assertEqual(len(found), 1)
        return found[0]

    def test_real_activations(self):
        decibels: dict[str, list[float]] = {}
        for line in (self.reproduce("real_activations") / "results.jsonl").read_text().splitlines():
            run = json.loads(line)["run"]
            decibels.setdefault(run["label"], []).append(run["numerics"]["sqnr_db"])
        baseline, *others = decibels.items()
        self.assertEqual([f"{value:.0f}" for value in baseline[1]], ["145", "146"])
        expected = [[label, f"{gaussian:.1f}", f"{real:.1f}", f"{real - gaussian:+.1f}"]
                    for label, (gaussian, real) in others]
        self.assertEqual(self.table("real_activations", "Gaussian").rows, expected)

    def test_validation(self):
        with open(self.reproduce("validation") / "rows.csv", newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["role"] != "closed form"]
        table = self.table("validation", "measured")
        ratios = [dict(zip(table.columns, row))["ratio"].strip("*") for row in table.rows]
        self.assertEqual(sorted(ratios), sorted(f"{float(row['ratio']):.2f}" for row in rows))


class Paper(Reproduced):
    """docs/equarx.md; takes most of a minute."""

    def test_equarx_paper(self):
        with open(self.reproduce("equarx_paper") / "rows.csv", newline="", encoding="utf-8") as file:
            expected = [self.cells(row) for row in csv.DictReader(file)]
        [table] = [table for table in markdown.tables(markdown.text(markdown.ROOT / "docs" / "equarx.md"))
                   if "reported" in table.columns]
        self.assertEqual(table.rows, expected)

    def cells(self, row: dict[str, str]) -> list[str]:
        """A row of the page's table."""
        def shown(key: str) -> str:
            value = float(row[key])
            return f"{value * 1e3:#.4g}" if row["metric"] == "time_s" else f"{value:.4g}"

        limit = "<= " if row["kind"] == "at most" else ""
        interval = f"{shown('low')}-{shown('high')}" if row["low"] else ""
        return [row["what"], limit + shown("expected"), shown("simulated"), interval, row["role"],
                "yes" if row["within"] == "yes" else "**no**"]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
