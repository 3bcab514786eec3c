"""Planted outliers change FP8 products and monitors, and no exact product."""
import unittest

import quality  # noqa: F401  sets up the module path

import torch

import scheme
from models import Hooks, Model, Shape
from planted import Plant, Planted

SHAPE = Shape("llama", layers=2, width=32, heads=4, ffn=64)
EXACT = {step: dict.fromkeys(names, "fp32") for step, names in scheme.PASSES.items()}


def planted(plant: Plant, given: dict | None = None) -> Planted:
    return Planted(plant, scheme.from_json("test", EXACT if given is None else given), SHAPE.layers)


class PlantTest(unittest.TestCase):
    def test_factors_grow_from_the_onset_on(self):
        plant = Plant("channel", onset=10, doubling=5)
        self.assertEqual([plant.factor(step) for step in (0, 10, 15, 20)], [1.0, 1.0, 2.0, 4.0])
        self.assertEqual(Plant(onset=0).factor(100), 1.0)

    def logits(self, hooks: Hooks, kind: str = "llama") -> torch.Tensor:
        shape = Shape(kind, layers=2, width=32, heads=4, ffn=64)
        tokens = torch.randint(95, (2, 16), generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            return Model(shape, 1)(tokens, hooks)

    def test_a_channel_changes_no_exact_product_but_its_input(self):
        seen = {}
        for step in (0, 40):
            hooks = planted(Plant("channel", doubling=4, layer=1, channel=3))
            hooks.step, hooks.is_looking = step, True
            seen[step] = (self.logits(hooks), hooks.seen["kurtosis 1/ffn_input"], hooks.seen["kurtosis 0/ffn_input"])
        torch.testing.assert_close(seen[0][0], seen[40][0], rtol=1e-3, atol=1e-3)
        self.assertGreater(seen[40][1], 5 * seen[0][1])
        self.assertEqual(seen[40][2], seen[0][2])

    def test_a_channel_flushes_the_others_in_fp8(self):
        hooks = planted(Plant("channel", doubling=1, layer=1, channel=3), scheme.fp8("exact"))
        hooks.step, hooks.is_looking = 24, True
        self.logits(hooks)
        self.assertGreater(hooks.seen["flushed 1/up/a"], 0.9)
        self.assertLess(hooks.seen["flushed 0/up/a"], 0.1)

    def test_queries_and_keys_change_llama_and_not_fog(self):
        for kind, changes in (("llama", True), ("fog", False)):
            results = []
            for step in (0, 6):
                hooks = planted(Plant("qk", layer=0))
                hooks.step, hooks.is_looking = step, True
                results.append((self.logits(hooks, kind), hooks.seen["logits 0/scores"]))
            self.assertEqual(not torch.allclose(results[0][0], results[1][0], atol=1e-3), changes, kind)
            ratio = results[1][1] / results[0][1]
            self.assertAlmostEqual(ratio, 2.0 ** 12 if changes else 1.0, delta=0.01 * ratio)


if __name__ == "__main__":
    unittest.main()
