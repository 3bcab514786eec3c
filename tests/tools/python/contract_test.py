"""equarx.contract(): bits of collectives on arrays."""
import unittest

import equarx
import numpy

SUMS = numpy.random.default_rng(3).standard_normal((4, 8, 512)).astype("float16")
SWITCH = {"switch": 4}


def contract(sums, *collectives, **options):
    return equarx.contract(sums, list(collectives), topology=SWITCH, **options)


class Contract(unittest.TestCase):
    def test_one_rounding_gives_the_exact_sums(self):
        once, often = contract(SUMS, {"algorithm": "one-shot"}, {"algorithm": "ring"})
        exact = SUMS.astype("float64").sum(axis=0).astype("float16")
        total = SUMS[0].copy()
        for term in SUMS[1:]:
            total = (total.astype("float32") + term.astype("float32")).astype("float16")
        self.assertEqual(once["ulps"]["differing"], 0)
        self.assertEqual(often["path"]["conversions"], 3)
        self.assertGreater(often["ulps"]["differing"], 0)
        trtllm, = contract(SUMS, {"algorithm": "one-shot", "arithmetic": "trtllm-one-shot"})
        self.assertEqual(trtllm["ulps"]["differing"], int(numpy.sum(total != exact)))

    def test_a_residual_and_bfloat16_bits(self):
        bits = (SUMS.astype("float32").view("uint32") >> 16).astype("uint16")
        fused, = contract(bits, {"algorithm": "one-shot", "arithmetic": "aiter-fused-fp32"}, residual=bits[0],
                          dtype="bf16")
        self.assertEqual(fused["ulps"]["differing"], 0)

    def test_wrong_arguments_are_named(self):
        with self.assertRaisesRegex(equarx.InputError, "two ranks"):
            contract(SUMS[:1], {"algorithm": "ring"})
        with self.assertRaisesRegex(equarx.InputError, "residual"):
            contract(SUMS, {"algorithm": "one-shot", "arithmetic": {"residual": "before"}}, residual=SUMS[0, :1])
        with self.assertRaisesRegex(equarx.InputError, "float32, float16 or bfloat16"):
            contract(numpy.zeros((4, 8), "uint8"), {"algorithm": "ring"}, dtype="fp8-e4m3")
        with self.assertRaisesRegex(equarx.InputError, "ring"):
            contract(SUMS, {"algorithm": "rong"})


if __name__ == "__main__":
    unittest.main()
