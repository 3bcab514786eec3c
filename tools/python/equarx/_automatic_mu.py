"""FP8-LM's factor on the shared scale, from step to step."""
from __future__ import annotations

from . import _core
from ._collectives import Outcome
from ._errors import InputError


class AutomaticMu:
    """The ``mu`` of formats "fp8lm-e4m3" and "fp8lm-e5m2", adapted as in FP8-LM (arXiv 2310.18313):
    halved after a step in which more than 0.001 % of the sum's elements are at the largest code,
    else doubled over 1,000 steps.

        mu = equarx.AutomaticMu()
        for gradients in steps:
            outcome = equarx.allreduce(gradients, "fp8lm-e4m3", mu=mu.value)
            mu.update(outcome)

    mu: factor of the first step.
    """

    def __init__(self, mu: float = 1.0):
        try:
            self._core = _core.AutomaticMu(mu)
        except (TypeError, ValueError):
            raise InputError(f"mu: must be a number above 0, not {mu!r}") from None

    @property
    def value(self) -> float:
        """Factor of the next step."""
        return self._core.value

    def update(self, outcome: Outcome) -> None:
        """Updates the factor with the outcome of a step."""
        if not str(outcome.config["collectives"][0]["format"]).startswith("fp8lm"):
            raise InputError("mu: applies to the formats fp8lm-e4m3 and fp8lm-e5m2; the outcome has another format")
        self._core.update(outcome.at_largest_fraction)

    def __repr__(self) -> str:
        return f"AutomaticMu({self.value:g})"
