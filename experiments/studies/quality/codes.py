"""Values of few bits on any device: elements, scales of groups, roundings. Sums and scales are FP32.

Bit-equal to equarx where it has the format (tests/experiments/studies/quality/codes_test.py), and
faster: training casts every operand in every step, on a GPU where there is one.
"""
import dataclasses
import functools
import math
import re

import torch

FRACTION = 23  # bits of an FP32 fraction
# Special values of the OCP formats: E4M3 has one NaN and no infinity, the small ones have neither.
WITHOUT_INFINITY = {"e4m3": 1, "e2m1": 0, "e3m2": 0, "e2m3": 0}  # codes lost to NaN in the largest binade


@dataclasses.dataclass(frozen=True)
class Code:
    """Elements: a float of `exponent` and `mantissa` bits, or an integer if `exponent` is 0, whose
    codes are symmetric, with a sign and `mantissa` bits."""

    name: str
    exponent: int
    mantissa: int

    @property
    def least_exponent(self) -> int:
        """Exponent of the smallest normal number."""
        return 2 - 2 ** (self.exponent - 1)

    @property
    def largest(self) -> float:
        if self.exponent == 0:
            return 2.0 ** self.mantissa - 1
        lost = WITHOUT_INFINITY.get(self.name)
        top = 2 ** (self.exponent - 1) - (lost is None)  # IEEE 754 reserves the largest exponent
        return (2.0 - 2.0 ** -self.mantissa * (1 + (lost or 0))) * 2.0 ** top

    @property
    def overflow(self) -> tuple[float, float]:
        """The least magnitude that rounds to nearest, ties to even, beyond the largest code, and its value
        where casts do not saturate (OCP 8-bit Floating Point Specification, conversions)."""
        step = math.ldexp(1.0, math.frexp(self.largest)[1] - 1 - self.mantissa)
        is_even = self.largest / step % 2 == 0
        limit = torch.tensor(self.largest + step / 2)
        least = torch.nextafter(limit, torch.tensor(math.inf)) if is_even else limit
        return float(least), math.nan if self.name == "e4m3" else math.inf


@functools.lru_cache(maxsize=None)
def code(name: str) -> Code:
    """The code of a name: "e4m3", "e2m1", "e8m2", "int8", "bf16" ...
    @raises ValueError if there is none"""
    if name == "bf16":
        return Code(name, 8, 7)
    if found := re.fullmatch(r"e([2-8])m([1-9]|1[0-9]|2[0-3])", name):
        return Code(name, int(found[1]), int(found[2]))
    if (found := re.fullmatch(r"int([2-9])", name)):
        return Code(name, 0, int(found[1]) - 1)
    raise ValueError(f'"{name}" is no code; use "fp32", "bf16", "int2" to "int9", or a float such as "e4m3"')


def _rounded(y: torch.Tensor, ties: str, random: torch.Generator | None) -> torch.Tensor:
    """To integers. `ties`: "even", "up" (towards infinity), "zero" (cuts off), or "stochastic"."""
    if ties == "even":
        return y.round()
    if ties == "zero":
        return y.trunc()
    below = y.floor()
    if ties == "up":
        return below + (y - below >= 0.5)
    return below + (torch.rand(y.shape, generator=random, device=y.device) < y - below)


def rounded(x: torch.Tensor, into: Code, ties: str = "even", random: torch.Generator | None = None) -> torch.Tensor:
    """x as elements of a code; values that are too large become the largest, except in codes with the
    range of FP32, where they become infinite."""
    if into.exponent == 8:
        return _cut(x, into, ties, random)
    y = x.clamp(-into.largest, into.largest)
    if into.exponent == 0:
        return _rounded(y, ties, random)
    power = (y.view(torch.int32) & 0x7F800000).view(torch.float32).clamp_(min=2.0 ** into.least_exponent)
    quantum = power.mul_(2.0 ** -into.mantissa)
    return _rounded(y.div_(quantum), ties, random).mul_(quantum)


def _cut(x: torch.Tensor, into: Code, ties: str, random: torch.Generator | None) -> torch.Tensor:
    """x with fewer bits of its fraction, on the bits of FP32."""
    cut = FRACTION - into.mantissa
    if cut == 0:
        return x.clone()
    if ties == "even" and into.mantissa == 7:
        return x.bfloat16().float()
    bits = x.contiguous().view(torch.int32)
    kept = bits & -(1 << cut)
    if ties == "zero":
        return torch.where(x.isfinite(), kept.view(torch.float32), x)
    rest = bits - kept
    half = 1 << (cut - 1)
    if ties == "even":
        up = (rest > half) | ((rest == half) & ((bits >> cut) & 1 == 1))
    elif ties == "up":
        up = (rest > half) | ((rest == half) & (x > 0))
    else:
        up = torch.rand(x.shape, generator=random, device=x.device) * (1 << cut) < rest
    return torch.where(x.isfinite(), (kept + (up.int() << cut)).view(torch.float32), x)


def power_of_two_up(largest: torch.Tensor, of: float) -> torch.Tensor:
    """The least powers of two by which `largest`, at least 0, is at most `of`; 1 for 0."""
    fraction, exponent = torch.frexp(largest)
    limit, limit_exponent = torch.frexp(torch.tensor(of, device=largest.device))
    up = exponent - limit_exponent + (fraction > limit).int()
    return torch.where(largest > 0, torch.ldexp(torch.ones_like(largest), up), torch.ones_like(largest))


