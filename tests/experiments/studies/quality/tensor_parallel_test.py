"""The ranks together equal the model, and the errors of their sums are measured."""
import unittest

import quality  # noqa: F401  sets up the module path

import torch

from inference_study import GROUPS_OF_128
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


if __name__ == "__main__":
    unittest.main()
