"""FP8 operands equal the results of an independent NumPy implementation, bit for bit."""
import math
import pathlib
import tempfile
import unittest

import quality

import numpy as np
import torch

import corpus
import fp8
from fp8 import BACKWARD, FORWARD, Precision, Recipe
from models import Shape
from training import NotFinite, Schedule, Trainer


def values_of(code: str) -> np.ndarray:
    """All finite non-negative values of a format, in order, from its definition (arXiv 2209.05433)."""
    exponent_bits, mantissa_bits, bias, largest = {FORWARD: (4, 3, 7, 448.0), BACKWARD: (5, 2, 15, 57344.0)}[code]
    steps = 2 ** mantissa_bits
    values = [mantissa / steps * 2.0 ** (1 - bias) for mantissa in range(steps)]
    for exponent in range(1, 2 ** exponent_bits):
        values += [(1 + mantissa / steps) * 2.0 ** (exponent - bias) for mantissa in range(steps)]
    return np.array([value for value in values if value <= largest])


def nearest(x: np.ndarray, code: str) -> np.ndarray:
    """Rounded to nearest, ties to the even mantissa; values that are too large saturate."""
    values, size = values_of(code), np.abs(x.astype(np.float64))
    above = np.clip(np.searchsorted(values, size), 1, len(values) - 1)
    low, high = values[above - 1], values[above]
    down = (size - low < high - size) | ((size - low == high - size) & ((above - 1) % 2 == 0))
    return np.copysign(np.where(down, low, high), x).astype(np.float32)


def samples() -> np.ndarray:
    generator = np.random.default_rng(3)
    spread = generator.standard_normal(4000) * np.exp2(generator.uniform(-20, 18, 4000))
    ties = np.concatenate([(values[1:] + values[:-1]) / 2 for values in (values_of(FORWARD), values_of(BACKWARD))])
    return np.concatenate((spread, ties, -ties, [0.0])).astype(np.float32)


class CastTest(unittest.TestCase):
    def test_codes_with_a_given_scale(self):
        x = samples()
        for code in (FORWARD, BACKWARD):
            for scale in (1.0, 2.0 ** -7, 2.0 ** 5):
                expected = nearest(x / np.float32(scale), code) * np.float32(scale)
                np.testing.assert_array_equal(fp8.with_scale(x, scale, code), expected, err_msg=f"{code} {scale}")

    def test_a_matmul_multiplies_the_codes(self):
        generator = torch.Generator().manual_seed(1)
        a, b = torch.randn(6, 16, generator=generator), torch.randn(5, 16, generator=generator)
        a.requires_grad_()
        b.requires_grad_()
        gradient = torch.randn(6, 5, generator=generator) * 1e-3
        product = Precision(Recipe("delayed")).linear("here", a, b)
        product.backward(gradient)

        def cast(x, code):
            x = x.detach().numpy()
            scale = np.float32(2.0 ** math.ceil(math.log2(np.abs(x).max() / fp8.LARGEST[code])))
            return torch.from_numpy(nearest(x / scale, code) * scale)

        a8, b8, g8 = cast(a, FORWARD), cast(b, FORWARD), cast(gradient, BACKWARD)
        self.assertTrue(torch.equal(product, a8 @ b8.T))
        self.assertTrue(torch.equal(a.grad, g8 @ b8))
        self.assertTrue(torch.equal(b.grad, g8.T @ a8))

    def test_bf16_matmuls_round_operands(self):
        a, b = torch.full((1, 1), 1.0 + 2.0 ** -9), torch.ones(1, 1)
        self.assertEqual(float(Precision(Recipe()).linear("here", a, b)), 1.0)


