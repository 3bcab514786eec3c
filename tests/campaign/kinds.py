"""Kinds of cases: their generators and invariants."""
import dataclasses
from collections.abc import Callable

from invariants import bytes as conservation, machines, oracle, results, texts, values
from invariants import others as other_invariants, served as served_invariants, steps as step_invariants
from invariants import stored as stored_invariants
from make import experiments, malformed, others, programs, served, steps, stored


@dataclasses.dataclass(frozen=True)
class Kind:
    make: Callable  # (draw) -> content
    always: list
    drawn: list = dataclasses.field(default_factory=list)
    take: int = 0  # number of `drawn` invariants per case
    weight: float = 1.0


KINDS = {
    "run": Kind(experiments.experiment, [results.result],
                [texts.show, texts.validate, texts.overrides, texts.table, machines.engines, machines.symmetric,
                 machines.slower_chip, machines.larger_tensor, machines.faults, conservation.conservation,
                 values.clockless, values.sums, values.moved, values.microshards, oracle.agrees, other_invariants.pages,
                 other_invariants.advise, other_invariants.extras], take=3, weight=30),
    "step": Kind(steps.step, [step_invariants.result],
                 [step_invariants.engines, step_invariants.symmetric, step_invariants.slower, texts.show,
                  texts.validate, texts.table, other_invariants.traces], take=2, weight=15),
    "served": Kind(served.served, [served_invariants.served], weight=4),
    "malformed": Kind(malformed.malformed, [other_invariants.malformed], weight=30),
    "hardware": Kind(others.hardware, [other_invariants.hardware], weight=4),
    "topology": Kind(others.topology, [other_invariants.topology], weight=5),
    "quantize": Kind(others.quantized, [other_invariants.quantize], weight=5),
    "stored": Kind(stored.stored, [stored_invariants.stored], weight=5),
    "malformed-stored": Kind(stored.malformed_stored, [stored_invariants.malformed_stored], weight=4),
    "tune": Kind(others.tune, [other_invariants.tune], weight=2),
    "tune-step": Kind(others.tune_step, [other_invariants.tune_step], weight=1),
    "sweep": Kind(others.sweep, [other_invariants.sweep], weight=2),
    "calibrate": Kind(others.calibration, [other_invariants.calibrate, other_invariants.calibrate_known], weight=1),
    "malformed-sweep": Kind(malformed.sweep, [other_invariants.malformed_sweep], weight=4),
    "malformed-calibrate": Kind(malformed.calibration, [other_invariants.malformed_calibration], weight=3),
    "msccl": Kind(others.schedule, [other_invariants.schedule], weight=3),
    "malformed-msccl": Kind(programs.malformed_schedule, [other_invariants.malformed_schedule], weight=2),
    "hlo": Kind(programs.hlo, [other_invariants.hlo], weight=4),
}
