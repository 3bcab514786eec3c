"""The kinds of pictures: the one place that says what there is to draw, of what, and how."""
import argparse
import dataclasses
import typing

import figures
from figures import Figures, OfPoints, OfReported
from pictures import (breakdown, error_by_speedup, paper_ratio, prefill, prefill_speedup, prefill_time,
                      speedup_by_size, tails, time_by_size)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of picture, which the command line calls by its name in KINDS."""

    what: str
    """What it draws."""
    reads: str
    """Of which files."""
    figures: typing.Callable[[argparse.Namespace], Figures]
    options: tuple[str, ...] = ()
    """Of OPTIONS, those that it has."""
    only: str = ""
    """What it takes just one of; empty if it takes several files."""
    examples: tuple[str, ...] = ()


def _study(arguments: argparse.Namespace) -> Figures:
    return figures.of_study(arguments, {name: kind.figures for name, kind in KINDS.items()
                                        if hasattr(kind.figures, "of_study")})


POINTS = "results.jsonl of 'equarx-sim reproduce' or 'sweep'"
OF_EXPERIMENTS = ("experiment", "where")

KINDS = {
    "study": Kind("all that a study has the experiments for", "the folder of 'equarx-sim reproduce'", _study,
                  only="one folder", examples=("plot.py study results/equarx_paper",)),
    "time": Kind("time against tensor size, with lower bounds", POINTS,
                 OfPoints(time_by_size, "sizes"), OF_EXPERIMENTS),
    "speedup": Kind("speedup against tensor size, with the paper's points", POINTS,
                    OfPoints(speedup_by_size, "sizes"), OF_EXPERIMENTS,
                    examples=("plot.py speedup results/equarx_paper/results.jsonl -o pictures",
                              "plot.py speedup results/my_sweep/results.jsonl --where /hardware=tpu-v5e")),
    "error": Kind("error against speedup, with the paper's points", POINTS,
                  OfPoints(error_by_speedup, "six", also=("formats",)), OF_EXPERIMENTS,
                  examples=("plot.py error results/equarx_paper/results.jsonl --experiment formats -o pictures",)),
    "breakdown": Kind("where the time goes", POINTS,
                      OfPoints(breakdown, "six", also=("formats",)), OF_EXPERIMENTS),
    "tails": Kind("SQNR on real values beside Gaussian ones", POINTS,
                  OfPoints(tails, "activations", suits=tails.has_both, of_times=False), OF_EXPERIMENTS,
                  examples=("plot.py tails results/real_activations/results.jsonl",)),
    "prefill_time": Kind("where the time of prefills goes, against tokens", POINTS,
                         OfPoints(prefill_time, suits=prefill.are_compared, takes=prefill.is_one), ("where",),
                         examples=("plot.py prefill_time results/equarx_paper/results.jsonl",)),
    "prefill_speedup": Kind("speedup of prefills, with the paper's points", POINTS,
                            OfPoints(prefill_speedup, suits=prefill.are_compared, takes=prefill.is_one), ("where",)),
    "paper": Kind("simulated against reported figures", figures.REPORTED, OfReported(paper_ratio)),
    "links": Kind("how busy every link of a slice is", "JSON of 'equarx-sim run CONFIG --json --links'",
                  figures.of_links, ("label",), only="one JSON file",
                  examples=("equarx-sim run CONFIG --json --links > result.json",
                            "plot.py links result.json --label bf16")),
    "sensitivity": Kind("what the time depends on: a tornado of the chip's parameters",
                        "JSON of 'equarx-sim run CONFIG --json --sensitivity'", figures.of_sensitivity, ("label",),
                        only="one JSON file",
                        examples=("equarx-sim run CONFIG --json --sensitivity > result.json",
                                  "plot.py sensitivity result.json")),
    "gantt": Kind("the pipeline of one chip", "a trace of 'equarx-sim run CONFIG --trace FILE'",
                  figures.of_trace, ("label", "chip", "start", "end"), only="one JSON file",
                  examples=("equarx-sim run CONFIG --trace trace.json",
                            "plot.py gantt trace.json --label int8 --chip '(0,0)' --from 10us --to 40us")),
    "step": Kind("the tasks of a whole step, stream by stream", "JSON of 'equarx-sim run CONFIG --json' of a step",
                 figures.of_step, ("label",), only="one JSON file",
                 examples=("equarx-sim run CONFIG --json > step.json", "plot.py step step.json")),
    "sweep": Kind("one value against two axes", "results.jsonl or results.csv of 'equarx-sim sweep' or 'reproduce'",
                  figures.of_sweep, ("label", "x", "y", "value", *OF_EXPERIMENTS),
                  examples=("plot.py sweep results/my_sweep/results.jsonl --label int8 --x /tensor/bytes \\\n"
                            "      --y /topology/slice --value speedup",)),
    "pareto": Kind("the times and errors that can be had", "JSON of 'equarx-sim tune CONFIG --json'",
                   figures.of_tuning, only="one JSON file",
                   examples=("equarx-sim tune CONFIG --json > tuned.json", "plot.py pareto tuned.json")),
}


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of some kinds, by its name in the arguments."""

    flag: str
    value: str
    what: str
    repeated: bool = False


OPTIONS = {
    "experiment": Option("--experiment", "NAME", "draw this experiment of a study (default: sizes, six or activations, "
                         "as the picture needs)"),
    "where": Option("--where", "AXIS=VALUE", "where to hold an axis of a sweep's results; may be repeated, of the same "
                    "axis for several of its values", repeated=True),
    "label": Option("--label", "LABEL", "the collective to draw, if there are several (of sensitivity and step: default all)"),
    "chip": Option("--chip", "NAME", "the chip, as the trace calls it (default: the first)"),
    "start": Option("--from", "TIME", "like 10us; default 0"),
    "end": Option("--to", "TIME", "default the end"),
    "x": Option("--x", "AXIS", "the axis across, like /tensor/bytes; or label"),
    "y": Option("--y", "AXIS", "the axis down; or label, for all collectives"),
    "value": Option("--value", "NAME", "speedup (default), time_s, nmse, sqnr_db or any other number of a run"),
}


def having(option: str) -> list[str]:
    """The kinds that have an option."""
    return [name for name, kind in KINDS.items() if option in kind.options]
