"""equarx.matmul()."""
from __future__ import annotations

import os
from collections.abc import Mapping

from . import _core
from ._arrays import tensor_of
from ._config import text_of
from ._errors import InputError
from ._known import format_name
from ._quantize import is_file


def matmul(x, w, scheme: str | os.PathLike | Mapping = "bf16", *, dtype: str | None = None, importance=None):
    """Multiplies activations and weights in a scheme (docs/gemm.md), like ``equarx-sim matmul``.

    x: activations of shape (..., inputs): float32, float16 or bfloat16 as in ``quantize``.
    w: weights of shape (outputs, inputs), as in ``torch.nn.Linear``.
    scheme: a name ("zeroquant", "fp8", "weight-only-int4", ...), the path of a JSON file, or a dict.
    importance: of each weight, for formats that depend on it.

    Returns float32 of shape (..., outputs): the product with the scheme's types, order and roundings.
    Raises InputError for arrays that do not suit each other or the scheme.
    """
    import numpy
    activations, weights = (tensor_of(array, format_name(dtype)) for array in (x, w))
    if len(weights.shape) != 2 or not activations.shape or activations.shape[-1] != weights.shape[1]:
        raise InputError(f"x has the shape {activations.shape} and w {weights.shape}; give (..., inputs) and "
                         "(outputs, inputs)")
    each = numpy.empty(0, "float32")
    if importance is not None:
        each = numpy.ascontiguousarray(importance, "float32")
        if each.shape != weights.shape:
            raise InputError(f"importance has the shape {each.shape}; give that of w, {weights.shape}")
    text = text_of(scheme) if isinstance(scheme, Mapping) or is_file(scheme) else str(scheme)
    product = _core.matmul(text, activations.bits, activations.dtype, weights.bits, weights.dtype, weights.shape[1],
                           each)
    return numpy.frombuffer(product, "float32").reshape(*activations.shape[:-1], weights.shape[0]).copy()
