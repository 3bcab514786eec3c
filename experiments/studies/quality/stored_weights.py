"""Weights of a model in stored formats (docs/stored_formats.md), quantized block after block."""
import copy
import dataclasses

import equarx
import numpy as np
import torch
from torch.nn import functional

from models import Hooks

GROUP = 32  # of columns, in formats with groups along rows
REDUCED = ("BF16", "RTN", "GPTQ", "SliM-LLM", "weighted, sensitive and largest apart", "W8A8", "5 levels by row")
BY_TOKEN = {"elements": {"integer": 8}, "groups": {"along": "row"}}


@dataclasses.dataclass(frozen=True)
class Method:
    """A way to store weights. `format`: a stored format, or the name of a block format. `inputs`: codes depend on the
    layers' inputs. `importance`: codes depend on squared gradients. `by_token`: inputs of products are int8, a scale
    for each token."""

    name: str
    bits: int  # nominal
    format: dict | str
    inputs: bool = False
    importance: bool = False
    by_token: bool = False


def row_groups(length: int) -> dict:
    return {"along": "row", "length": length}


def shifted(bits: int, length: int = GROUP, **others) -> dict:
    """Integers with zero points and ranges from least to largest; GPTQ's quantizer."""
    return {"elements": {"integer": bits}, "groups": row_groups(length),
            "scale": {"rule": "min-max", "type": "fp16", "zero_point": "rounded", "with_zero": True}, **others}


def k_means(bits: int, weighted: bool, **apart) -> dict:
    return {"elements": {"table": "k-means", "bits": bits, "weighted": weighted}, "groups": {"along": "row"},
            "apart": apart}


def methods_of(bits: int) -> list[Method]:
    """All methods with codes of so many bits."""
    symmetric = {"elements": {"integer": bits}, "groups": row_groups(GROUP), "scale": {"type": "fp16"}}
    feedback = {"feedback": {"order": "columns"}}
    made = [Method("RTN, symmetric", bits, symmetric), Method("RTN", bits, shifted(bits)),
            Method("GPTQ", bits, shifted(bits, **feedback), inputs=True)]
    if bits > 4:
        return made
    searched = shifted(bits, **feedback, widths={"by_salience": True})
    searched["scale"] |= {"rule": "search", "shrink_to": 0.9, "steps": 51, "norm": 2.4}
    return made + [
        Method("NF", bits, symmetric | {"elements": {"table": f"nf{bits}"}}),
        Method("AWQ", bits, shifted(bits, before={"factor_steps": 20}), inputs=True),
        Method("SliM-LLM", bits, searched, inputs=True),
        Method("RTN by row", bits, shifted(bits, 0)),
        Method("k-means by row", bits, k_means(bits, False)),
        Method("weighted k-means by row", bits, k_means(bits, True), importance=True),
        Method("weighted, sensitive apart", bits, k_means(bits, True, important=0.0005), importance=True),
        Method("weighted, sensitive and largest apart", bits, k_means(bits, True, important=0.0005, largest=0.0045),
               importance=True)]


def methods(reduced: bool = False) -> list[Method]:
    """All methods, or a few of each kind."""
    five = shifted(3, 0)
    five["elements"]["levels"] = 5
    w8a8 = {"elements": {"integer": 8}, "groups": {"along": "row"}, "scale": {"type": "fp16"}}
    others = [Method("BF16", 16, "bf16"), Method("W8A8", 8, w8a8, by_token=True),
              Method("GPTQ by 128", 4, shifted(4, 128, feedback={"order": "columns"}), inputs=True),
              Method("5 levels by row", 2, five)]
    found = others + [method for bits in (2, 3, 4, 8) for method in methods_of(bits)]
    return [method for method in found if not reduced or method.name in REDUCED]


class Inputs(Hooks):
    """Keeps the inputs of a block's products: rows are tokens."""

    def __init__(self, block: int):
        self.block, self.found = block, {}

    def linear(self, where, x, weight):
        block, name = where.split("/")
        if int(block) == self.block:
            self.found[name] = x.reshape(-1, x.shape[-1]).numpy()
        return functional.linear(x, weight)


class ByToken(Hooks):
    """Rounds the inputs of products to int8."""

    def linear(self, where, x, weight):
        rounded = equarx.quantize(x.reshape(-1, x.shape[-1]).numpy(), BY_TOKEN).dequantize()
        return functional.linear(torch.from_numpy(rounded).view(x.shape), weight)


def squared_gradients(exact, examples, loss) -> list[dict[str, np.ndarray]]:
    """Sum over examples of the squared gradient of loss(model, example), by block and matrix: for losses of sequences
    the Fisher information of SqueezeLLM."""
    model = copy.deepcopy(exact)
    blocks = model.matrices()
    sums = [{name: np.zeros(weight.shape, "float32") for name, weight in block.items()} for block in blocks]
    for block in blocks:
        for weight in block.values():
            weight.requires_grad_()
    for example in examples:
        loss(model, example).backward()
        for block, found in zip(blocks, sums):
            for name, weight in block.items():
                found[name] += weight.grad.numpy()**2
                weight.grad = None
    return sums


@torch.no_grad()
def quantized(exact, method: Method, calibrate, importance) -> tuple:
    """A copy of a model with stored weights in its blocks, and their bits and errors. Inputs of a block are those with
    earlier blocks quantized. `calibrate(model, hooks)`: evaluates calibration data; `importance`:
    squared_gradients()."""
    model = copy.deepcopy(exact)
    bits = errors = squares = count = 0
    for index, block in enumerate(model.matrices()):
        hooks = Inputs(index)
        if method.inputs:
            calibrate(model, hooks)
        for name, weight in block.items():
            weights = np.ascontiguousarray(weight.numpy())
            options = {"inputs": hooks.found[name]} if method.inputs else {}
            if method.importance:
                options["importance"] = importance[index][name]
            stored = equarx.quantize(weights, method.format, **options)
            bits += stored.bits_per_element * weights.size
            errors += stored.mse * weights.size
            squares += float((weights.astype("float64")**2).sum())
            count += weights.size
            weight.copy_(torch.from_numpy(stored.dequantize()))
    return model, {"bits_per_weight": bits / count, "nmse": errors / squares}
