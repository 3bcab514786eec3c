"""Tables of the inference and gradients studies: means over models, ratios to the NMSE, and times to a loss."""
import math
import unittest

import quality  # noqa: F401  sets up the module path

from gradients_table import differences, ends_of, steps_to, times_to
from inference_table import harmless, over_models, ratio, row_of, rules


class InferenceTest(unittest.TestCase):
    def test_a_row_pairs_sequences(self):
        result = {"nll": [1.1, 2.1, 3.1], "exact_nll": [1.0, 2.0, 3.0], "nmse": 0.5, "top1": [1, 0.5, 0],
                  "kl": [0, 0, 3]}
        row = row_of("x", {"model": {"seed": 4}, "way": {"name": "w"}, "ranks": 2, "only": None}, result)
        self.assertAlmostEqual(row["perplexity_change"], 0.10517, places=5)
        self.assertAlmostEqual(row["change_low"], row["change_high"], places=9)  # all change alike
        self.assertEqual((row["seed"], row["top1_agreement"], row["kl_nats"]), (4, 0.5, 1.0))

    def test_means_over_models(self):
        def pair(seed: int, nmse: float, growth: list[float]) -> tuple[dict, dict]:
            row = {"way": "int8", "ranks": 2, "nmse": nmse, "perplexity_change": sum(growth), "seed": seed}
            return row, {"nll": growth, "exact_nll": [0.0, 0.0], "kl": growth, "top1": [1.0, 0.5]}

        one, = over_models([pair(1, 1e-3, [0.1, 0.1]), pair(2, 3e-3, [0.3, 0.3])])
        self.assertEqual((one["seeds"], one["change_by_seed"]), (2, [0.2, 0.6]))
        self.assertAlmostEqual(one["nmse"], 2e-3)
        self.assertAlmostEqual(one["perplexity_change"], math.expm1(0.2))
        self.assertAlmostEqual(one["change_high"], math.expm1(0.2 + 12.706 * 0.1))
        self.assertAlmostEqual(one["kl_low"], 0.2 - 12.706 * 0.1)

    def test_ratios_are_of_their_range(self):
        rows = [{"nmse": 1e-2, "kl_nats": 1e-2, "perplexity_change": -1e-2},
                {"nmse": 2e-2, "kl_nats": 6e-2, "perplexity_change": 4e-2},
                {"nmse": 0.5, "kl_nats": 9, "perplexity_change": 9}]
        found = ratio(rows, "kl_nats", 1e-3, 5e-2)
        self.assertEqual((found["rows"], found["median"]), (2, 2))
        self.assertAlmostEqual(found["lowest"], 1)
        self.assertAlmostEqual(found["highest"], 3)
        self.assertAlmostEqual(found["relative_spread"], math.sqrt(2) / 2)
        self.assertIsNone(ratio(rows, "kl_nats", 5e-2, 1))
        self.assertEqual(rules(rows)["1e-3 to 5e-2"]["perplexity_change"]["lowest"], -1)
        self.assertNotIn("above 5e-2", rules(rows))

    def test_harmless_ends_before_the_first_that_may_cost_more(self):
        rows = [{"nmse": nmse, "change_high": high} for nmse, high in ((1e-2, 0.5), (1e-4, 0.01), (1e-3, 0.02), (1, 0))]
        self.assertEqual(harmless(rows, 0.1), 1e-3)
        self.assertEqual(harmless(rows, 0.001), 0)


class GradientsTest(unittest.TestCase):
    def setUp(self):
        losses = {"bf16": {1: (3.0, 2.0), 2: (3.2, 2.2)}, "int8": {1: (2.9, 2.1), 2: (3.2, 2.3)},
                  "bad": {1: (9.0, 8.0)}}
        self.rows = [{"scheme": name, "seed": seed, "step": step, "held_out": loss} for name, seeds in losses.items()
                     for seed, each in seeds.items() for step, loss in zip((10, 20), each)]

    def test_losses_are_compared_with_the_same_seed(self):
        found = differences(ends_of(self.rows, 20), "bf16")
        self.assertAlmostEqual(found["int8"]["mean"], 0.1)
        self.assertAlmostEqual(found["int8"]["high"], 0.1)  # both seeds differ by as much
        self.assertEqual(found["bf16"], {"mean": 0, "low": 0, "high": 0})

    def test_a_goal_is_reached_by_the_mean_over_seeds(self):
        steps = steps_to(self.rows, 3.05)
        self.assertEqual(steps, {"bf16": 20, "int8": 10})
        self.assertEqual(times_to(steps, {"bf16": 2.0, "other": 1.0}), {"bf16": 40.0})


if __name__ == "__main__":
    unittest.main()
