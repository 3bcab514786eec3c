"""Matmuls with operands of few bits: forward, of weight gradients and of input gradients. Sums are
FP32.

Codes are made by equarx: E4M3 for operands of the forward pass, E5M2 for gradients.
"""
import collections
import dataclasses
import math

import equarx
import numpy as np
import torch

from models import Hooks

FORWARD, BACKWARD = "fp8-e4m3", "fp8-e5m2"
LARGEST = {FORWARD: 448.0, BACKWARD: 57344.0}
# From this magnitude on, in units of the scale, a value rounds beyond the largest code, ties to
# even: for E4M3 just above 464, for E5M2 61440. Where casts do not saturate it becomes NaN or an
# infinity (OCP 8-bit Floating Point Specification, conversions).
OVERFLOW = {FORWARD: float(np.nextafter(np.float32(464.0), np.float32(465.0))), BACKWARD: 61440.0}
BEYOND = {FORWARD: math.nan, BACKWARD: math.inf}
BLOCK = 128


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Operands of the matmuls. `scaling`: "bf16" for no FP8; "delayed": a power of two per tensor,
    from the amax of the `history` steps before; "current": from the tensor itself; "block": one per
    128 neighbours. A scale leaves headroom for values 2^margin times as large; a margin below 0
    makes it too small. `saturates`: values too large for a delayed scale become the largest code,
    as in Transformer Engine; otherwise NaN or an infinity."""

    scaling: str = "bf16"
    attention: bool = False  # its matmuls, too
    history: int = 16
    margin: int = 0
    saturates: bool = True


def with_scale(x: np.ndarray, scale: float, code: str) -> np.ndarray:
    """x as codes with one given scale, a power of two. Values that are too large saturate.

    Appends a value that makes `scale` the group's own; tensor and value form one group."""
    limit = LARGEST[code] * scale
    group = np.append(np.clip(x, -limit, limit).ravel(), np.float32(limit)).astype(np.float32)
    quantized = equarx.quantize(group, code, layout="contiguous", block=len(group))
    return quantized.dequantize()[:-1].reshape(x.shape)


def overflown(cast: np.ndarray, x: np.ndarray, scale: float, code: str) -> np.ndarray:
    """The cast of x where casts do not saturate."""
    return np.where(np.abs(x) >= OVERFLOW[code] * scale, np.copysign(np.float32(BEYOND[code]), x), cast)


def with_own_scales(x: np.ndarray, block: int, code: str) -> np.ndarray:
    return equarx.quantize(x, code, layout="contiguous", block=block).dequantize().reshape(x.shape)


class Precision(Hooks):
    """Matmuls of a recipe. `seen`: values of the monitors since it was last emptied, by name."""

    def __init__(self, recipe: Recipe):
        self.recipe = recipe
        self.largest = collections.defaultdict(lambda: collections.deque(maxlen=recipe.history))
        self.is_looking = False
        self.seen: dict[str, float] = {}
        self.overflow = None

    def linear(self, where, x, weight):
        return self._product(where, x, weight, self.recipe.scaling)

    def matmul(self, where, a, b):
        scaling = self.recipe.scaling if self.recipe.attention else "bf16"
        return self._product(where, a, b.transpose(-1, -2), scaling)

    def _product(self, where, a, b, scaling):
        if not torch.is_grad_enabled():
            return self.cast(where + "/a", a, FORWARD, scaling, False) @ \
                self.cast(where + "/b", b, FORWARD, scaling, False).transpose(-1, -2)
        return _Product.apply(a, b, self, where, scaling)

    def see(self, where, x):
        if not self.is_looking:
            return
        each = x.detach().flatten(1).double()  # fourth powers of diverging values exceed FP32
        square = each.square().mean(1)
        self.seen[f"kurtosis {where}"] = float((each.pow(4).mean(1) / square.square()).mean())
        self.seen[f"rms {where}"] = float(square.mean().sqrt())

    def cast(self, where: str, x: torch.Tensor, code: str, scaling: str, is_step: bool = True) -> torch.Tensor:
        """x as an operand. `is_step`: True if its amax counts for later scales."""
        if scaling == "bf16":
            return x.bfloat16().float()
        values = x.detach().contiguous().numpy()
        if scaling == "block":
            return torch.from_numpy(with_own_scales(values, BLOCK, code))
        if scaling == "current":
            return torch.from_numpy(with_own_scales(values, values.size, code))
        scale = self._delayed_scale(where, float(np.abs(values).max()), code, is_step)
        cast = with_scale(values, scale, code)
        if not self.recipe.saturates:
            cast = overflown(cast, values, scale, code)
            if is_step and self.overflow is None and not np.isfinite(cast).all():
                self.overflow = f"{where}, where a value does not fit {code} with the scale of the steps before"
        if self.is_looking:
            self.seen[f"saturated {where}"] = float((np.abs(values) > LARGEST[code] * scale).mean())
            self.seen[f"flushed {where}"] = float(((cast == 0) & (values != 0)).mean())
        return torch.from_numpy(cast)

    def _delayed_scale(self, where: str, largest: float, code: str, is_step: bool) -> float:
        known = self.largest[where]
        of = max(known) if known else largest
        if is_step and math.isfinite(largest):
            known.append(largest)
        if of <= 0.0 or not math.isfinite(of):
            return 1.0
        return 2.0 ** (math.ceil(math.log2(of / LARGEST[code])) + self.recipe.margin)


class _Product(torch.autograd.Function):
    """a [..., m, k] with b [..., n, k]: a b^T, and its two gradients, each of cast operands."""

    @staticmethod
    def forward(ctx, a, b, hooks, where, scaling):
        cast_a = hooks.cast(where + "/a", a, FORWARD, scaling)
        cast_b = hooks.cast(where + "/b", b, FORWARD, scaling)
        ctx.save_for_backward(cast_a, cast_b)
        ctx.hooks, ctx.where, ctx.scaling = hooks, where, scaling
        return cast_a @ cast_b.transpose(-1, -2)

    @staticmethod
    def backward(ctx, gradient):
        a, b = ctx.saved_tensors
        cast = ctx.hooks.cast(ctx.where + "/gradient", gradient, BACKWARD, ctx.scaling)
        of_a = cast @ b
        if b.dim() == 2:  # a weight, for all positions of all sequences
            of_b = cast.flatten(0, -2).transpose(0, 1) @ a.flatten(0, -2)
        else:
            of_b = cast.transpose(-1, -2) @ a
        return of_a, of_b, None, None, None
