"""Powers of two as scales: equarx.quantize(..., scale_rounding=...) against plain NumPy, bit for bit."""
import unittest

import equarx
import mx_oracle
import numpy

ROUNDINGS = ("floor", "up", "even")


def supported():
    return [(name, rounding) for name in mx_oracle.ELEMENTS for rounding in ROUNDINGS
            if (name, rounding) != ("mxint8", "even")]


def awkward_amax():
    """All binades of float32 in 32 parts, and the neighbours of these values."""
    grid = numpy.outer(numpy.exp2(numpy.arange(-149.0, 128)), 1 + numpy.arange(32) / 32).astype("f4").ravel()
    largest = numpy.array([most for _, _, most in mx_oracle.ELEMENTS.values()])
    grid = numpy.append(grid, numpy.outer(numpy.exp2(numpy.arange(-133.0, 100)), largest).astype("f4"))
    with numpy.errstate(over="ignore"):
        near = numpy.concatenate([grid, numpy.nextafter(grid, numpy.float32(0)),
                                  numpy.nextafter(grid, numpy.float32(numpy.inf))])
    return numpy.unique(numpy.append(near[numpy.isfinite(near)], [0, numpy.finfo("f4").max])).astype("f4")


def with_amax(amax):
    """Blocks with these largest magnitudes, at any place and of any sign."""
    draw = numpy.random.default_rng(11)
    blocks = draw.uniform(-1, 1, (amax.size, mx_oracle.BLOCK)) ** 3 * amax[:, None]
    places = draw.integers(mx_oracle.BLOCK, size=amax.size)
    blocks[numpy.arange(amax.size), places] = amax * draw.choice([-1, 1], amax.size)
    return blocks.astype("f4")


class BitForBit(unittest.TestCase):
    def check(self, blocks):
        for name, rounding in supported():
            with self.subTest(name=name, rounding=rounding):
                quantized = equarx.quantize(blocks, name, scale_rounding=rounding)
                scales, decoded = mx_oracle.through_wire(blocks, name, rounding)
                numpy.testing.assert_array_equal(quantized.scales, scales)
                numpy.testing.assert_array_equal(quantized.dequantize(), decoded)

    def test_blocks_at_every_boundary(self):
        self.check(with_amax(awkward_amax()))

    def test_random_blocks(self):
        draw = numpy.random.default_rng(5)
        self.check(draw.standard_normal((2000, 32)).astype("f4"))
        self.check(draw.standard_t(2, (2000, 32)).astype("f4") * numpy.exp2(draw.integers(-60, 60, (2000, 1))).astype("f4"))
        bits = draw.integers(1 << 32, size=(2000, 32), dtype="u8").astype("u4").view("f4")
        self.check(numpy.where(numpy.isfinite(bits), bits, numpy.float32(0)))

    def test_zeros_and_non_finite_values(self):
        blocks = numpy.ones((6, 32), "f4")
        blocks[0] = 0
        blocks[1] = -0.0
        blocks[2, 5] = numpy.nan
        blocks[3, 31] = numpy.inf
        blocks[4, 0] = -numpy.inf
        self.check(blocks)
        self.assertEqual(equarx.quantize(blocks, "mxfp4", scale_rounding="up").non_finite, 3 * 32)

    def test_the_default_is_floor(self):
        blocks = with_amax(awkward_amax())
        numpy.testing.assert_array_equal(equarx.quantize(blocks, "mxfp4").scales,
                                         mx_oracle.scales(blocks, "mxfp4", "floor"))


class Published(unittest.TestCase):
    """The FP32 arithmetic of pytorch/ao (torchao/prototype/mx_formats/mx_tensor.py), which multiplies by
    a rounded 1 / M, and adds half a step to the bits of amax."""

    def check(self, rounding, exponents, normal):
        amax = awkward_amax()
        for name, (mantissa_bits, _, largest) in mx_oracle.ELEMENTS.items():
            if name == "mxint8":  # unsupported there
                continue
            with self.subTest(name):
                found = exponents(amax, mantissa_bits, numpy.float32(largest))
                where = normal(amax, numpy.float32(largest))
                scales = equarx.quantize(with_amax(amax), name, scale_rounding=rounding).scales
                numpy.testing.assert_array_equal(scales[where], numpy.exp2(found[where]).astype("f4"))

    def test_rceil_gives_the_scales_rounded_up(self):
        def exponents(amax, _mantissa_bits, largest):
            bits = (amax * (numpy.float32(1) / largest)).view("i4")
            return (bits >> 23) - 127 + (bits & 0x7fffff != 0)

        self.check("up", exponents, lambda amax, largest: amax / largest >= 2.0**-126)

    def test_even_gives_the_scales_rounded_to_even(self):
        def exponents(amax, mantissa_bits, largest):
            bits = amax.view("i4") + (1 << (22 - mantissa_bits))
            return numpy.maximum((bits >> 23) - 127 - mx_oracle.exponent(largest), -127)

        self.check("even", exponents, lambda amax, _: numpy.ones(amax.size, bool))


class Properties(unittest.TestCase):
    def test_only_scales_rounded_up_never_clip_a_value(self):
        blocks = with_amax(awkward_amax())
        amax = numpy.abs(blocks).max(axis=1).astype("f8")
        for name, (_, _, largest) in mx_oracle.ELEMENTS.items():
            with self.subTest(name):
                within = [amax <= largest * equarx.quantize(blocks, name, scale_rounding=one).scales.astype("f8")
                          for one in ("up", "floor")]
                most = largest * 2.0**127
                self.assertTrue(within[0][amax <= most].all())
                self.assertFalse(within[1].all())

    def test_other_scales_and_integers_are_refused(self):
        values = numpy.ones(64, "f4")
        for options in ({"format": "int8", "scale_rounding": "up"}, {"format": "nvfp4", "scale_rounding": "floor"},
                        {"format": "mxfp4", "scale": "bf16", "scale_rounding": "even"},
                        {"format": "mxint8", "scale_rounding": "even"}, {"format": "bf16", "scale_rounding": "up"},
                        {"format": "zeropp-int8", "scale_rounding": "up"},
                        {"format": "mxfp4", "scale_rounding": "ceil"}, {"format": "mxfp4", "scale_rounding": 1}):
            with self.subTest(options):
                with self.assertRaises(equarx.InputError) as caught:
                    equarx.quantize(values, **options)
                self.assertEqual(caught.exception.pointer, "/scale_rounding")


if __name__ == "__main__":
    unittest.main()
