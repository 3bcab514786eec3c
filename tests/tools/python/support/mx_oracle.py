"""MX formats in plain NumPy, written from docs/numerics.md and the pages that it cites, independent of
the program. float64 represents all intermediate values exactly."""
import numpy

BLOCK = 32
# Bits of the mantissa (mxint8: of the fraction), smallest normal exponent, largest value.
ELEMENTS = {"mxfp8-e4m3": (3, -6, 448.0), "mxfp8-e5m2": (2, -14, 57344.0), "mxfp6-e2m3": (3, 0, 7.5),
            "mxfp6-e3m2": (2, -2, 28.0), "mxfp4": (1, 0, 6.0), "mxint8": (6, 0, 127 / 64)}


def exponent(values):
    """floor(log2(values)), exactly; of 0 as of 1/2."""
    return numpy.frexp(values)[1] - 1


def scale_exponents(amax, name, rounding):
    """Exponents of the scales of finite `amax` (float64)."""
    mantissa_bits, _, largest = ELEMENTS[name]
    if rounding == "even":
        step = numpy.exp2(exponent(amax) - mantissa_bits)
        amax = numpy.rint(amax / step) * step
    found = exponent(amax) - exponent(largest)
    if rounding == "up":
        found += amax > largest * numpy.exp2(found)
    return numpy.where(amax == 0, -127, numpy.clip(found, -127, 127))


def scales(blocks, name, rounding):
    """One float32 per row of `blocks`."""
    amax = numpy.abs(blocks).max(axis=1).astype("f8")
    finite = numpy.isfinite(amax)
    powers = numpy.exp2(scale_exponents(numpy.where(finite, amax, 1), name, rounding))
    return numpy.where(finite, powers, numpy.nan).astype("f4")


def through_wire(blocks, name, rounding):
    """Scales, and `blocks` after quantization and dequantization, in float32."""
    mantissa_bits, least, largest = ELEMENTS[name]
    found = scales(blocks, name, rounding)
    with numpy.errstate(all="ignore"):
        quotients = blocks.astype("f8") / found[:, None]
        binade = least if name == "mxint8" else numpy.maximum(exponent(quotients), least)
        step = numpy.exp2(binade - mantissa_bits)
        codes = numpy.clip(numpy.rint(quotients / step) * step, -largest, largest)
        return found, (codes.astype("f4") * found[:, None]).astype("f4")
