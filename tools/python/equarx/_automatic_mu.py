"""FP8-LM's factor on the scale that ranks share, from step to step."""
from __future__ import annotations

from . import _core
from ._collectives import Outcome
from ._errors import InputError


class AutomaticMu:
    """The ``mu`` of formats "fp8lm-e4m3" and "fp8lm-e5m2", as FP8-LM changes it (arXiv 2310.18313): halved after a step
    in which more than 0.001 % of the sum's elements are at the largest code, else doubled over 1,000 steps.

        mu = equarx.AutomaticMu()
        for gradients in steps:
            outcome = equarx.allreduce(gradients, "fp8lm-e4m3", mu=mu.value)
            mu.update(outcome)

    mu: of the first step.
    """

    def __init__(self, mu: float = 1.0):
        try:
            self._core = _core.AutomaticMu(mu)
        except (TypeError, ValueError):
            raise InputError(f"mu: is a number above 0, and not {mu!r}") from None

    @property
    def value(self) -> float:
        """Of the next step."""
        return self._core.value

    def update(self, outcome: Outcome) -> None:
        """Takes what a step has made of the sum."""
        if not str(outcome.config["collectives"][0]["format"]).startswith("fp8lm"):
            raise InputError("mu: is of the formats fp8lm-e4m3 and fp8lm-e5m2; the outcome is of another")
        self._core.update(outcome.at_largest_fraction)

    def __repr__(self) -> str:
        return f"AutomaticMu({self.value:g})"
