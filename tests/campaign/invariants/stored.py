"""Stored formats, compared with NumPy element by element (docs/stored_formats.md, Rules)."""
import numpy

import files
from desk import Desk
from invariants.results import expect

F32 = numpy.float32
SMALLEST = {"fp32": numpy.finfo(F32).tiny, "bf16": numpy.finfo(F32).tiny, "fp16": 2.0**-24, "e8m0": 2.0**-127,
            "e4m3": 2.0**-9}
LARGEST = {"fp32": 3.4028235e38, "bf16": 3.3895314e38, "fp16": 65504.0, "e4m3": 448.0, "e8m0": 2.0**127}
TABLES = {"nf2": [-1.0, 0.0, 0.337915123, 1.0],
          "nf3": [-1.0, -0.478629082, -0.217141777, 0.0, 0.160930142, 0.337915123, 0.562616885, 1.0],
          "nf4": [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
                  -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
                  0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023,
                  1.0],
          "fp4": [-6.0, -4.0, -3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]}
WITHOUT_ORACLE = {"search", "quantile"}


def rounded(value, kind: str):
    """To the nearest number of a type, ties to even, saturating."""
    value = F32(numpy.clip(value, -LARGEST[kind], LARGEST[kind]))
    if kind == "bf16":
        bits = int(value.view("u4"))
        return numpy.uint32((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).view(F32)
    if kind == "fp16":
        return F32(numpy.float16(value))
    if kind == "e4m3":
        step = 2.0**(max(numpy.floor(numpy.log2(float(value))), -6) - 3) if value > 0 else 1.0
        return F32(numpy.rint(float(value) / step) * step)
    return value


def magnitudes(elements: dict) -> list:
    exponent_bits, mantissa_bits = int(elements["minifloat"][1]), int(elements["minifloat"][3])
    bias = elements.get("bias", 2**(exponent_bits - 1) - 1)
    codes = 2**(exponent_bits + mantissa_bits)
    codes -= {"none": 0, "nan": 1, "ieee": 2**mantissa_bits}[elements.get("special", "none")]
    numbers = []
    for code in range(codes):
        exponent, mantissa = divmod(code, 2**mantissa_bits)
        numbers.append((mantissa + (2**mantissa_bits if exponent else 0)) * 2.0**(max(exponent, 1) - bias - mantissa_bits))
    return numbers


def table_of(elements: dict) -> list:
    made = elements["table"]
    return [float(F32(number)) for number in (TABLES[made] if isinstance(made, str) else made)]


class Rounding:
    """Scales and codes of one format."""

    def __init__(self, form: dict):
        self.elements, self.scale = form["elements"], form.get("scale", {})
        self.ties = form.get("ties", "even")
        self.zero = self.scale.get("zero_point", "none")
        self.kind = self.scale.get("type", "fp32")
        if "integer" in self.elements:
            self.levels = self.elements.get("levels", 2**self.elements["integer"] - (self.zero == "none"))
            self.largest = (self.levels - 1) // 2
        elif "minifloat" in self.elements:
            self.largest = magnitudes(self.elements)[-1]
        else:
            self.largest = max(abs(number) for number in table_of(self.elements))
        self.largest = F32(self.scale.get("largest") or self.largest)

    def whole(self, number) -> int:
        number = float(number)
        if self.ties == "even":
            return int(numpy.rint(number))
        if self.ties == "up":
            return int(numpy.floor(number + 0.5))
        return int(numpy.copysign(numpy.floor(abs(number) + 0.5), number))

    def rounded_scale(self, scale):
        least = max(SMALLEST[self.kind], F32(self.scale.get("at_least", 0)))
        return max(rounded(max(F32(scale), F32(least)), self.kind), F32(SMALLEST[self.kind]))

    def unit(self, most):
        if not self.scale.get("of_tensor"):
            return F32(1)
        return max(F32(most / (self.largest * F32(448))), F32(2.0**-117))

    def scale_of(self, low, high, unit) -> tuple:
        rule = self.scale.get("rule", "abs-max")
        if rule.startswith("power"):
            if high == 0:
                return self.rounded_scale(0), F32(0)
            exponent = int(numpy.floor(numpy.log2(float(high)))) - int(numpy.floor(numpy.log2(float(self.largest))))
            clips = float(high) > float(self.largest) * 2.0**exponent
            return self.rounded_scale(2.0**(exponent + (rule == "power-of-two-up" and clips))), F32(0)
        if self.zero == "none":
            return self.rounded_scale(F32(F32(high / unit) / self.largest)) * unit, F32(0)
        top = F32(self.levels - 1)
        scale = self.rounded_scale(F32(F32(high - low) / top))
        if self.zero == "float":
            return scale, rounded(low, self.kind)
        return scale, F32(self.whole(numpy.clip(-low / scale, 0, top)))

    def value(self, x, scale, zero):
        if "integer" in self.elements:
            steps = F32((x - zero if self.zero == "float" else x) / scale)
            code = self.whole(numpy.clip(steps, -1024, 1024)) + (int(zero) if self.zero == "rounded" else 0)
            low = -(self.levels // 2) if self.zero == "none" else 0
            code = F32(min(max(code, low), low + self.levels - 1))
            return F32(code * scale) + zero if self.zero == "float" else F32((code - zero) * scale)
        steps = F32(x / scale)
        if "table" in self.elements:
            numbers = table_of(self.elements)
            code = sum(steps > F32((a + b) / 2) for a, b in zip(numbers, numbers[1:]))
            return F32(numbers[code]) * scale
        numbers = magnitudes(self.elements)
        size, negative = float(abs(steps)), bool(numpy.signbit(steps))
        code = 0
        for upper in range(1, len(numbers)):
            middle = (numbers[upper - 1] + numbers[upper]) / 2
            on_tie = self.ties == "away" or (self.ties == "up" and not negative) or (self.ties == "even" and upper % 2 == 0)
            code += size > middle or (size == middle and on_tie)
        return F32(-numbers[code] if negative else numbers[code]) * scale


def groups_of(form: dict, shape: tuple) -> list:
    """Indices of each group."""
    groups = form.get("groups", {})
    along, length = groups.get("along", "tensor"), groups.get("length", 0)
    index = numpy.arange(shape[0] * shape[1]).reshape(shape)
    if along == "strided":
        return [index.ravel()[first::length] for first in range(min(length, index.size))]
    lines = {"tensor": [index.ravel()], "row": list(index), "column": list(index.T)}[along]
    return [line[first:first + (length or len(line))] for line in lines for first in range(0, len(line), length or len(line))]


def marked(values, importance, form: dict):
    """Elements apart: the first of equal ones."""
    apart, share = numpy.zeros(values.size, bool), form.get("apart", {})

    def count(key: str) -> int:
        return int(numpy.floor(share.get(key, 0) * values.size + 0.5))

    apart[numpy.argsort(-abs(values), kind="stable")[:count("largest")]] = True
    if count("important"):
        rest = [i for i in numpy.argsort(-importance, kind="stable") if not apart[i]]
        apart[rest[:count("important")]] = True
    return apart


def decoded(values, importance, form: dict):
    rounding, flat = Rounding(form), values.ravel()
    apart = marked(flat, importance, form)
    unit = rounding.unit(abs(flat[~apart]).max(initial=0))
    result = numpy.empty_like(flat)
    for group in groups_of(form, values.shape):
        inside = flat[group][~apart[group]]
        low, high = inside.min(initial=0 if rounding.scale.get("with_zero") or not inside.size else inside[0]), inside.max(
            initial=0 if rounding.scale.get("with_zero") or not inside.size else inside[0])
        if rounding.zero == "none":
            high = abs(inside).max(initial=0)
        if rounding.scale.get("rule") == "given":
            high = F32(rounding.scale["value"])
        scale, zero = rounding.scale_of(low, high, unit)
        result[group] = [rounding.value(x, scale, zero) for x in flat[group]]
    kind = form.get("apart", {}).get("type", "fp16")
    result[apart] = [rounded(x, kind) for x in flat[apart]]
    return result.reshape(values.shape)


def tensor_of(made: dict):
    values = files.tensor(made)
    return (values.astype("<u4") << 16).view("<f4") if made["dtype"] == "bf16" else values.astype("<f4")


def stored(desk: Desk, content: dict, _draw) -> None:
    """One quantization in a drawn format; searches, k-means and transforms without an oracle."""
    made = content["files"]
    form, values = made["format.json"], tensor_of(made["tensor.npy"]["npy"])
    flags = ["--importance", "importance.npy"] if "importance.npy" in made else []
    answer = desk.ask("quantize", "tensor.npy", "--format", "./format.json", "-o", "out.npy", *flags)
    if not numpy.isfinite(values).all():
        expect(answer.refused and "finite values" in answer.err, "stored", f"a NaN or Inf is accepted: {answer.err}")
        return
    expect(not answer.refused, "stored", f"a valid format is refused: {answer.err}")
    found = numpy.load(desk.folder / "out.npy")
    large = abs(values).max() > 1e30
    without = form["elements"].get("table") == "k-means" or form.get("scale", {}).get("rule") in WITHOUT_ORACLE
    expect(large or bool(numpy.isfinite(found).all()), "stored", "decoded values are not finite")
    if large or without or "before" in form:
        return
    importance = tensor_of(made["importance.npy"]["npy"]).ravel() if flags else numpy.empty(0)
    with numpy.errstate(all="ignore"):
        expected = decoded(values, importance, form)
    wrong = int((found.view("u4") != expected.view("u4")).sum())
    expect(wrong == 0, "stored", f"{wrong} of {values.size} elements differ from the oracle")


def malformed_stored(desk: Desk, _content: dict, _draw) -> None:
    """Any format gives a result or one line."""
    answer = desk.ask("quantize", "tensor.npy", "--format", "./format.json", "-o", "out.npy")
    expect((desk.folder / "out.npy").exists() != answer.refused, "malformed", "the file does not match the answer")
