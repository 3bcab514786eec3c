"""The ranks together equal the model, and the errors of their sums are measured."""
import unittest

import quality  # noqa: F401  sets up the module path

import torch

from inference_study import GROUPS_OF_128, harmless, row_of
from models import Model, Shape
from store import QualityError
from tensor_parallel import Parallel, Way

SHAPE = Shape(layers=2, width=64, heads=16, ffn=128)


class ParallelTest(unittest.TestCase):
    def setUp(self):
        self.model = Model(SHAPE, 1)
        self.tokens = torch.randint(90, (8, 32), generator=torch.Generator().manual_seed(5))

    def logits(self, hooks):
        with torch.no_grad():
            return self.model(self.tokens, hooks)

    def test_ranks_in_fp32_equal_the_model(self):
        for ranks in (1, 2, 16):
            hooks = Parallel(SHAPE, ranks, Way("fp32", "fp32", sends="fp32"))
            torch.testing.assert_close(self.logits(hooks), self.logits(None), atol=1e-5, rtol=1e-5)

    def test_coarser_formats_have_larger_errors_everywhere(self):
        errors = []
        for name in ("bf16", "int8", "int4"):
            hooks = Parallel(SHAPE, 4, Way(name, name, {} if name == "bf16" else GROUPS_OF_128))
            self.logits(hooks)
            self.assertEqual(set(hooks.errors), {"0/out", "0/down", "1/out", "1/down"})
            errors.append(hooks.nmse())
        self.assertLess(10 * errors[0], errors[1])
        self.assertLess(10 * errors[1], errors[2])

    def test_a_single_quantized_place(self):
        hooks = Parallel(SHAPE, 4, Way("int4", "int4"), only="1/out")
        self.logits(hooks)
        self.assertEqual(list(hooks.errors), ["1/out"])

    def test_ranks_that_do_not_divide_are_refused(self):
        with self.assertRaisesRegex(QualityError, "16 heads do not divide over 3 ranks"):
            Parallel(SHAPE, 3, Way("bf16", "bf16"))


class TableTest(unittest.TestCase):
    def test_a_row_pairs_sequences(self):
        result = {"nll": [1.1, 2.1, 3.1], "exact_nll": [1.0, 2.0, 3.0], "nmse": 0.5, "top1": [1, 0.5, 0],
                  "kl": [0, 0, 3]}
        row = row_of("x", {"way": {"name": "w"}, "ranks": 2, "only": None}, result)
        self.assertAlmostEqual(row["perplexity_change"], 0.10517, places=5)
        self.assertAlmostEqual(row["change_low"], row["change_high"], places=9)  # all change alike
        self.assertEqual((row["top1_agreement"], row["kl_nats"]), (0.5, 1.0))

    def test_harmless_ends_at_the_first_harmful_row(self):
        known = ((1e-3, 0.02), (1e-5, 0.0), (1e-4, 0.005), (1, 0.0))
        rows = [{"nmse": nmse, "change_high": high} for nmse, high in known]
        self.assertEqual(harmless(rows, 0.01), 1e-4)
        self.assertEqual(harmless(rows, 0.001), 1e-5)


if __name__ == "__main__":
    unittest.main()
