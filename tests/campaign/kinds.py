"""Kinds of cases: what each is made of, and the laws that it is held to."""
import dataclasses
from collections.abc import Callable

from laws import bytes as conservation, machines, oracle, others as other_laws, results, steps as step_laws, texts
from laws import values
from make import experiments, others, programs, spoilt, steps


@dataclasses.dataclass(frozen=True)
class Kind:
    make: Callable  # (draw) -> content
    always: list
    drawn: list = dataclasses.field(default_factory=list)
    take: int = 0  # so many of `drawn` for each case
    weight: float = 1.0


KINDS = {
    "run": Kind(experiments.experiment, [results.result],
                [texts.show, texts.validate, texts.overrides, texts.table, machines.engines, machines.symmetric,
                 machines.slower_chip, machines.larger_tensor, machines.faults, conservation.conservation,
                 values.clockless, values.sums, values.moved, values.microshards, oracle.agrees, other_laws.pages,
                 other_laws.advise, other_laws.extras], take=3, weight=30),
    "step": Kind(steps.step, [step_laws.result],
                 [step_laws.engines, step_laws.symmetric, step_laws.slower, texts.show, texts.validate, texts.table,
                  other_laws.traces], take=2, weight=15),
    "spoilt": Kind(spoilt.spoilt, [other_laws.spoilt], weight=30),
    "hardware": Kind(others.hardware, [other_laws.hardware], weight=4),
    "topology": Kind(others.topology, [other_laws.topology], weight=5),
    "quantize": Kind(others.quantized, [other_laws.quantize], weight=5),
    "tune": Kind(others.tune, [other_laws.tune], weight=2),
    "tune-step": Kind(others.tune_step, [other_laws.tune_step], weight=1),
    "sweep": Kind(others.sweep, [other_laws.sweep], weight=2),
    "calibrate": Kind(others.calibration, [other_laws.calibrate, other_laws.calibrate_known], weight=1),
    "spoilt-sweep": Kind(spoilt.sweep, [other_laws.spoilt_sweep], weight=4),
    "spoilt-calibrate": Kind(spoilt.calibration, [other_laws.spoilt_calibration], weight=3),
    "msccl": Kind(others.schedule, [other_laws.schedule], weight=3),
    "spoilt-msccl": Kind(programs.spoilt_schedule, [other_laws.spoilt_schedule], weight=2),
    "hlo": Kind(programs.hlo, [other_laws.hlo], weight=4),
}
