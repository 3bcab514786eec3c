"""Gradients: errors of sums by ring and by direct exchange, and definitions of cells."""
import unittest

import quality  # noqa: F401  sets up the module path

import torch
from gradients_study import RANKS, Bucket, Scheme, schemes

BY_128 = {"layout": "contiguous", "block": 128}


def nmse_of(scheme: Scheme) -> float:
    """NMSE of a sum of independent normal gradients."""
    generator = torch.Generator().manual_seed(1)
    weight = torch.nn.Parameter(torch.zeros(8 * 32768))
    bucket = Bucket([weight], scheme)
    for rank in range(RANKS):
        weight.grad = torch.randn(len(weight), generator=generator)
        bucket.bring(rank)
    return bucket.mean(1)


class GradientsTest(unittest.TestCase):
    def setUp(self):
        self.schemes = {scheme.name: scheme for scheme in schemes()}

    def test_equarx_requantizes_at_every_hop(self):
        """(N + 1) / 2 errors of one quantization, where direct exchange has 2 - 1 / N."""
        for form in ("int8", "int4"):
            ring, direct = nmse_of(self.schemes[f"EQuARX {form}"]), nmse_of(Scheme("direct", form, options=BY_128))
            self.assertAlmostEqual(ring / direct / ((RANKS + 1) / 2 / (2 - 1 / RANKS)), 1, delta=0.05)

    def test_definitions_name_options_only_if_there_are_any(self):
        self.assertEqual(self.schemes["bf16"].definition(),
                         {"name": "bf16", "format": "bf16", "feedback": False, "automatic_mu": False,
                          "algorithm": "two-shot"})
        for scheme in self.schemes.values():
            self.assertEqual(Scheme(**scheme.definition()), scheme)
        self.assertEqual(self.schemes["EQuARX int4"].definition()["options"], BY_128)


if __name__ == "__main__":
    unittest.main()
