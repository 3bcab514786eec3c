"""Stored weights of a sentence encoder: sets of sentences, importance, order of similarities, and the study in its
reduced form on synthetic weights."""
import csv
import json
import pathlib
import subprocess
import tempfile
import unittest

from made_up_encoder import made_up_weights, write_prepared
from quality import command

import numpy as np
import torch

from encoder_study import sentences_of
from sentence_encoder import Encoder
from stored_encoder_study import loss, neighbours, of_set, order
from stored_weights import Method, quantized, shifted, squared_gradients

SENTENCES = [[3, 1, 4, 1, 5], [9, 2, 6], [49, 0, 7, 8, 9, 10, 11]]


class SetsTest(unittest.TestCase):
    def test_no_sentence_is_in_two_parts(self):
        parts = [part for number in (1, 2, 3) for part in of_set(list(range(90)), number)]
        self.assertEqual(sorted(sentence for part in parts for sentence in part), list(range(90)))
        self.assertEqual([len(part) for part in parts], [15] * 6)


class OrderTest(unittest.TestCase):
    def test_equal_and_opposite_orders(self):
        angles = np.array([0.0, 0.1, 0.3, 0.7])
        embeddings = np.stack((np.cos(angles), np.sin(angles)), 1)
        self.assertEqual(neighbours(embeddings @ embeddings.T).tolist(), [1, 0, 1, 2])
        self.assertEqual(order(embeddings, embeddings), {"spearman": 1.0, "neighbours_kept": 1.0})
        angles = np.array([0.0, 0.7, 0.3, 0.1])
        moved = np.stack((np.cos(angles), np.sin(angles)), 1)
        # Similarities of pairs 01 02 03 12 13 23 had the ranks 0 2 5 1 4 3, and have 5 2 0 3 4 1.
        found = order(embeddings, moved)
        self.assertAlmostEqual(found["spearman"], 1 - 6 * (25 + 0 + 25 + 4 + 0 + 4) / (6 * 35))
        self.assertEqual(found["neighbours_kept"], 0.0)


class StoredEncoderTest(unittest.TestCase):
    def setUp(self):
        self.encoder = Encoder(made_up_weights(32, 64, 128))

    def test_weights_of_layers_change_and_others_do_not(self):
        calibrated = []

        def calibrate(model, hooks):
            calibrated.append(torch.equal(model.products[0]["down"], self.encoder.products[0]["down"]))
            model.embed(SENTENCES, hooks)

        method = Method("GPTQ", 3, shifted(3, feedback={"order": "columns"}), inputs=True)
        stored, result = quantized(self.encoder, method, calibrate, None)
        self.assertEqual(calibrated, [True, False])  # the second layer gets inputs of the quantized first
        self.assertAlmostEqual(result["bits_per_weight"], 3 + (16 + 3) / 32)
        for name, value in self.encoder.weights.items():
            is_product = name.rsplit("_", 1)[0] in ("qkv_kernel", "out_kernel", "up_kernel", "down_kernel")
            self.assertEqual(is_product, not torch.equal(value, stored.weights[name]), name)

    def test_importance_is_that_of_1_minus_cosine(self):
        """The mean over directions approaches the squared derivatives of all elements, in doubles by differences."""
        generator = torch.Generator().manual_seed(1)
        sentence, at, step = SENTENCES[0], (5, 7), 1e-3
        directions = torch.randn(400, 64, generator=generator)
        found = squared_gradients(self.encoder, [(sentence, direction) for direction in directions], loss)
        weights = {name: value.double() if value.is_floating_point() else value
                   for name, value in self.encoder.weights.items()}
        moved = []
        for sign in (1, -1):
            changed = Encoder({name: value.clone() for name, value in weights.items()})
            changed.products[1]["up"][at] += sign * step
            moved.append(changed.embed([sentence])[0])
        expected = float(((moved[0] - moved[1]) / (2 * step)).square().sum())
        self.assertGreater(expected, 0)
        self.assertAlmostEqual(found[1]["up"][at] / 400 / expected, 1, delta=0.3)
        self.assertFalse(self.encoder.products[1]["up"].requires_grad)


class StudyTest(unittest.TestCase):
    def test_reduced(self):
        text = " ".join(f"Sentence {number} of {number ** 2} words about {number * 7 % 97} things and {number % 13} more."
                        for number in range(400))
        with tempfile.TemporaryDirectory() as kept:
            folder = pathlib.Path(kept)
            (folder / "text.txt").write_text(text)
            output = folder / "out"
            write_prepared(output, sentences_of(text, 180), made_up_weights(32, 64, 128))
            arguments = ("--output", output, "--reduced", "--text", folder / "text.txt", "--threads", 1)
            done = subprocess.run(command("stored_encoder", *arguments), capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            results = json.loads((output / "results.json").read_text())
            with open(output / "results.csv", newline="") as file:
                self.assertEqual(len(list(csv.DictReader(file))), len(results["rows"]))
            self.assertGreater((output / "stored_encoder.png").stat().st_size, 10_000)
            rows = {(row["method"], row["bits"]): row for row in results["rows"]}
            self.assertLess(rows["BF16", 16]["turned"], rows["RTN", 8]["turned"])
            self.assertLess(rows["RTN", 4]["turned"], rows["RTN", 2]["turned"] / 4)
            self.assertLess(rows["RTN", 2]["spearman"], rows["RTN", 4]["spearman"])
            self.assertEqual([claim["claim"] for claim in results["summary"]["claims"]], [5, 6, 8])
            self.assertEqual(len(results["summary"]["weights"]), 8)


if __name__ == "__main__":
    unittest.main()
