"""Errors of quantized layers on arrays: attention with a stored KV cache, and exchanged tokens of experts."""
from __future__ import annotations

import json
import pathlib
import tempfile

from . import _program
from ._arguments import options
from ._arrays import tensor_of
from ._errors import InputError
from .result import Record


def _saved(folder: str, arrays: dict[str, object]) -> dict[str, str]:
    """Options that name the files of arrays; None is left out. @raises InputError for other types than FP32"""
    import numpy
    named = {}
    for option, array in arrays.items():
        if array is None:
            continue
        tensor = tensor_of(array, None, option.removeprefix("--"))
        if tensor.dtype != "fp32":
            raise InputError(f"{option.removeprefix('--')}: float32 is needed, not {tensor.dtype}")
        file = pathlib.Path(folder, f"{option.removeprefix('--')}.npy")
        numpy.save(file, tensor.bits.view("float32").reshape(tensor.shape))
        named[option] = str(file)
    return named


def attention(keys=None, values=None, queries=None, *, format: str = "int8-row", values_format: str | None = None,
              head_size: int | None = None, spread: float | None = None, causal: bool = False) -> Record:
    """Error of attention with keys and values in a format (docs/serving.md), drawn where none are given.

    keys, values, queries: float32, (heads, tokens, head size), or (tokens, heads x head size) with
        ``head_size``. format: a stored format by name, or a file. spread: standard deviation of drawn logits.
    Returns bits, NMSE of keys and values, and ``output_nmse``.
    """
    with tempfile.TemporaryDirectory(prefix="equarx-") as folder:
        files = _saved(folder, {"--keys": keys, "--values": values, "--queries": queries})
        arguments = ["attention", "--json", *options(files | {
            "--format": format, "--values-format": values_format, "--head-size": head_size, "--spread": spread,
            "--causal": causal})]
        return Record(json.loads(_program.command(arguments)))


def experts(activations=None, *, dispatch: str = "e4m3-row128", combine: str = "bf16", experts: int | None = None,
            top_k: int | None = None, hidden: int | None = None) -> Record:
    """Error of sums of experts whose tokens travel in a format (docs/experts.md).

    activations: float32, (tokens, width); drawn if None. dispatch, combine: formats there and back.
    Returns bits, ``sum_nmse`` and the share of rerouted tokens.
    """
    with tempfile.TemporaryDirectory(prefix="equarx-") as folder:
        files = _saved(folder, {"--activations": activations})
        arguments = ["experts", "--json", *options(files | {
            "--dispatch": dispatch, "--combine": combine, "--experts": experts, "--top-k": top_k, "--hidden": hidden})]
        return Record(json.loads(_program.command(arguments)))