class DelayedTest(unittest.TestCase):
    def test_scales_follow_the_history(self):
        hooks = Precision(Recipe("delayed", history=2))
        small, large = torch.full((4, 4), 1.0), torch.full((4, 4), 64.0)

        def cast(x):
            return float(hooks.cast("x", x, FORWARD, "delayed")[0, 0])

        self.assertEqual(cast(small), 1.0)
        self.assertEqual(cast(large), 1.75)  # 448 times the scale of 1, 2^-8: it saturates once
        self.assertEqual(cast(large), 64.0)
        self.assertEqual(cast(small), 1.0)
        hooks.is_looking = True
        for _ in range(3):
            cast(small)
        self.assertEqual(hooks.seen["saturated x"], 0.0)
        cast(large)
        self.assertEqual(hooks.seen["saturated x"], 1.0)

    def test_evaluation_on_held_out_text_does_not_change_scales(self):
        hooks = Precision(Recipe("delayed"))
        with torch.no_grad():
            hooks.linear("here", torch.ones(2, 2), torch.ones(2, 2))
        self.assertEqual(sum(len(known) for known in hooks.largest.values()), 0)

    def test_a_margin_below_zero_saturates(self):
        hooks = Precision(Recipe("delayed", margin=-6))
        self.assertLess(float(hooks.cast("x", torch.full((1, 1), 400.0), FORWARD, "delayed")), 8.0)

    def test_values_that_do_not_fit_become_non_finite_if_casts_do_not_saturate(self):
        """The largest values are 448 for E4M3, where the next would be 480, and 57344 for E5M2,
        then 65536. Ties go to even codes."""
        for code, kept, lost, becomes in ((FORWARD, 464.0, 464.1, math.nan), (BACKWARD, 61439.0, 61440.0, math.inf)):
            hooks = Precision(Recipe("delayed", margin=1, saturates=False))
            # with the margin, a scale of 1
            hooks.cast("x", torch.full((1, 1), fp8.LARGEST[code] / 2), code, "delayed")
            got = hooks.cast("x", torch.full((1, 1), kept), code, "delayed", is_step=False)
            self.assertEqual(float(got), fp8.LARGEST[code])
            self.assertIsNone(hooks.overflow)
            got = hooks.cast("x", torch.tensor([[-lost, 1.0]]), code, "delayed")
            np.testing.assert_array_equal(got.numpy(), [[-becomes, 1.0]])
            self.assertIn(f"x, where a value does not fit {code}", hooks.overflow)

    def test_an_overflow_stops_a_training_with_step_and_place(self):
        with tempfile.TemporaryDirectory() as name:
            text = corpus.prepare(pathlib.Path(name), quality.text_file(pathlib.Path(name)))
            schedule = Schedule(steps=40, sequences=2, length=16, held_out=2, doubling=1)
            shape = Shape(layers=2, width=32, heads=4, ffn=64)
            trainer = Trainer(shape, schedule, text, 1, Precision(Recipe("delayed", saturates=False)))
            with self.assertRaisesRegex(NotFinite, r"not finite in step \d+; first in [01]/\w+/\w+, where a value does"):
                while trainer.step < schedule.steps:
                    trainer.advance()

    def test_non_finite_weights_stop_a_training_for_any_scaling(self):
        with tempfile.TemporaryDirectory() as name:
            text = corpus.prepare(pathlib.Path(name), quality.text_file(pathlib.Path(name)))
            schedule = Schedule(steps=4, sequences=2, length=16, held_out=2)
            for scaling in ("bf16", "delayed", "current", "block"):
                trainer = Trainer(Shape(layers=2, width=32, heads=4, ffn=64), schedule, text, 1,
                                  Precision(Recipe(scaling)))
                trainer.advance()
                with torch.no_grad():
                    trainer.model.blocks[1]["up"][0, 0] = math.nan
                with self.assertRaisesRegex(NotFinite, "step 2; first in 1/ffn_before", msg=scaling):
                    trainer.advance()

    def test_monitors(self):
        hooks = Precision(Recipe())
        hooks.is_looking = True
        hooks.see("x", torch.tensor([[1.0, -1.0, 1.0, -1.0], [0.0, 0.0, 0.0, 2.0]]))
        self.assertAlmostEqual(hooks.seen["kurtosis x"], (1 + 4) / 2)
        self.assertAlmostEqual(hooks.seen["rms x"], 1.0)


if __name__ == "__main__":
    unittest.main()
