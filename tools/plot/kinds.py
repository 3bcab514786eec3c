"""Table of the kinds of pictures, with their inputs and options."""
import argparse
import dataclasses
import typing

import figures
from figures import Figures, OfPoints, OfReported
from pictures import (breakdown, error_by_speedup, paper_ratio, prefill, prefill_speedup, prefill_time,
                      speedup_by_size, tails, time_by_size)
from read import file_kinds, result, sensitivities


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of picture; its key in KINDS is its name on the command line."""

    what: str
    """Content of the picture."""
    reads: str
    """Input files."""
    figures: typing.Callable[[argparse.Namespace], Figures]
    options: tuple[str, ...] = ()
    """Names of its OPTIONS."""
    only: str = ""
    """The single input that it takes; empty if it takes several files."""
    examples: tuple[str, ...] = ()
    draws: tuple[str, ...] = ()
    """Kinds of files (read.file_kinds) that contain its input."""


def _study(arguments: argparse.Namespace) -> Figures:
    return figures.of_study(arguments, {name: kind.figures for name, kind in KINDS.items()
                                        if hasattr(kind.figures, "of_study")})


POINTS = file_kinds.POINTS
OF_EXPERIMENTS = ("experiment", "where")

KINDS = {
    "study": Kind("all pictures of a study", figures.STUDY, _study,
                  only="one folder", examples=("plot.py study results/equarx_paper",)),
    "time": Kind("time against tensor size, with lower bounds", POINTS,
                 OfPoints(time_by_size, "sizes"), OF_EXPERIMENTS, draws=(file_kinds.POINTS,)),
    "speedup": Kind("speedup against tensor size, with the paper's points", f"{POINTS}, or {file_kinds.ADVICE}",
                    OfPoints(speedup_by_size, "sizes", of_advice=figures.of_advice), OF_EXPERIMENTS,
                    examples=("plot.py speedup results/equarx_paper/results.jsonl -o pictures",
                              "plot.py speedup results/my_sweep/results.jsonl --where /hardware=tpu-v5e",
                              "plot.py speedup advice.json"),
                    draws=(file_kinds.POINTS, file_kinds.ADVICE)),
    "advice": Kind("whether to quantize: verdict and speedup of each group of a step, or over tensor size",
                   file_kinds.ADVICE, figures.of_verdicts, only="one JSON file",
                   examples=("equarx-sim advise CONFIG --json > advice.json", "plot.py advice advice.json"),
                   draws=(file_kinds.ADVICE,)),
    "contract": Kind("times, errors, ULP and sizes with the same bits, of each collective", file_kinds.CONTRACT,
                     figures.of_contract, only="one JSON file",
                     examples=("equarx-sim contract CONFIG --json > contract.json", "plot.py contract contract.json"),
                     draws=(file_kinds.CONTRACT,)),
    "compare": Kind("times of two results", file_kinds.COMPARISON, figures.of_comparison, only="one JSON file",
                    examples=("equarx-sim compare a.json b.json --json > compared.json",
                              "plot.py compare compared.json"), draws=(file_kinds.COMPARISON,)),
    "served": Kind("latencies of a served model against load; of a single load, their distributions",
                   file_kinds.SERVED, figures.of_served,
                   examples=("equarx-sim serve CONFIG --json --requests > served.json", "plot.py served served.json",
                             "plot.py served load_1.json load_2.json load_4.json"), draws=(file_kinds.SERVED,)),
    "plan": Kind("tokens per chip against tokens per user of a capacity plan", file_kinds.PLAN, figures.of_plan,
                 only="one JSON file", examples=("equarx-sim plan --model NAME --json > plan.json",
                                                 "plot.py plan plan.json"), draws=(file_kinds.PLAN,)),
    "error": Kind("error against speedup, with the paper's points", POINTS,
                  OfPoints(error_by_speedup, "six", also=("formats",)), OF_EXPERIMENTS,
                  examples=("plot.py error results/equarx_paper/results.jsonl --experiment formats -o pictures",)),
    "breakdown": Kind("time breakdown of the busiest link direction", POINTS,
                      OfPoints(breakdown, "six", also=("formats",)), OF_EXPERIMENTS, draws=(file_kinds.POINTS,)),
    "tails": Kind("SQNR on Gaussian values and on values from files", POINTS,
                  OfPoints(tails, "activations", suits=tails.has_both, of_times=False), OF_EXPERIMENTS,
                  examples=("plot.py tails results/real_activations/results.jsonl",)),
    "prefill_time": Kind("time breakdown of prefills, against tokens", POINTS,
                         OfPoints(prefill_time, suits=prefill.are_compared, takes=prefill.is_one), ("where",),
                         examples=("plot.py prefill_time results/equarx_paper/results.jsonl",)),
    "prefill_speedup": Kind("speedup of prefills, with the paper's points", POINTS,
                            OfPoints(prefill_speedup, suits=prefill.are_compared, takes=prefill.is_one), ("where",)),
    "paper": Kind("simulated against reported figures", file_kinds.ROWS, OfReported(paper_ratio),
                  draws=(file_kinds.ROWS,)),
    "links": Kind("utilization of every link of a slice", result.NEEDS,
                  figures.of_links, ("label",), only="one JSON file",
                  examples=("equarx-sim run CONFIG --json --links > result.json",
                            "plot.py links result.json --label bf16")),
    "sensitivity": Kind("sensitivity of the time to the parameters of the chip, as a tornado",
                        sensitivities.NEEDS, figures.of_sensitivity, ("label",),
                        only="one JSON file",
                        examples=("equarx-sim run CONFIG --json --sensitivity > result.json",
                                  "plot.py sensitivity result.json")),
    "gantt": Kind("the pipeline of one chip", file_kinds.TRACE,
                  figures.of_trace, ("label", "chip", "start", "end"), only="one JSON file",
                  examples=("equarx-sim run CONFIG --trace trace.json",
                            "plot.py gantt trace.json --label int8 --chip '(0,0)' --from 10us --to 40us"),
                  draws=(file_kinds.TRACE,)),
    "step": Kind("timeline of a step, stream by stream", file_kinds.STEP,
                 figures.of_step, ("label",), only="one JSON file",
                 examples=("equarx-sim run CONFIG --json > step.json", "plot.py step step.json"),
                 draws=(file_kinds.STEP,)),
    "sweep": Kind("one value against two axes", f"{POINTS}, or results.csv",
                  figures.of_sweep, ("label", "x", "y", "value", *OF_EXPERIMENTS),
                  examples=("plot.py sweep results/my_sweep/results.jsonl --label int8 --x /tensor/bytes \\\n"
                            "      --y /topology/slice --value speedup",), draws=(file_kinds.POINTS, file_kinds.TABLE)),
    "pareto": Kind("latency-error Pareto front", file_kinds.TUNING,
                   figures.of_tuning, only="one JSON file",
                   examples=("equarx-sim tune CONFIG --json > tuned.json", "plot.py pareto tuned.json"),
                   draws=(file_kinds.TUNING,)),
}


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of some kinds; its key in OPTIONS is its name in the arguments."""

    flag: str
    value: str
    what: str
    repeated: bool = False


OPTIONS = {
    "experiment": Option("--experiment", "NAME", "experiment of a study (default: sizes, six or activations, "
                         "depending on the picture)"),
    "where": Option("--where", "AXIS=VALUE", "value of an axis of a sweep; may be repeated, also for the same axis",
                    repeated=True),
    "label": Option("--label", "LABEL", "the collective to draw, if there are several (default: sensitivity and step "
                    "all, sweep the only one besides the baseline)"),
    "chip": Option("--chip", "NAME", "the chip by its name in the trace (default: the first)"),
    "start": Option("--from", "TIME", "start, like 10us (default: 0)"),
    "end": Option("--to", "TIME", "end (default: that of the collective)"),
    "x": Option("--x", "AXIS", "horizontal axis, like /tensor/bytes; or label"),
    "y": Option("--y", "AXIS", "vertical axis; or label, for all collectives"),
    "value": Option("--value", "NAME", "speedup (default), time_s, nmse, sqnr_db or another number of a run"),
}


def having(option: str) -> list[str]:
    """Names of the kinds with that option."""
    return [name for name, kind in KINDS.items() if option in kind.options]
