"""equarx.serve(): equal to the program, with arrays of requests."""
import json
import os
import pathlib
import subprocess
import unittest

import equarx
import numpy

CONFIG = "configs/experiments/serve_llama3.1_70b_v6e_8.json"
FEW = {"/serving/load/requests": 50}
PROGRAM = pathlib.Path(os.environ["EQUARX_BUILD"], "equarx-sim")


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.served = equarx.serve(CONFIG, FEW)

    def test_the_result_matches_the_program(self):
        command = [PROGRAM, "serve", CONFIG, "--json", "--requests", "--set", "/serving/load/requests=50"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.assertEqual(self.served.to_dict(), json.loads(printed))

    def test_intervals_on_request(self):
        served = equarx.serve(CONFIG, FEW | {"/uncertainty/samples": 10}, requests=False, uncertainty=True)
        self.assertEqual(served.uncertainty.samples, 10)
        self.assertLess(served.uncertainty.ttft_p50_low_s, served.uncertainty.ttft_p50_high_s)
        self.assertFalse(hasattr(self.served, "uncertainty"))

    def test_requests_are_arrays(self):
        requests = self.served.by_request
        self.assertEqual({array.shape for array in requests.values()}, {(50,)})
        self.assertTrue((numpy.diff(requests["arrival_s"]) >= 0).all())
        self.assertAlmostEqual(requests["ttft_s"].mean(), self.served.ttft.mean_s)
        states = sum(requests[f"{state}_s"] for state in self.served.latency_share)
        numpy.testing.assert_allclose(states, requests["latency_s"], rtol=1e-9)

    def test_metrics_are_numbers_by_path(self):
        metrics = self.served.metrics
        self.assertEqual(metrics["ttft/p99_s"], self.served.ttft.p99_s)
        self.assertEqual(metrics["requests"], 50)
        self.assertTrue(all(isinstance(value, (int, float)) for value in metrics.values()))

    def test_a_config_serves_again(self):
        again = equarx.serve(self.served.config, requests=False)
        self.assertEqual(again.metrics, self.served.metrics)
        with self.assertRaisesRegex(ValueError, "requests=True"):
            again.by_request

    def test_it_shows_latencies(self):
        self.assertRegex(repr(self.served), r"^Served\(50 requests, [\d.]+/s; TTFT [\d.]+ ms, TPOT [\d.]+ ms\)$")

    def test_invalid_loads_are_refused_with_their_place(self):
        for overrides, pointer in (({"/serving/load": {}}, "/serving/load"),
                                   ({"/serving/load/prompt": 200000}, "/serving/load"),
                                   ({"/serving/phase": "decode"}, "/serving/phase")):
            with self.subTest(overrides), self.assertRaises(equarx.InputError) as caught:
                equarx.serve(CONFIG, overrides)
            self.assertEqual(caught.exception.pointer, pointer)
            self.assertNotIn("\n", str(caught.exception))
            self.assertIn(CONFIG, str(caught.exception))

    def test_run_refers_to_serve(self):
        with self.assertRaisesRegex(equarx.InputError, "equarx-sim serve"):
            equarx.run(CONFIG)


if __name__ == "__main__":
    unittest.main()
