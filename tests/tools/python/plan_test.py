"""equarx.plan()."""
import unittest

import equarx

SMALL = {"isl": 256, "osl": 32, "ttft": "2 s", "tpot": "50 ms", "chips": ["tpu-v6e"], "sizes": [1],
         "precisions": ["bf16", "zeroquant"], "kv": ["bf16"]}


class Plan(unittest.TestCase):
    def test_the_best_serves_its_load(self):
        plan = equarx.plan("llama3.1-8b", prices={"tpu-v6e": "$3/h"}, **SMALL)
        best = plan.ranked[0]
        self.assertEqual(best.chip, "tpu-v6e")
        self.assertAlmostEqual(best.dollars_per_million_tokens,
                               3 / 3600 / best.output_tokens_per_s_per_chip * 1e6, places=6)
        served = equarx.serve(plan.best_config, {"/serving/load/requests": 100}, requests=False)
        self.assertLess(served.tpot.p50_s, 0.05)
        self.assertRegex(repr(plan), r"^CapacityPlan\(llama3.1-8b: 1 x tpu-v6e, [\d.]+ tokens/s per chip\)$")

    def test_nothing_within_the_limits(self):
        plan = equarx.plan("llama3.1-8b", **SMALL | {"tpot": "10 us"})
        self.assertEqual(plan.ranked, [])
        self.assertIn("nothing meets the limits", repr(plan))
        with self.assertRaises(ValueError):
            plan.best_config

    def test_invalid_requests_are_refused(self):
        for changes, words in (({"ttft": "1"}, "--ttft"), ({"sizes": [0]}, "--sizes"), ({"chips": ["tpu-v99"]}, "--chips"),
                               ({"prices": {"tpu-v6e": "3"}}, "--price")):
            with self.subTest(changes), self.assertRaisesRegex(equarx.InputError, words):
                equarx.plan("llama3.1-8b", **SMALL | changes)


if __name__ == "__main__":
    unittest.main()
