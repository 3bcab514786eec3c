"""Values of few bits against equarx, NumPy, and published test vectors."""
import math
import unittest

import quality  # noqa: F401  sets up the module path
from made_up_codes import LARGEST, nearest, samples

import equarx
import numpy as np
import torch

import codes
from codes import Groups, code


def drawn(*shape: int, seed: int = 1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator) * torch.randn(*shape, generator=generator).exp()


def quantized(x: torch.Tensor, groups: Groups, rule: str, name: str) -> np.ndarray:
    into, values = code(name), codes.grouped(x, groups)
    scale = codes.scales(values, rule, into)
    return codes.ungrouped(codes.rounded(values / scale, into) * scale, groups, x.shape).numpy()


class RoundedTest(unittest.TestCase):
    def test_floats_equal_their_definition(self):
        x = samples()
        for name, largest in LARGEST.items():
            self.assertEqual(code(name).largest, largest)
            np.testing.assert_array_equal(codes.rounded(torch.from_numpy(x), code(name)).numpy(), nearest(x, name), name)

    def test_bf16_is_that_of_pytorch(self):
        x = torch.from_numpy(np.concatenate((samples(), [np.inf, -np.inf, 3.4e38, 1e-45, 1e-39]))).float()
        self.assertTrue(torch.equal(codes.rounded(x, code("bf16")), x.bfloat16().float()))

    def test_masks_cut_the_mantissa_off(self):
        """Against the bits of FP32."""
        x = torch.from_numpy(samples())
        for mantissa in range(1, 8):
            mask = np.uint32(0xFFFFFFFF << (23 - mantissa) & 0xFFFFFFFF)
            expected = (x.numpy().view(np.uint32) & mask).view(np.float32)
            np.testing.assert_array_equal(codes.rounded(x, code(f"e8m{mantissa}"), "zero").numpy(), expected)
        self.assertEqual(float(codes.rounded(torch.tensor(1.75), code("e8m1"))), 2.0)
        self.assertEqual(float(codes.rounded(torch.tensor(1.25), code("e8m1"))), 1.0)

    def test_ties(self):
        ties = torch.tensor([-5.0, -2.5, -0.25, 0.25, 2.5, 5.0])
        self.assertEqual(codes.rounded(ties, code("e2m1")).tolist(), [-4, -2, 0, 0, 2, 4])
        self.assertEqual(codes.rounded(ties, code("e2m1"), "up").tolist(), [-4, -2, 0, 0.5, 3, 6])
        self.assertEqual(codes.rounded(ties, code("e2m1"), "zero").tolist(), [-4, -2, 0, 0, 2, 4])
        self.assertEqual(codes.rounded(torch.tensor([-0.75, 0.75]), code("e8m1"), "up").tolist(), [-0.75, 0.75])

    def test_stochastic_rounding_is_unbiased(self):
        generator = torch.Generator().manual_seed(2)
        for name, value, below, above in (("e2m1", 4.5, 4.0, 6.0), ("e8m2", 1.1, 1.0, 1.25), ("int4", -2.3, -3.0, -2.0)):
            got = codes.rounded(torch.full((40_000,), value), code(name), "stochastic", generator)
            self.assertEqual(set(got.tolist()), {below, above})
            deviation = (above - below) / 2 / math.sqrt(40_000)
            self.assertLess(abs(float(got.mean()) - value), 5 * deviation, name)

    def test_integers_saturate(self):
        self.assertEqual(codes.rounded(torch.tensor([-9.0, 6.5, 7.6]), code("int4")).tolist(), [-7, 6, 7])

    def test_names_that_are_no_codes(self):
        for name in ("e1m2", "e9m1", "int1", "fp8", ""):
            with self.assertRaisesRegex(ValueError, 'is no code; use "fp32"'):
                code(name)


class ScalesTest(unittest.TestCase):
    """Whole casts against equarx, bit for bit."""

    def test_formats_of_equarx(self):
        x = drawn(12, 96)
        x[3] = 0.0
        for name, element, groups, rule, options in (
                ("fp8-e4m3", "e4m3", Groups("block", 32), "exact", {"layout": "contiguous", "block": 32}),
                ("fp8-e5m2", "e5m2", Groups("tensor"), "exact", {"layout": "contiguous", "block": 12 * 96}),
                ("mxfp4", "e2m1", Groups("block", 32), "mx", {}),
                ("mxfp8-e4m3", "e4m3", Groups("block", 32), "mx", {}),
                ("nvfp4", "e2m1", Groups("block", 16), "nv", {}),
                ("int4", "int4", Groups("block", 96), "exact", {"layout": "contiguous", "block": 96})):
            expected = equarx.quantize(x.numpy(), name, **options).dequantize().reshape(x.shape)
            np.testing.assert_array_equal(quantized(x, groups, rule, element), expected, name)

    def test_stored_formats_of_equarx(self):
        x = drawn(32, 64)
        for groups, given in ((Groups("row"), {"along": "row"}),
                              (Groups("square", 16), {"along": "block", "rows": 16, "length": 16})):
            for rule, theirs in (("power-of-two", "power-of-two-up"), ("exact", "abs-max")):
                expected = equarx.quantize(x.numpy(), {"elements": {"minifloat": "e2m1"}, "groups": given,
                                                       "scale": {"rule": theirs}}).dequantize().reshape(x.shape)
                np.testing.assert_array_equal(quantized(x, groups, rule, "e2m1"), expected, f"{given} {rule}")

    def test_groups_that_do_not_divide_are_padded(self):
        x = drawn(5, 37)
        for kind in ("block", "square"):
            groups = Groups(kind, 16)
            self.assertTrue(torch.equal(codes.ungrouped(codes.grouped(x, groups), groups, x.shape), x))
        self.assertTrue(torch.equal(torch.from_numpy(quantized(x, Groups("block", 37), "exact", "e4m3")),
                                    torch.from_numpy(quantized(x, Groups("row"), "exact", "e4m3"))))

    def test_powers_of_two_at_their_border(self):
        limits = torch.tensor([0.0, 6.0, 6.0 * (1 + 2 ** -20), 3.0, 1e-30])
        self.assertEqual(codes.power_of_two_up(limits, 6.0).tolist(), [1.0, 1.0, 2.0, 0.5, 2.0 ** -102])


