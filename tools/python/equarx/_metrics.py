"""Errors of values against exact ones, as attributes."""
from __future__ import annotations

import math

from .result import html_of


def sqnr_text(sqnr_db: float) -> str:
    """"36.04 dB"; "exact" without any error, "-" if there is none."""
    if sqnr_db == math.inf:
        return "exact"
    return f"{sqnr_db:.2f} dB" if math.isfinite(sqnr_db) else "-"


class Errors:
    """Base of objects with errors. All cover every finite element, in float64 (docs/results.md, ``numerics``)."""

    _errors: dict

    @property
    def sqnr_db(self) -> float:
        """Signal to quantization noise ratio in dB: -10 log10(nmse); inf without any error."""
        return self._errors["sqnr_db"]

    @property
    def mse(self) -> float:
        """Mean squared error, in squared units of the array."""
        return self._errors["mse"]

    @property
    def nmse(self) -> float:
        """Squared error / squared exact values."""
        return self._errors["nmse"]

    @property
    def max_abs_error(self) -> float:
        """Largest error of an element, in units of the array."""
        return self._errors["max_abs_error"]

    @property
    def mean_signed_error(self) -> float:
        """Bias: mean of value - exact value, in units of the array."""
        return self._errors["mean_signed_error"]

    @property
    def cosine_similarity(self) -> float:
        """Cosine similarity of values and exact values, -1 to 1."""
        return self._errors["cosine_similarity"]

    @property
    def clipped_fraction(self) -> float:
        """Share of quantized elements beyond the largest code."""
        return self._errors["clipped_fraction"]

    @property
    def flushed_fraction(self) -> float:
        """Share of nonzero quantized elements that became zero."""
        return self._errors["flushed_fraction"]

    @property
    def nonfinite_elements(self) -> int:
        """Elements that are NaN or Inf in the result or the exact result; the errors leave them out."""
        return self._errors["nonfinite_elements"]

    def _repr_html_(self) -> str:
        """All metrics as a table, for notebooks."""
        return html_of(self._errors)

    def errors(self) -> dict[str, float]:
        """All metrics by name."""
        return dict(self._errors)
