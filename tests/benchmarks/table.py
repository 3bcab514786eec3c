"""Table of speed figures: whole commands and formats, by CPU time, wall time and peak memory.

Run by table.sh. Figures of two machines compare as ratios: to a copy of 1 GiB or to a loop of 10^8 dependent
multiplications, both measured in the same run. Goals are seconds on the machine of docs/speed.md.
"""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import typing

import rows
from rows import ROOT, ROWS, Figures, Hop, Row

KEPT = ROOT / "tests/benchmarks/figures.json"
PAGE = ROOT / "docs/speed.md"
BEGIN, END = "<!-- figures: tests/benchmarks/table.sh --keep -->", "<!-- end of figures -->"


def benchmark(program: str, filters: str) -> dict[str, dict[str, float]]:
    """Medians of a Google Benchmark program by name."""
    command = [str(ROOT / "build/release/tests/benchmarks" / program), f"--benchmark_filter={filters}",
               "--benchmark_format=json", "--benchmark_repetitions=3", "--benchmark_report_aggregates_only=true"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {one["run_name"]: one for one in json.loads(output)["benchmarks"] if one["aggregate_name"] == "median"}


def change_of(name: str, figures: Figures, before: dict[str, Figures]) -> float | None:
    """New ratio over the kept one; None if either is missing."""
    old = before.get(name, {}).get("ratio")
    return figures["ratio"] / old if old and figures else None


def cells_of(row: Row, figures: Figures, before: dict[str, Figures] | None) -> list[str]:
    change = None if before is None else change_of(row.name, figures, before)
    met = "" if not row.goal else "met" if figures and row.meets(figures) else "missed"
    return [f"`{row.name}`", f"hop of {row.what}" if isinstance(row, Hop) else row.what,
            row.text(figures) if figures else "failed, or took too long",
            f"{figures['ratio']:.3g} x {row.reference}" if figures else "",
            *([] if before is None else ["" if change is None else f"{change:.2f} x"]), row.goal, met]


def table(figures: dict[str, Figures], before: dict[str, Figures] | None, selected: typing.Sequence[Row]) -> str:
    """In Markdown. Column `before`: ratio over the former one; absent without."""
    head = ["row", "what", "CPU, peak memory", "ratio", *([] if before is None else ["before"]), "goal", ""]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(cells_of(row, figures.get(row.name, {}), before)) + " |" for row in selected]
    return "\n".join(lines)


def machine_of(references: dict[str, float]) -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return (f"{os.cpu_count()} cores, {models[0] if models else platform.machine()}; copy of 1 GiB "
            f"{references['copy']:.3f} s, loop {references['loop']:.3f} s")


def page_with(kept: dict[str, typing.Any]) -> str:
    """The page of figures with the kept ones."""
    text = PAGE.read_text()
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:start]}\n{kept['machine']}.\n\n{table(kept['rows'], None, ROWS)}\n{text[end:]}"


def keep(figures: dict[str, Figures], before: dict[str, typing.Any], machine: str) -> None:
    """Rows that were not measured keep their figures; only a run of all rows replaces the machine."""
    made = {row.name: figures.get(row.name, before["rows"].get(row.name, {})) for row in ROWS}
    is_whole = all(row.name in figures for row in ROWS)
    rows = {name: {key: float(f"{value:.4g}") for key, value in one.items()} for name, one in made.items() if one}
    kept = {"machine": machine if is_whole else before.get("machine", machine), "rows": rows}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    PAGE.write_text(page_with(kept))


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="table.sh", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to measure (default: all)")
    parser.add_argument("--list", action="store_true", help="print the rows and what they measure")
    parser.add_argument("--turns", type=int, default=3, metavar="N",
                        help="runs of each command, of which the least CPU time counts (3)")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="longest time of a command (120)")
    parser.add_argument("--keep", action="store_true",
                        help=f"keep the figures in {KEPT.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")
    parser.add_argument("--check", action="store_true",
                        help="measure nothing; check that the page has the kept figures")
    parser.add_argument("--tolerance", type=float, metavar="FACTOR",
                        help="exit with 1 if a ratio exceeds the kept one by this factor")
    options = parser.parse_args(arguments)
    unknown = set(options.rows) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"unknown row '{min(unknown)}'; --list prints them")
    if options.turns < 1 or options.limit <= 0:
        parser.error("--turns must be at least 1, and --limit above 0")
    return options


def measure(selected: list[Row], options: argparse.Namespace, references: dict[str, float]) -> dict[str, Figures]:
    formats = "|".join(row.what for row in selected if isinstance(row, Hop))
    hops = benchmark("numerics_benchmark", f"^hop/({formats})/") if formats else {}
    figures = {}
    with tempfile.TemporaryDirectory(prefix="equarx-table-") as name:
        setting = rows.Setting(options.turns, options.limit, pathlib.Path(name), references, hops)
        for number, row in enumerate(selected, 1):
            print(f"table: {number} of {len(selected)}: {row.name}", file=sys.stderr)
            figures[row.name] = row.measure(setting)
    return figures


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    selected = [row for row in ROWS if not options.rows or row.name in options.rows]
    if options.list:
        for row in selected:
            print(f"{row.name}: {row.source}")
        return 0
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"rows": {}}
    if options.check:
        if PAGE.read_text() == page_with(kept):
            return 0
        print(f"table: {PAGE.relative_to(ROOT)} differs from {KEPT.relative_to(ROOT)}; --keep writes both",
              file=sys.stderr)
        return 1
    references = {name: one["cpu_time"] * 1e-3 for name, one in benchmark("reference_benchmark", ".").items()}
    figures = measure(selected, options, references)
    print(f"{machine_of(references)}\n\n{table(figures, kept['rows'], selected)}")
    if options.keep:
        keep(figures, kept, machine_of(references))
    changes = {row.name: change_of(row.name, figures[row.name], kept["rows"]) for row in selected}
    slower = [name for name, change in changes.items() if options.tolerance and change and change > options.tolerance]
    if slower:
        print(f"\ntable: slower than the kept figures: {', '.join(slower)}", file=sys.stderr)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
