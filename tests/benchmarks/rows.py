"""Rows of the table of speed figures (table.py): commands, formats and schedules, each with its goal."""
from __future__ import annotations

import abc
import dataclasses
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/equarx-sim"
CASES = "tests/benchmarks/cases"
DEFAULT = "configs/experiments/allreduce_v5e_4x2.json"

Figures = dict[str, float]  # of a row, by name; each has "ratio", to compare with other runs


@dataclasses.dataclass(frozen=True)
class Setting:
    """Parameters of a measurement."""
    turns: int                           # runs of a command; the least CPU time counts
    limit_s: float                       # longest wall time of a command
    folder: pathlib.Path                 # temporary
    references: dict[str, float]         # CPU seconds of "copy" and "loop"
    hops: dict[str, dict[str, float]]    # of numerics_benchmark, by name


@dataclasses.dataclass(frozen=True)
class Row(abc.ABC):
    name: str
    what: str

    @property
    @abc.abstractmethod
    def reference(self) -> str:
        """Name of the denominator of the ratio."""

    @property
    @abc.abstractmethod
    def goal(self) -> str:
        """In words; empty if none."""

    @abc.abstractmethod
    def measure(self, setting: Setting) -> Figures:
        """Empty if it failed or took too long."""

    @abc.abstractmethod
    def text(self, figures: Figures) -> str:
        """Figures in words."""

    @abc.abstractmethod
    def meets(self, figures: Figures) -> bool:
        """True if all goals are met."""

    @property
    @abc.abstractmethod
    def source(self) -> str:
        """The command or benchmark."""


@dataclasses.dataclass(frozen=True)
class Command(Row):
    """A command of equarx-sim, or of Python; {out} is replaced by an empty folder, {hlo} by an HLO text of 100 MB."""
    command: str
    reference: str = "loop"
    goal_s: float | None = None   # CPU seconds; wall seconds if it is measured on several cores
    goal_mb: float | None = None
    cores: bool = False           # also on one core

    @property
    def goal(self) -> str:
        parts = [] if self.goal_s is None else [f"{self.goal_s:g} s" + (" wall" if self.cores else "")]
        return ", ".join(parts + ([] if self.goal_mb is None else [f"{self.goal_mb:g} MB"]))

    @property
    def source(self) -> str:
        return self.command

    def _run(self, setting: Setting, turn: str, one_core: bool = False) -> Figures:
        out = setting.folder / f"{self.name}-{turn}"
        out.mkdir()
        command = self.command if self.command.startswith("/usr/bin/python3") else f"{PROGRAM} {self.command}"
        words = shlex.split(command.replace("{out}", str(out)).replace("{hlo}", str(hlo_text(setting.folder))
                                                                       if "{hlo}" in command else ""))
        return run(["taskset", "-c", "0", *words] if one_core else words, setting.limit_s)

    def measure(self, setting: Setting) -> Figures:
        best: Figures = {}
        for turn in range(setting.turns):
            measured = self._run(setting, str(turn))
            if not measured:
                return {}
            if not best or measured["cpu_s"] < best["cpu_s"]:
                best = measured
        if self.cores and (os.cpu_count() or 1) > 1:
            alone = self._run(setting, "alone", one_core=True)
            if alone:
                best |= {"wall_on_one_core_s": alone["wall_s"], "busy_cores": best["cpu_s"] / best["wall_s"]}
        return best | {"ratio": best["cpu_s"] / setting.references[self.reference]}

    def text(self, figures: Figures) -> str:
        text = f"{figures['cpu_s']:.2f} s, {figures['peak_mb']:.0f} MB"
        if "wall_on_one_core_s" in figures:
            text += (f"; wall {figures['wall_s']:.2f} s, on one core {figures['wall_on_one_core_s']:.2f} s"
                     f" ({figures['busy_cores']:.1f} busy)")
        return text

    def meets(self, figures: Figures) -> bool:
        seconds = figures["wall_s" if self.cores else "cpu_s"]
        return (self.goal_s is None or seconds <= self.goal_s) and \
            (self.goal_mb is None or figures["peak_mb"] <= self.goal_mb)


@dataclasses.dataclass(frozen=True)
class Hop(Row):
    """A hop of a format: dequantize, add, quantize. ns per element, and rate over a copy of as many bytes."""
    goal_ns: float | None = None
    goal_share: float | None = None

    reference = "copy"

    @property
    def goal(self) -> str:
        if self.goal_ns is not None:
            return f"{self.goal_ns:g} ns"
        return "" if self.goal_share is None else f"{self.goal_share:g} of copy"

    @property
    def source(self) -> str:
        return f"numerics_benchmark: hop/{self.what}"

    def measure(self, setting: Setting) -> Figures:
        one = setting.hops[f"hop/{self.what}/manual_time"]
        return {"ns": one["ns/element"], "share_of_copy": one["of_copy"], "ratio": 1 / one["of_copy"]}

    def text(self, figures: Figures) -> str:
        return f"{figures['ns']:.2f} ns, {figures['share_of_copy']:.2f} of copy"

    def meets(self, figures: Figures) -> bool:
        return (self.goal_ns is None or figures["ns"] <= self.goal_ns) and \
            (self.goal_share is None or figures["share_of_copy"] >= self.goal_share)


