"""Lazily aggregated gradients."""
from __future__ import annotations

from . import _core
from ._errors import InputError


class Lazy:
    """Workers that send the gradients of one bucket to a server only if they have changed enough: LAQ
    (arXiv 1909.07588), and LAG (arXiv 1805.09965) with ``bits=None``.

        lazy = equarx.Lazy(rate=0.02)
        for _ in range(500):
            parameters = parameters - 0.02 * lazy.step(gradients(parameters), parameters)

    rate: of gradient descent.
    bits: of each element of a change, or None for FP32.
    memory, weight: number of changes of the parameters that the rule compares with, and weight of each.
    error_weight: of the squared errors of the quantizer. With both weights 0, all send in every round.
    at_most: rounds without sending.
    """

    def __init__(self, rate: float, *, bits: int | None = 4, memory: int = 10, weight: float = 0.08,
                 error_weight: float = 3.0, at_most: int = 100):
        self._rule = (rate, bits, memory, weight, error_weight, at_most)
        self._workers: _core.LazyWorkers | None = None
        self._shape: tuple[int, ...] = ()
        self._mask: list = []
        self._made(1, 1)

    def step(self, gradients, parameters):
        """One round: the sum of the gradients that the server has, as float64.

        gradients: an array with a leading axis of workers, at the same parameters.
        parameters: an array of the shape of one gradient.
        """
        import numpy
        own = numpy.ascontiguousarray(gradients, "float64")
        at = numpy.ascontiguousarray(parameters, "float64")
        if own.ndim < 1 or own.shape[1:] != at.shape or own.size == 0:
            raise InputError(f"gradients have the shape {own.shape} and parameters {at.shape}; give (workers, ...) and "
                             "(...)")
        if self._workers is None:
            self._workers, self._shape = self._made(own.shape[0], at.size), own.shape
        if own.shape != self._shape:
            raise InputError(f"gradients have the shape {own.shape} instead of {self._shape}; make an object for each "
                             "bucket")
        total = numpy.empty(at.shape, "float64")
        self._mask.append(self._workers.round(own, at, total))
        return total

    def _made(self, workers: int, elements: int):
        try:
            return _core.LazyWorkers(workers, elements, *self._rule)
        except TypeError:
            raise InputError("rate and weights are numbers, bits, memory and at_most whole numbers from 0 on") from None

    @property
    def mask(self):
        """By round and worker, True if it sent."""
        import numpy
        return numpy.array(self._mask, bool).reshape(len(self._mask), -1)

    @property
    def uploads(self) -> list[int]:
        """By round, the number of workers that sent: ``uploads`` of ``when`` in a step (docs/steps.md)."""
        return [sum(sends) for sends in self._mask]

    @property
    def bits(self) -> int:
        """Bits of all messages so far: 32 and the bits of each element, or 32 for each element."""
        return 0 if self._workers is None else self._workers.bits
