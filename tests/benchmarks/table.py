"""Table of speed figures: whole commands and formats, by CPU time, wall time and peak memory.

Run by table.sh. Times of two machines compare as ratios: to a copy of 1 GiB or to a loop of 10^8 dependent
multiplications, both measured in the same run. Goals are seconds on the machine of docs/speed.md.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/equarx-sim"
CASES = "tests/benchmarks/cases"
FIGURES = ROOT / "tests/benchmarks/figures.json"
PAGE = ROOT / "docs/speed.md"
BEGIN, END = "<!-- figures: tests/benchmarks/table.sh --keep -->", "<!-- end of figures -->"
COPY, LOOP = "copy", "loop"
Figures = dict[str, dict[str, float]]  # by row


@dataclasses.dataclass(frozen=True)
class Row:
    """A command. Words in braces are replaced: {out} by an empty folder, {hlo} by an HLO text of 100 MB."""
    name: str
    what: str
    command: str  # of equarx-sim, or of Python if it begins with "python"
    reference: str = LOOP
    goal_s: float | None = None   # CPU seconds; wall seconds of rows with `cores`
    goal_mb: float | None = None
    cores: bool = False           # also on one core


@dataclasses.dataclass(frozen=True)
class Hop:
    """A hop of a format: dequantize, add, quantize; ns per element, and its ratio to a copy of as many bytes."""
    name: str
    format: str
    goal_ns: float | None = None
    goal_share: float | None = None  # of the rate of the copy


def step(case: str, *settings: str) -> str:
    return f"run {CASES}/{case}.json" + "".join(f" --set {shlex.quote(setting)}" for setting in settings)


ALLREDUCE = ("python3 -c \"import json, resource, numpy as np, equarx\n"
             "values = np.random.default_rng(1).standard_normal((8, 128 << 20), dtype=np.float32)\n"
             "arrays = (values.view(np.uint32) >> 16).astype(np.uint16); del values\n"
             "for _ in range(3):\n"
             "  before = resource.getrusage(resource.RUSAGE_SELF)\n"
             "  equarx.allreduce(arrays, '{format}', topology='4x2', dtype='bf16')\n"
             "  after = resource.getrusage(resource.RUSAGE_SELF)\n"
             "print(json.dumps({{'cpu_s': after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}}))\"")
FSDP_TENSOR = ('/mesh={"fsdp":64,"tensor":16}', "/step/training/sequence_parallel=true")
POD = ('/topology={"torus":"16x20x28"}', '/mesh={"fsdp":8960}', "/step/training/batch=8960")

ROWS: tuple[Row | Hop, ...] = (
    Row("405b-tensor", "Llama-405B step, 1,024 chips, fsdp 64 x tensor 16, 3 variants", step("step_405b", *FSDP_TENSOR),
        goal_s=1, goal_mb=100),
    Row("405b-fsdp", "the same, fsdp 1024", step("step_405b"), goal_s=1, goal_mb=100),
    Row("405b-pod", "the same, fsdp 8960", step("step_405b", *POD), goal_s=1, goal_mb=100),
    Row("slices-4", "hierarchical AllReduce over 4 slices of 256 chips", step("slices"), goal_s=0.1),
    Row("slices-16", "the same, 16 slices", step("slices", "/topology/network/slices=16"), goal_s=0.1),
    Row("slices-64", "the same, 64 slices", step("slices", "/topology/network/slices=64"), goal_s=0.1),
    Row("step-slices", "Llama-70B step over 4 slices of 256 chips, 2 variants", step("step_slices"), goal_s=1),
    Row("all-to-all", "all-to-all on 16x16", step("all_to_all"), goal_s=0.1),
    Row("all-to-alls", "4 all-to-alls in a step on 16x16", step("step_all_to_all"), goal_s=0.1),
    Row("two-shot", "two-shot on 8x8x8", step("two_shot"), goal_s=2),
    Row("tune", "`tune`, default", "tune", COPY, goal_s=0.8, goal_mb=100, cores=True),
    Row("tune-256", "`tune` on v6e 16x16", "tune configs/experiments/allreduce_v6e_16x16.json", COPY, goal_mb=100),
    Row("advise", "`advise`, default", "advise", COPY, goal_mb=100),
    Row("tune-step", "`tune` of a Llama-70B step", "tune experiments/studies/training/llama3_70b_v7.json", goal_s=10,
        goal_mb=100),
    Row("run", "`run`, default, with values", "run configs/experiments/allreduce_v5e_4x2.json", COPY, goal_s=0.2,
        cores=True),
    Row("mi300x", "`run` of allreduce_mi300x_8", "run configs/experiments/allreduce_mi300x_8.json", COPY, goal_s=1),
    Row("python-bf16", "`equarx.allreduce`, 8 x 256 MiB, bf16", ALLREDUCE.format(format="bf16"), COPY, goal_s=0.5),
    Row("python-int8", "the same, int8", ALLREDUCE.format(format="int8"), COPY, goal_s=0.5),
    Hop("hop-int8", "int8", goal_share=0.8),
    Hop("hop-fp8", "fp8-e4m3"),
    Hop("hop-quickreduce", "quickreduce-int4", goal_ns=0.6),
    Hop("hop-quickreduce-fp8", "quickreduce-fp8", goal_ns=0.6),
    Hop("hop-zeropp", "zeropp-int4", goal_ns=0.6),
    Hop("hop-sdp4bit", "sdp4bit-int4", goal_ns=0.6),
    Hop("hop-qsgd", "global-qsgd-exp8", goal_ns=0.6),
    Hop("hop-stochastic", "int8 stochastic", goal_ns=0.6),
    Row("reproduce", "`reproduce equarx_paper`", "reproduce experiments/studies/equarx_paper -o {out}/paper", goal_s=3.5,
        cores=True),
    Row("sweep", "sweep of 10,000 points, times only", f"sweep {CASES}/sweep_10000.json -o {{out}}/sweep", goal_s=4),
    Row("hlo", "`import hlo`, 100 MB of text", "import hlo {hlo} --topology 4x4", goal_s=6, goal_mb=500),
)


def write_hlo(path: pathlib.Path, megabytes: int) -> None:
    """A chain of matmuls and all-reduces, with layouts and metadata as written by XLA."""
    shape = "bf16[128,128]{1,0:T(8,128)(2,1)}"
    with path.open("w") as out:
        out.write("HloModule chain, is_scheduled=true, num_partitions=16\n\n%add (a: f32[], b: f32[]) -> f32[] {\n"
                  "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %c = f32[] add(%a, %b)\n}\n\n"
                  f"ENTRY %main (i: bf16[128,128]) -> bf16[128,128] {{\n  %i.0 = {shape} parameter(0)\n")
        i = 0
        while out.tell() < megabytes * 1_000_000:
            i += 2
            out.write(f"  %i.{i - 1} = {shape} dot(%i.{i - 2}, %i.0), lhs_contracting_dims={{1}}, "
                      "rhs_contracting_dims={0}, metadata={op_name=\"jit(step)/layer/dot_general\" "
                      "source_file=\"/home/user/model/transformer.py\" source_line=120}\n"
                      f"  %i.{i} = {shape} all-reduce(%i.{i - 1}), channel_id={i}, "
                      "replica_groups=[4,4]<=[4,4]T(1,0), use_global_device_ids=true, to_apply=%add\n")
        out.write(f"  ROOT %r = {shape} copy(%i.{i})\n}}\n")


def run(words: list[str], limit_s: float, one_core: bool) -> dict[str, float]:
    """CPU, wall and peak memory of a command and its children; {} if it failed or exceeded the time."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "build/release/python")}
    prefix = ["taskset", "-c", "0"] if one_core else []
    start = time.monotonic()
    process = subprocess.Popen(prefix + words, cwd=ROOT, env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    timer = subprocess.Popen([sys.executable, "-c", f"import os, signal, time; time.sleep({limit_s}); "
                              f"os.killpg({process.pid}, signal.SIGKILL)"])
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    timer.send_signal(signal.SIGKILL)
    timer.wait()
    if os.waitstatus_to_exitcode(status) != 0:
        return {}
    measured = {"cpu_s": usage.ru_utime + usage.ru_stime, "wall_s": wall, "peak_mb": usage.ru_maxrss * 1024 / 1e6}
    if words[0].endswith("python3"):
        measured |= {"cpu_s": json.loads(output.splitlines()[-1])["cpu_s"]}
    return measured


def benchmark(program: str, filters: str) -> dict[str, dict[str, float]]:
    """Results of a Google Benchmark program by name."""
    command = [str(ROOT / "build/release/tests/benchmarks" / program), f"--benchmark_filter={filters}",
               "--benchmark_format=json", "--benchmark_repetitions=3", "--benchmark_report_aggregates_only=true"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {one["run_name"]: one for one in json.loads(output)["benchmarks"] if one["aggregate_name"] == "median"}


def measure_row(row: Row, options: argparse.Namespace, folder: pathlib.Path, references: dict[str, float]) \
        -> dict[str, float]:
    best: dict[str, float] = {}
    for turn in range(options.turns):
        out = folder / f"{row.name}-{turn}"
        out.mkdir()
        command = row.command if row.command.startswith("python") else f"{PROGRAM} {row.command}"
        words = shlex.split(command.replace("{out}", str(out)).replace("{hlo}", str(folder / "program.hlo.txt")))
        measured = run(words, options.limit, False)
        if not measured:
            return {}
        if not best or measured["cpu_s"] < best["cpu_s"]:
            best = measured
    if row.cores and (os.cpu_count() or 1) > 1:
        alone = folder / f"{row.name}-alone"
        alone.mkdir()
        words = shlex.split(f"{PROGRAM} {row.command}".replace("{out}", str(alone)))
        one = run(words, options.limit, True)
        if one:
            best |= {"wall_on_one_core_s": one["wall_s"], "busy_cores": best["cpu_s"] / best["wall_s"]}
    return best | {"ratio": best["cpu_s"] / references[row.reference]}


def measure_hop(row: Hop, hops: dict[str, dict[str, float]]) -> dict[str, float]:
    one = hops[f"hop/{row.format}/manual_time"]
    return {"ns": one["ns/element"], "share_of_copy": one["of_copy"], "ratio": 1 / one["of_copy"]}


def is_met(row: Row | Hop, figures: dict[str, float]) -> bool | None:
    """None without a goal."""
    if isinstance(row, Hop):
        if row.goal_ns is not None:
            return bool(figures) and figures["ns"] <= row.goal_ns
        return None if row.goal_share is None else bool(figures) and figures["share_of_copy"] >= row.goal_share
    if row.goal_s is None and row.goal_mb is None:
        return None
    if not figures:
        return False
    seconds = figures["wall_s" if row.cores else "cpu_s"]
    return (row.goal_s is None or seconds <= row.goal_s) and (row.goal_mb is None or figures["peak_mb"] <= row.goal_mb)


def goal_of(row: Row | Hop) -> str:
    if isinstance(row, Hop):
        if row.goal_ns is not None:
            return f"{row.goal_ns:g} ns"
        return "" if row.goal_share is None else f"{row.goal_share:g} of copy"
    parts = [] if row.goal_s is None else [f"{row.goal_s:g} s" + (" wall" if row.cores else "")]
    return ", ".join(parts + ([] if row.goal_mb is None else [f"{row.goal_mb:g} MB"]))


def figure_of(row: Row | Hop, figures: dict[str, float]) -> str:
    if not figures:
        return "none: failed, or took too long"
    if isinstance(row, Hop):
        return f"{figures['ns']:.2f} ns, {figures['share_of_copy']:.2f} of copy"
    text = f"{figures['cpu_s']:.2f} s, {figures['peak_mb']:.0f} MB"
    if "wall_on_one_core_s" in figures:
        text += (f"; wall {figures['wall_s']:.2f} s, on one core {figures['wall_on_one_core_s']:.2f} s"
                 f" ({figures['busy_cores']:.1f} busy)")
    return text


def change_of(name: str, figures: dict[str, float], before: Figures) -> float | None:
    """New ratio over the kept one; None if either is missing."""
    old = before.get(name, {}).get("ratio")
    return None if not old or not figures else figures["ratio"] / old


def table(figures: Figures, before: Figures | None, selected: list[Row | Hop]) -> str:
    """In Markdown. Column `before`: ratio over that of before; absent without."""
    head = ["row", "what", "CPU, peak memory", "ratio", *([] if before is None else ["before"]), "goal", ""]
    lines = [head, ["---"] * len(head)]
    for row in selected:
        one = figures.get(row.name, {})
        ratio = f"{one['ratio']:.3g} x {COPY if isinstance(row, Hop) else row.reference}" if one else ""
        change = None if before is None else change_of(row.name, one, before)
        met = is_met(row, one)
        lines.append([f"`{row.name}`", f"hop of {row.format}" if isinstance(row, Hop) else row.what,
                      figure_of(row, one), ratio,
                      *([] if before is None else ["" if change is None else f"{change:.2f} x"]),
                      goal_of(row), "" if met is None else "met" if met else "missed"])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines).replace("| --- ", "|---").replace("|--- |", "|---|")


def machine() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{os.cpu_count()} cores, {line.split(':', 1)[1].strip()}"
    return f"{os.cpu_count()} cores, {platform.machine()}"


def page_with(kept: dict[str, typing.Any]) -> str:
    """The page of figures with the kept ones."""
    text = PAGE.read_text()
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    references = kept["references"]
    lines = table(kept["rows"], None, list(ROWS))
    return (f"{text[:start]}\n{kept['machine']}; copy of 1 GiB {references[COPY]:.3f} s, loop {references[LOOP]:.3f} s.\n\n"
            f"{lines}\n{text[end:]}")


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="table.sh", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to measure (default: all)")
    parser.add_argument("--list", action="store_true", help="print the rows and their commands")
    parser.add_argument("--turns", type=int, default=3, metavar="N", help="runs of each command; the least CPU counts (3)")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="longest time of a command (120)")
    parser.add_argument("--keep", action="store_true",
                        help=f"keep the figures in {FIGURES.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")
    parser.add_argument("--check", action="store_true", help="measure nothing; check that the page has the kept figures")
    parser.add_argument("--tolerance", type=float, metavar="FACTOR",
                        help="exit with 1 if a ratio exceeds the kept one by this factor")
    options = parser.parse_args(arguments)
    unknown = set(options.rows) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"unknown row '{sorted(unknown)[0]}'; --list prints them")
    if options.turns < 1 or options.limit <= 0:
        parser.error("--turns and --limit are at least 1")
    return options


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    selected = [row for row in ROWS if not options.rows or row.name in options.rows]
    if options.list:
        for row in selected:
            print(f"{row.name}: {row.format if isinstance(row, Hop) else row.command}")
        return 0
    kept = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"rows": {}}
    if options.check:
        if PAGE.read_text() == page_with(kept):
            return 0
        print(f"table: {PAGE.relative_to(ROOT)} differs from {FIGURES.relative_to(ROOT)}; --keep writes both",
              file=sys.stderr)
        return 1
    references = {name: one["cpu_time"] * 1e-3 for name, one in benchmark("reference_benchmark", ".").items()}
    hops: dict[str, dict[str, float]] = {}
    if any(isinstance(row, Hop) for row in selected):
        formats = "|".join(row.format for row in selected if isinstance(row, Hop))
        hops = benchmark("numerics_benchmark", f"^hop/({formats})/")
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="equarx-table-") as name:
        folder = pathlib.Path(name)
        if any(row.name == "hlo" for row in selected):
            write_hlo(folder / "program.hlo.txt", 100)
        for number, row in enumerate(selected, 1):
            print(f"table: {number} of {len(selected)}: {row.name}", file=sys.stderr)
            figures[row.name] = measure_hop(row, hops) if isinstance(row, Hop) \
                else measure_row(row, options, folder, references)
    print(f"{machine()}; copy of 1 GiB {references[COPY]:.3f} s, loop {references[LOOP]:.3f} s\n")
    print(table(figures, kept["rows"], selected))
    changes = {row.name: change_of(row.name, figures[row.name], kept["rows"]) for row in selected}
    if options.keep:
        rows = kept["rows"] | {name: {key: float(f"{value:.4g}") for key, value in one.items()}
                               for name, one in figures.items() if one}
        for name in [name for name, one in figures.items() if not one]:
            rows.pop(name, None)
        kept = {"machine": machine(), "references": references, "rows": {row.name: rows[row.name] for row in ROWS
                                                                        if row.name in rows}}
        FIGURES.write_text(json.dumps(kept, indent=1) + "\n")
        PAGE.write_text(page_with(kept))
    slower = [name for name, change in changes.items()
              if options.tolerance and change is not None and change > options.tolerance]
    if slower:
        print(f"\ntable: slower than the kept figures: {', '.join(slower)}", file=sys.stderr)
    return 1 if slower else 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main(sys.argv[1:]))