class PublishedTest(unittest.TestCase):
    """Test vectors of MS-AMP (tests/operators/test_fp4_quantize.py) and figures of arXiv 2501.17116."""

    def test_fp4_of_a_tensor(self):
        x = torch.tensor([0.001, 0.048, 0.0997, 0.1503, 0.2002, 0.2497, 0.2974, 0.30699, 0.4001]).bfloat16().float()
        scale = codes.scales(x[None], "power-of-two", code("e2m1"))
        self.assertEqual((codes.rounded(x / scale, code("e2m1"), "up") * scale)[0].tolist(),
                         [0, 0.0625, 0.125, 0.125, 0.1875, 0.25, 0.25, 0.25, 0.375])

    def test_fp4_by_row(self):
        rows = torch.tensor([[-0.01, 1.623, -2.874, 0.85], [0.48, -2.222, 3.699, -1.343], [-9.67, 24.67, -34.57, 18.88]])
        scale = codes.scales(rows.bfloat16().float(), "power-of-two", code("e2m1"))
        got = codes.rounded(rows.bfloat16().float() / scale, code("e2m1"), "up") * scale
        self.assertEqual(got.tolist(), [[0, 1.5, -3, 0.75], [0.5, -2, 4, -1.5], [-8, 24, -32, 16]])

    def test_differentiable_gradient_estimator(self):
        x = torch.linspace(-6.0, 6.0, 20).bfloat16().float()
        half = [0.2002, 0.4375, 0.6055, 0.2168, 1.8359, 0.2695, 0.3027, 0.2695, 0.2402, 0.5781]
        got = codes.dge(x, code("e2m1"), 5.0, 3.0).bfloat16().float()
        torch.testing.assert_close(got, torch.tensor(half + half[::-1]).bfloat16().float(), rtol=1e-5, atol=1e-8)

    def test_the_derivative_is_that_of_the_approximation(self):
        """f(x) = d/2 (1 + sign(2 x / d - 1) abs(2 x / d - 1)^(1/k)) over a step of d from a code."""
        x = np.linspace(0.05, 0.95, 19).repeat(2)[:-1] * 0.93

        def smooth(at):
            return 0.5 * (1 + np.sign(2 * at - 1) * np.abs(2 * at - 1) ** (1 / 5))

        numeric = (smooth(x + 1e-6) - smooth(x - 1e-6)) / 2e-6
        got = codes.dge(torch.from_numpy(x + 2.0).float(), code("e2m1"), 5.0, math.inf).numpy()
        np.testing.assert_allclose(got, numeric, rtol=1e-4)

    def test_clamped_outliers_lower_the_error_of_heavy_tails(self):
        tails = np.random.default_rng(1).standard_t(5, (256, 4096)).astype(np.float32)
        x = torch.from_numpy(tails)

        def error(within):
            scale = codes.scales(within, "exact", code("e2m1"))
            return float((codes.rounded(within / scale, code("e2m1")) * scale - within).square().sum() / x.square().sum())

        self.assertAlmostEqual(error(x), 0.044, delta=0.004)
        self.assertAlmostEqual(error(codes.clamped(x, 0.99)), 0.0101, delta=0.0003)

    def test_a_clamp_takes_elements_of_the_row(self):
        x = torch.arange(100.0).flip(0)[None].repeat(2, 1)
        got = codes.clamped(x, 0.99)
        self.assertEqual((float(got.min()), float(got.max())), (1.0, 99.0))
        self.assertEqual((float(codes.clamped(x, 0.9).min()), float(codes.clamped(x, 0.9).max())), (9.0, 90.0))

    def test_a_rotation_is_orthonormal(self):
        signs = torch.tensor([1.0, -1.0, -1.0, 1.0])
        x = drawn(3, 8)
        turned = codes.hadamard(x, 4, signs)
        torch.testing.assert_close(turned @ turned.T, x @ x.T)
        outlier = torch.tensor([[8.0, 0.0, 0.0, 0.0]])
        self.assertEqual(codes.hadamard(outlier, 4, signs).abs().tolist(), [[4.0] * 4])


if __name__ == "__main__":
    unittest.main()
