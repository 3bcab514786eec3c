"""The conclusions of the notebook agree with its table."""
import re
import unittest

import notebook


class WhatDoThreeBitsCost(notebook.Script):
    name = "what_do_3_bits_cost"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        lines = re.findall(r"^(\S.*?) +(\d) +([\d.]+) +([\d.]+) +([\d.]+)$", cls.printed, re.M)
        # (name, bits): bits of a weight, error of weights, of outputs
        cls.rows = {(name, int(bits)): tuple(map(float, numbers)) for name, bits, *numbers in lines}

    def outputs(self, name: str, bits: int) -> float:
        return self.rows[name, bits][2]

    def test_every_format_has_three_rows(self):
        self.assertEqual(len(self.rows), 21)

    def test_feedback_trades_weights_for_outputs(self):
        for bits in (2, 3, 4):
            plain, fed = self.rows["with zero point", bits], self.rows["GPTQ", bits]
            self.assertEqual(plain[0], fed[0])
            self.assertAlmostEqual(fed[1] / plain[1], 2, delta=0.3)
            self.assertLess(fed[2], 0.27 * plain[2])

    def test_3_bits_with_inputs_are_as_good_as_4_without(self):
        self.assertAlmostEqual(self.outputs("GPTQ", 3) / self.outputs("with zero point", 4), 1, delta=0.1)

    def test_slim_llm_saves_up_to_a_sixth(self):
        saved = [1 - self.outputs("SliM-LLM", bits) / self.outputs("GPTQ", bits) for bits in (2, 3, 4)]
        self.assertGreaterEqual(min(saved), 0)
        self.assertAlmostEqual(max(saved), 1 / 6, delta=0.02)

    def test_awq_changes_little(self):
        for bits in (2, 3, 4):
            self.assertAlmostEqual(self.outputs("AWQ", bits) / self.outputs("with zero point", bits), 0.97, delta=0.03)

    def test_k_means_is_the_best_without_inputs_but_has_tables(self):
        for bits, table in ((2, 0.5), (3, 1), (4, 2)):
            self.assertEqual(self.rows["k-means", bits][0], bits + table)
            for other in ("integer", "with zero point", "NF"):
                self.assertLess(self.outputs("k-means", bits), self.outputs(other, bits))


if __name__ == "__main__":
    unittest.main()
