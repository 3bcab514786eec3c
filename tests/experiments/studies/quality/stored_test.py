"""Stored weights: bits and errors of a model's matrices, calibration, the rule of claims, and the study in its reduced
form."""
import csv
import json
import pathlib
import subprocess
import tempfile
import unittest

from quality import command, text_file

import numpy as np
import torch

import stored_study
import stored_claims
from models import Hooks, Model, Shape
from stored_weights import ByToken, Inputs, Method, k_means, methods, quantized, shifted, squared_gradients

SMALL = Shape(layers=2, width=64, heads=4, ffn=128)


class StoredWeightsTest(unittest.TestCase):
    def setUp(self):
        self.model = Model(SMALL, 1)
        self.tokens = torch.randint(90, (3, 17), generator=torch.Generator().manual_seed(1))

    def quantized(self, method, importance=None):
        return quantized(self.model, method, lambda model, hooks: model(self.tokens[:, :-1], hooks), importance)

    def squared_gradients(self, tokens):
        return squared_gradients(self.model, tokens, stored_study.loss)

    def test_only_the_matrices_of_blocks_change(self):
        rounded, result = self.quantized(Method("RTN", 4, shifted(4)))
        self.assertAlmostEqual(result["bits_per_weight"], 4 + (16 + 4) / 32)
        for (name, exact), (_, stored) in zip(self.model.named_parameters(), rounded.named_parameters()):
            is_matrix = name.startswith("blocks") and exact.ndim == 2
            self.assertEqual(is_matrix, not torch.equal(exact, stored), name)

    def test_error_counts_all_matrices(self):
        rounded, result = self.quantized(Method("RTN", 3, shifted(3)))
        error = size = 0
        for exact, stored in zip(self.model.matrices(), rounded.matrices()):
            for name in exact:
                error += float((exact[name] - stored[name]).double().square().sum())
                size += float(exact[name].double().square().sum())
        self.assertAlmostEqual(result["nmse"] / (error / size), 1, 5)

    def test_inputs_of_a_block_are_those_of_its_products(self):
        hooks = Inputs(1)
        with torch.no_grad():
            self.model(self.tokens, hooks)
        self.assertEqual(set(hooks.found), set(self.model.matrices()[1]))
        self.assertEqual(hooks.found["down"].shape, (3 * 17, 128))
        np.testing.assert_array_equal(hooks.found["q"], hooks.found["v"])

    def test_feedback_lowers_the_divergence_of_a_model(self):
        def divergence(method):
            with torch.no_grad():
                exact = self.model(self.tokens).log_softmax(-1)
                got = self.quantized(method)[0](self.tokens).log_softmax(-1)
            return float((exact.exp() * (exact - got)).sum())

        plain = divergence(Method("RTN", 2, shifted(2)))
        self.assertLess(divergence(Method("GPTQ", 2, shifted(2, feedback={"order": "columns"}), inputs=True)), plain)

    def test_squared_gradients_are_sums_over_sequences(self):
        found = self.squared_gradients(self.tokens)[0]["q"]
        each = [self.squared_gradients(self.tokens[i:i + 1])[0]["q"] for i in range(3)]
        np.testing.assert_allclose(found, sum(each), rtol=1e-5)
        self.assertGreater(found.max(), 0)
        method = Method("weighted", 2, k_means(2, True), importance=True)
        self.quantized(method, self.squared_gradients(self.tokens))

    def test_inputs_in_int8_change_little(self):
        with torch.no_grad():
            exact, got = self.model(self.tokens, Hooks()), self.model(self.tokens, ByToken())
        self.assertFalse(torch.equal(exact, got))
        self.assertLess(float((exact - got).norm() / exact.norm()), 0.05)

    def test_names_of_methods_differ_and_claims_have_theirs(self):
        names = [(method.bits, method.name) for method in methods()]
        self.assertEqual(len(set(names)), len(names))
        needed = [(bits, name) for bits, *pair in stored_claims.ORDERS for name in pair] + stored_claims.HARMLESS
        self.assertLessEqual(set(needed), set(names))


class StudyTest(unittest.TestCase):
    def test_claims_need_every_seed(self):
        self.assertEqual([stored_claims.verdict(list(holds)) for holds in ((True, True), (True, False), (False, False))],
                         ["hit", "undecided", "miss"])
        rows = [{"bits": 2, "method": method, "seed": seed, "perplexity_change": change}
                for method, changes in (("GPTQ", (0.1, 0.1)), ("RTN", (0.2, 0.05))) for seed, change in
                enumerate(changes)]
        claim, = stored_claims.claims(rows, stored_study.log_growth, "harmless", None)
        self.assertEqual((claim["claim"], claim["verdict"]), (5, "undecided"))
        self.assertAlmostEqual(claim["gains"][0], np.log(1.2 / 1.1))

    def test_reduced(self):
        with tempfile.TemporaryDirectory() as kept:
            folder = pathlib.Path(kept)
            arguments = ("--output", folder / "stored", "--reduced", "--text", text_file(folder), "--threads", 1)
            done = subprocess.run(command("stored", *arguments), capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            results = json.loads((folder / "stored" / "results.json").read_text())
            with open(folder / "stored" / "results.csv", newline="") as file:
                self.assertEqual(len(list(csv.DictReader(file))), len(results["rows"]))
            self.assertGreater((folder / "stored" / "stored.png").stat().st_size, 10_000)
            rows = {(row["method"], row["bits"]): row for row in results["rows"]}
            self.assertLess(rows["BF16", 16]["kl_nats"], rows["RTN", 4]["kl_nats"])
            self.assertLess(rows["RTN", 4]["kl_nats"], rows["RTN", 2]["kl_nats"] / 4)
            self.assertEqual([claim["claim"] for claim in results["summary"]["claims"]], [5, 6, 8])


if __name__ == "__main__":
    unittest.main()