def power_of_two_of_mx(largest: torch.Tensor, of: Code) -> torch.Tensor:
    """Scales of OCP MX: the power of two in `largest`, over the largest one of the code."""
    top = torch.frexp(torch.tensor(of.largest))[1]
    exponent = (torch.frexp(largest)[1] - top).clamp(-127, 127)
    return torch.where(largest > 0, torch.ldexp(torch.ones_like(largest), exponent), torch.ones_like(largest))


@dataclasses.dataclass(frozen=True)
class Groups:
    """Elements that share a scale, in operands [..., rows, columns] whose columns a product sums over:
    "tensor", "row", "block" (`length` of a row), or "square" (`length` by `length`, for matrices)."""

    kind: str = "tensor"
    length: int = 0


def grouped(x: torch.Tensor, groups: Groups) -> torch.Tensor:
    """x as [..., groups, elements of a group], padded with zeros."""
    if groups.kind == "tensor":
        return x.reshape(1, -1)
    if groups.kind == "row":
        return x
    length = groups.length
    padding = (0, -x.shape[-1] % length) + ((0, -x.shape[-2] % length) if groups.kind == "square" else ())
    padded = torch.nn.functional.pad(x, padding) if any(padding) else x
    if groups.kind == "block":
        return padded.reshape(*padded.shape[:-1], -1, length)
    rows, columns = padded.shape[-2] // length, padded.shape[-1] // length
    tiles = padded.reshape(*padded.shape[:-2], rows, length, columns, length).transpose(-3, -2)
    return tiles.reshape(*tiles.shape[:-2], length * length)


def ungrouped(values: torch.Tensor, groups: Groups, shape: torch.Size) -> torch.Tensor:
    """The inverse of grouped()."""
    if groups.kind in ("tensor", "row"):
        return values.reshape(shape)
    length, columns = groups.length, -(-shape[-1] // groups.length)
    if groups.kind == "block":
        return values.reshape(*shape[:-1], columns * length)[..., : shape[-1]]
    rows = -(-shape[-2] // length)
    tiles = values.reshape(*shape[:-2], rows, columns, length, length).transpose(-3, -2)
    return tiles.reshape(*shape[:-2], rows * length, columns * length)[..., : shape[-2], : shape[-1]]


def scales(values: torch.Tensor, rule: str, into: Code) -> torch.Tensor:
    """The scale of each group of grouped values: "exact" (abs-max over the largest code), "power-of-two",
    "mx" (OCP), or "nv" (NVFP4: E4M3 in units of one FP32 scale)."""
    largest = values.abs().amax(-1, keepdim=True)
    if rule == "power-of-two":
        return power_of_two_up(largest, into.largest)
    if rule == "mx":
        return power_of_two_of_mx(largest, into)
    if rule == "exact":
        return torch.where(largest > 0, largest / into.largest, torch.ones_like(largest))
    e4m3 = code("e4m3")
    whole = largest.max() / (e4m3.largest * into.largest)
    if not whole > 0:
        return torch.ones_like(largest)
    block = rounded(largest / into.largest / whole, e4m3) * whole
    return torch.where(block > 0, block, torch.ones_like(block))


def hadamard(x: torch.Tensor, length: int, signs: torch.Tensor) -> torch.Tensor:
    """An orthonormal Hadamard rotation of each `length` neighbours of a row, after their signs."""
    matrix = torch.ones(1, 1, device=x.device)
    while len(matrix) < length:
        matrix = torch.cat((torch.cat((matrix, matrix), 1), torch.cat((matrix, -matrix), 1)))
    return ((x.reshape(*x.shape[:-1], -1, length) * signs) @ (matrix / length ** 0.5)).reshape(x.shape)


def clamped(x: torch.Tensor, quantile: float) -> torch.Tensor:
    """Each row within its quantiles 1 - `quantile` and `quantile`, elements of the row themselves (arXiv
    2501.17116, outlier clamping, with the indices of MS-AMP's fp4_quantize.py)."""
    count = x.shape[-1]
    low = x.topk(int((1 - quantile) * count) + 1, largest=False).values[..., -1:]
    high = x.topk(count - min(int(quantile * count), count - 1)).values[..., -1:]
    return torch.maximum(torch.minimum(x, high), low)


def dge(y: torch.Tensor, into: Code, k: float, at_most: float) -> torch.Tensor:
    """Derivative of a smooth approximation of rounding at scaled values (differentiable gradient
    estimator, arXiv 2501.17116, eq. 8): with d the step between two codes and x the distance from the
    lower one, abs(2 x / d - 1)^(1/k - 1) / k, at most `at_most`; 0 beyond the largest codes."""
    power = (y.view(torch.int32) & 0x7F800000).view(torch.float32).clamp(min=2.0 ** into.least_exponent)
    quantum = power * 2.0 ** -into.mantissa
    steps = y / quantum
    within = steps - steps.floor()
    slope = ((2 * within - 1).abs().pow(1 / k - 1) / k).clamp(max=at_most)
    return torch.where(y.abs() <= into.largest, slope, torch.zeros_like(y))
