"""Products of schemes, whose operands equal an independent NumPy implementation bit for bit."""
import math
import pathlib
import tempfile
import unittest

import quality
from made_up_codes import nearest

import numpy as np
import torch

import codes
import corpus
import scheme
from models import Model, Shape
from precision import Precision
from scheme import Operand
from training import NotFinite, Schedule, Trainer


FORWARD, BACKWARD = "e4m3", "e5m2"


def delayed(code: str = "e4m3", **changes) -> Operand:
    return Operand(code, scale="delayed", **changes)


def precision(given: dict, **changes) -> Precision:
    return Precision(scheme.from_json("test", given), **changes)


def drawn(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class ProductTest(unittest.TestCase):
    def test_a_product_multiplies_the_codes(self):
        a, b, gradient = drawn(6, 16), drawn(5, 16, seed=2), drawn(6, 5, seed=3) * 1e-3
        a.requires_grad_()
        b.requires_grad_()
        product = precision(scheme.fp8()).linear("0/here", a, b)
        product.backward(gradient)

        def cast(x, code):
            x = x.detach().numpy()
            scale = np.float32(2.0 ** math.ceil(math.log2(np.abs(x).max() / codes.code(code).largest)))
            return torch.from_numpy(nearest(x / scale, code) * scale)

        a8, b8, g8 = cast(a, FORWARD), cast(b, FORWARD), cast(gradient, BACKWARD)
        self.assertTrue(torch.equal(product, a8 @ b8.T))
        self.assertTrue(torch.equal(a.grad, g8 @ b8))
        self.assertTrue(torch.equal(b.grad, g8.T @ a8))

    def test_bf16_products_round_operands(self):
        a, b = torch.full((1, 1), 1.0 + 2.0 ** -9), torch.ones(1, 1)
        self.assertEqual(float(precision({}).linear("0/here", a, b)), 1.0)

    def test_exact_operands_have_the_gradients_of_pytorch(self):
        given = {step: dict.fromkeys(names, "fp32") for step, names in scheme.PASSES.items()}
        hooks = precision(given | {"attention": True})
        for shape in ((4, 3, 8), (2, 4, 3, 8)):
            results = []
            for product in (hooks.matmul, lambda _, a, b: a @ b):
                a, b = drawn(*shape).requires_grad_(), drawn(*shape[:-2], 8, 5, seed=2).requires_grad_()
                product("0/scores", a, b).backward(drawn(*shape[:-1], 5, seed=3))
                results.append((a.grad, b.grad))
            self.assertTrue(all(torch.equal(one, other) for one, other in zip(*results)), shape)

    def test_rotated_operands_multiply_as_before(self):
        turned = {"code": "bf16", "hadamard": 4}
        exact = {step: dict.fromkeys(names, "fp32") for step, names in scheme.PASSES.items()}
        hooks = precision(exact | {"weight_gradient": {"gradients": turned, "activations": turned}}, seed=5)
        a, b, gradient = drawn(8, 6).requires_grad_(), drawn(5, 6, seed=2).requires_grad_(), drawn(8, 5, seed=3)
        hooks.linear("0/here", a, b).backward(gradient)
        expected = gradient.T @ a.detach()
        self.assertLess(float((b.grad - expected).norm() / expected.norm()), 0.01)
        self.assertFalse(torch.equal(b.grad, expected))

    def test_outliers_are_multiplied_apart(self):
        given = {"forward": {"activations": {"code": "e2m1", "groups": "row", "scale": "exact", "clamp": 0.9,
                                             "compensated": True}, "weights": "bf16"}}
        a, b = drawn(3, 20), drawn(4, 20, seed=2).bfloat16().float()
        a[0, 7] = 100.0
        hooks = precision(given)
        operand = hooks.scheme.operand("forward", "activations")
        cast = hooks.cast("0/x/a", a, operand)
        self.assertEqual(int((cast.apart != 0).sum(1).max()), 2)  # the lowest and the highest of 20
        self.assertLess(float(cast.values.abs().max()), 4.0)
        torch.testing.assert_close(hooks.linear("0/here", a, b), (cast.values + cast.apart) @ b.T, rtol=1e-5, atol=1e-4)
        a.requires_grad_()
        hooks.linear("0/here", a, b).sum().backward()
        self.assertTrue(torch.equal(a.grad, torch.ones(3, 4) @ b))  # through the outliers, too

    def test_derivatives_of_casts(self):
        values = torch.tensor([[0.1, 1.0, 5.0, 6.0]])
        given = {"code": "e2m1", "groups": "row", "scale": "power-of-two"}
        slopes = {}
        for derivative in ("straight-through", "clamp", "dge"):
            weight, one = values.clone().requires_grad_(), torch.ones(1, 4)
            changed = given | {"derivative": derivative}
            precision({"forward": {"weights": changed}, "input_gradient": {"gradients": "fp32"}}).linear(
                "0/here", one, weight).sum().backward()
            slopes[derivative] = weight.grad[0].tolist()
        self.assertEqual(slopes["straight-through"], [1.0] * 4)
        self.assertEqual(slopes["clamp"], [1.0] * 4)  # the scale is of the largest
        np.testing.assert_allclose(slopes["dge"], [0.6 ** -0.8 / 5, 0.2, 3.0, 0.2], rtol=1e-6)

    def test_values_beyond_a_delayed_scale_have_no_derivative_if_clamp_aware(self):
        operand = delayed(derivative="clamp")
        hooks = precision({})
        hooks.cast("0/x/a", torch.ones(1, 1), operand)
        self.assertEqual(hooks.cast("0/x/a", torch.tensor([[1.0, 1.75, 1.8]]), operand).slope.tolist(), [[1, 1, 0]])

    def test_last_layers_stay_in_bf16(self):
        hooks = precision(scheme.fp8() | {"kept": 1}, layers=3)
        a, b = drawn(4, 8), drawn(4, 8, seed=2)
        bf16 = a.bfloat16().float() @ b.bfloat16().float().T
        self.assertTrue(torch.equal(hooks.linear("2/up", a, b), bf16))
        self.assertFalse(torch.equal(hooks.linear("1/up", a, b), bf16))


class LearntTest(unittest.TestCase):
    """Ranges of PAMS, with the gradients that its definition gives (colorjam/PAMS, model/quant_ops.py)."""

    GIVEN = {"forward": {"activations": {"code": "int4", "scale": "learnt", "history": 2}, "weights": "fp32"},
             "input_gradient": {"gradients": "fp32"}}

    def test_a_range_begins_at_abs_max_and_is_learnt(self):
        hooks = precision(self.GIVEN)
        ranges = hooks.prepare(Model(Shape(layers=1, width=8, heads=2, ffn=8), 1))
        self.assertEqual(len(ranges), 7)
        x, weight = torch.tensor([[1.0, -4.0], [2.0, 0.5]]), torch.eye(2).requires_grad_()
        for _ in range(2):
            hooks.linear("0/up", x, weight).sum().backward()
        alpha = hooks.ranges["0_up_a"]
        self.assertEqual(float(alpha), 3.0)  # the mean of both rows' abs-max
        self.assertIsNone(alpha.grad)
        x = torch.tensor([[1.0, -4.0, 5.0]], requires_grad=True)
        hooks.linear("0/up", x, torch.eye(3)).backward(torch.tensor([[1.0, 10.0, 100.0]]))
        code = round(1.0 * 7 / 3)
        self.assertAlmostEqual(float(alpha.grad), (code * 3 / 7 - 1.0) / 3 - 10.0 + 100.0, places=5)
        self.assertEqual(x.grad.tolist(), [[1.0, 0.0, 0.0]])


class DelayedTest(unittest.TestCase):
    def test_scales_follow_the_history(self):
        hooks, operand = precision({}), delayed(history=2)
        small, large = torch.full((4, 4), 1.0), torch.full((4, 4), 64.0)

        def cast(x):
            return float(hooks.cast("x", x, operand).values[0, 0])

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
        hooks = precision(scheme.fp8())
        with torch.no_grad():
            hooks.linear("0/here", torch.ones(2, 2), torch.ones(2, 2))
        self.assertEqual(sum(len(known) for known in hooks.largest.values()), 0)

    def test_a_margin_below_zero_saturates(self):
        cast = precision({}).cast("x", torch.full((1, 1), 400.0), delayed(margin=-6))
        self.assertLess(float(cast.values), 8.0)

    def test_values_that_do_not_fit_become_non_finite_if_casts_do_not_saturate(self):
        """The largest values are 448 for E4M3, where the next would be 480, and 57344 for E5M2,
        then 65536. Ties go to even codes."""
        for code, kept, lost, becomes in ((FORWARD, 464.0, 464.1, math.nan), (BACKWARD, 61439.0, 61440.0, math.inf)):
            hooks, operand = precision({}), delayed(code, margin=1, saturates=False)
            largest = codes.code(code).largest
            # with the margin, a scale of 1
            hooks.cast("x", torch.full((1, 1), largest / 2), operand)
            got = hooks.cast("x", torch.full((1, 1), kept), operand, is_step=False)
            self.assertEqual(float(got.values), largest)
            self.assertIsNone(hooks.overflow)
            got = hooks.cast("x", torch.tensor([[-lost, 1.0]]), operand).values
            np.testing.assert_array_equal(got.numpy(), [[-becomes, 1.0]])
            self.assertIn(f"x, where a value does not fit {code}", hooks.overflow)

    def test_an_overflow_stops_a_training_with_step_and_place(self):
        with tempfile.TemporaryDirectory() as name:
            text = corpus.prepare(pathlib.Path(name), quality.text_file(pathlib.Path(name)))
            schedule = Schedule(steps=40, sequences=2, length=16, held_out=2, doubling=1)
            shape = Shape(layers=2, width=32, heads=4, ffn=64)
            trainer = Trainer(shape, schedule, text, 1, precision(scheme.fp8(saturates=False)))
            with self.assertRaisesRegex(NotFinite, r"not finite in step \d+; first in [01]/\w+/\w+, where a value does"):
                while trainer.step < schedule.steps:
                    trainer.advance()

    def test_non_finite_weights_stop_a_training_for_any_scheme(self):
        with tempfile.TemporaryDirectory() as name:
            text = corpus.prepare(pathlib.Path(name), quality.text_file(pathlib.Path(name)))
            schedule = Schedule(steps=4, sequences=2, length=16, held_out=2)
            for name in ("e8m7", "fp8", "fog", "fp4", "nvfp4", "pams8"):
                trainer = Trainer(Shape(layers=2, width=32, heads=4, ffn=64), schedule, text, 1,
                                  Precision(scheme.load(name), layers=2))
                trainer.advance()
                with torch.no_grad():
                    trainer.model.blocks[1]["up"][0, 0] = math.nan
                with self.assertRaisesRegex(NotFinite, "step 2; first in 1/ffn_before", msg=name):
                    trainer.advance()

    def test_monitors(self):
        hooks = precision({})
        hooks.is_looking = True
        hooks.see("x", torch.tensor([[1.0, -1.0, 1.0, -1.0], [0.0, 0.0, 0.0, 2.0]]))
        self.assertAlmostEqual(hooks.seen["kurtosis x"], (1 + 4) / 2)
        self.assertAlmostEqual(hooks.seen["rms x"], 1.0)


if __name__ == "__main__":
    unittest.main()