@dataclasses.dataclass(frozen=True)
class OverBound(Row):
    """Simulated time of a plain AllReduce over its lower bound, the largest of several tori."""
    tori: tuple[str, ...]
    goal_over: float

    reference = "bound"

    @property
    def goal(self) -> str:
        return f"{self.goal_over:g}"

    @property
    def source(self) -> str:
        return f"run {CASES}/tori.json on {', '.join(self.tori)}"

    def measure(self, setting: Setting) -> Figures:
        overs = []
        for torus in self.tori:
            words = [str(PROGRAM), "run", f"{CASES}/tori.json", "--set", f"/topology/torus={torus}", "--json"]
            output = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
            one = json.loads(output)["runs"][0]
            overs.append(one["time_s"] / one["lower_bound_s"])
        return {"ratio": max(overs)}

    def text(self, figures: Figures) -> str:
        return f"{figures['ratio']:.3f}"

    def meets(self, figures: Figures) -> bool:
        return figures["ratio"] <= self.goal_over


def run(words: list[str], limit_s: float) -> Figures:
    """CPU, wall and peak memory of a command and its children; {} if it failed or exceeded the time. A Python command
    prints its own times."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "build/release/python")}
    start = time.monotonic()
    with tempfile.TemporaryFile(mode="w+") as errors:
        process = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors,
                                   start_new_session=True)
        timer = threading.Timer(limit_s, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        timer.cancel()
        errors.seek(0)
        last = (errors.read().splitlines() or [""])[-1]
    if os.waitstatus_to_exitcode(status) != 0:
        print(f"table: {words[1]}: exit status {os.waitstatus_to_exitcode(status)} after {wall:.0f} s: {last}",
              file=sys.stderr)
        return {}
    measured = {"cpu_s": usage.ru_utime + usage.ru_stime, "wall_s": wall, "peak_mb": usage.ru_maxrss * 1024 / 1e6}
    printed: Figures = json.loads(output.splitlines()[-1]) if words[0] == "/usr/bin/python3" else {}
    return measured | printed


def hlo_text(folder: pathlib.Path) -> pathlib.Path:
    """100 MB: a chain of ten matmuls and an all-reduce each time, as written by XLA. Written once."""
    path = folder / "program.hlo.txt"
    if path.exists():
        return path
    shape = "bf16[128,128]{1,0:T(8,128)(2,1)}"
    with path.open("w") as out:
        out.write("HloModule chain, is_scheduled=true, num_partitions=16\n\n%add (a: f32[], b: f32[]) -> f32[] {\n"
                  "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %c = f32[] add(%a, %b)\n}\n\n"
                  f"ENTRY %main (i: bf16[128,128]) -> bf16[128,128] {{\n  %i.0 = {shape} parameter(0)\n")
        i = 0
        while out.tell() < 100_000_000:
            for i in range(i + 1, i + 11):
                out.write(f"  %i.{i} = {shape} dot(%i.{i - 1}, %i.0), lhs_contracting_dims={{1}}, "
                          "rhs_contracting_dims={0}, metadata={op_name=\"jit(step)/layer/dot_general\" "
                          "source_file=\"/home/user/model/transformer.py\" source_line=120}\n")
            i += 1
            out.write(f"  %i.{i} = {shape} all-reduce(%i.{i - 1}), channel_id={i}, "
                      "replica_groups=[4,4]<=[4,4]T(1,0), use_global_device_ids=true, to_apply=%add\n")
        out.write(f"  ROOT %r = {shape} copy(%i.{i})\n}}\n")
    return path


def case(name: str, *settings: str, command: str = "run") -> str:
    return f"{command} {CASES}/{name}.json" + "".join(f" --set {shlex.quote(setting)}" for setting in settings)


ALLREDUCE = ("/usr/bin/python3 -c \"import json, resource, time, numpy as np, equarx\n"
             "values = np.random.default_rng(1).standard_normal(16 << 20, dtype=np.float32)\n"
             "codes = (values.view(np.uint32) >> 16).astype(np.uint16)\n"
             "arrays = np.stack([np.tile(np.roll(codes, 12345 * rank), 8) for rank in range(8)])\n"
             "for _ in range(3):\n"
             "  before, start = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()\n"
             "  equarx.allreduce(arrays, '{format}', topology=dict(slice='4x2'), dtype='bf16')\n"
             "  after, end = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()\n"
             "print(json.dumps({{'cpu_s': after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,\n"
             "                  'wall_s': end - start}}))\"")
FSDP_TENSOR = ('/mesh={"fsdp":64,"tensor":16}', "/step/training/sequence_parallel=true")
POD = ('/topology={"torus":"16x20x28"}', '/mesh={"fsdp":8960}', "/step/training/batch=8960")

ROWS: tuple[Row, ...] = (
    Command("405b-tensor", "Llama-405B step, 1,024 chips, fsdp 64 x tensor 16, 3 variants",
            case("step_405b", *FSDP_TENSOR), goal_s=1, goal_mb=100),
    Command("405b-fsdp", "the same, fsdp 1024", case("step_405b"), goal_s=1, goal_mb=100),
    Command("405b-pod", "the same, fsdp 8960", case("step_405b", *POD), goal_s=1, goal_mb=100),
    Command("slices-4", "hierarchical AllReduce over 4 slices of 256 chips", case("slices"), goal_s=0.1),
    Command("slices-16", "the same, 16 slices", case("slices", "/topology/network/slices=16"), goal_s=0.1),
    Command("slices-64", "the same, 64 slices", case("slices", "/topology/network/slices=64"), goal_s=0.1),
    Command("step-slices", "Llama-70B step over 4 slices of 256 chips, 2 variants", case("step_slices"), goal_s=1),
    Command("all-to-all", "all-to-all on 16x16", case("all_to_all"), goal_s=0.1),
    Command("all-to-alls", "4 all-to-alls in a step on 16x16", case("step_all_to_all"), goal_s=0.1),
    Command("two-shot", "two-shot on 8x8x8", case("two_shot"), goal_s=2),
    Command("full", "AllReduce of 1 GiB on a torus of 64x64, every chip", case("full"), cores=True),
    OverBound("tori", "AllReduce of 1 GiB on unequal tori, time over bound",
              ("4x8", "8x16", "4x4x8", "4x8x16", "8x16x16", "16x20x28"), goal_over=1.02),
    Command("tune", "`tune`, default", f"tune {DEFAULT}", "copy", goal_s=0.8, goal_mb=100, cores=True),
    Command("tune-256", "`tune` on v6e 16x16", "tune configs/experiments/allreduce_v6e_16x16.json", "copy",
            goal_mb=100),
    Command("advise", "`advise`, default", f"advise {DEFAULT}", "copy", goal_mb=100),
    Command("advise-step", "`advise` of a Llama-405B step, 256 chips, fsdp 256",
            case("step_405b", "/topology/torus=4x8x8", "/mesh/fsdp=256", "/step/training/batch=256",
                 command="advise"), goal_s=60, cores=True),
    Command("tune-step", "`tune` of a Llama-70B step", "tune experiments/studies/training/llama3_70b_v7.json",
            goal_s=10, goal_mb=100),
    Command("run", "`run`, default, with values", f"run {DEFAULT}", "copy", goal_s=0.2, cores=True),
    Command("mi300x", "`run` of allreduce_mi300x_8", "run configs/experiments/allreduce_mi300x_8.json", "copy",
            goal_s=1, cores=True),
    Command("python-bf16", "`equarx.allreduce`, 8 x 256 MiB, bf16", ALLREDUCE.format(format="bf16"), "copy",
            goal_s=0.5, cores=True),
    Command("python-int8", "the same, int8", ALLREDUCE.format(format="int8"), "copy", goal_s=0.5,
            cores=True),
    Hop("hop-int8", "int8", goal_share=0.8),
    Hop("hop-fp8", "fp8-e4m3"),
    Hop("hop-quickreduce", "quickreduce-int4", goal_ns=0.6),
    Hop("hop-quickreduce-fp8", "quickreduce-fp8", goal_ns=0.6),
    Hop("hop-zeropp", "zeropp-int4", goal_ns=0.6),
    Hop("hop-sdp4bit", "sdp4bit-int4", goal_ns=0.6),
    Hop("hop-qsgd", "global-qsgd-exp8", goal_ns=0.6),
    Hop("hop-stochastic", "int8 stochastic", goal_ns=0.6),
    Command("reproduce", "`reproduce equarx_paper`", "reproduce experiments/studies/equarx_paper -o {out}/paper",
            goal_s=3.5, cores=True),
    Command("sweep", "sweep of 10,000 points, times only", f"sweep {CASES}/sweep_10000.json -o {{out}}/sweep",
            goal_s=4, cores=True),
    Command("hlo", "`import hlo`, 100 MB of text", "import hlo {hlo} --topology 4x4", goal_s=6, goal_mb=500),
)
