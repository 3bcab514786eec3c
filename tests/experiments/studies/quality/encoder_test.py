"""The sentence encoder computes the packaged graph's arithmetic, and reports correct errors of
embeddings.

The weights are synthetic: the package's are 28 MB, and the study itself validates the model against
the packaged graph.
"""
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

import quality  # noqa: F401  sets up the module path
from made_up_encoder import HEADS, made_up_weights

import numpy as np
import torch

from encoder_study import PAIRS, compared, pairs_of, prepare, ranks_of, sentences_of
from inference_study import GROUPS_OF_128
from sentence_encoder import Encoder
from store import QualityError
from tensor_parallel import Parallel, Way

SENTENCES = [[3, 1, 4, 1, 5], [9, 2, 6], [49, 0, 7, 8, 9, 10, 11]]


def one_by_one(weights: dict[str, torch.Tensor], sentence: list[int]) -> np.ndarray:
    """The same in NumPy and doubles, head by head, for a single sentence, following the packaged
    graph."""
    w = {name: value.double().numpy() for name, value in weights.items()}
    angles = np.arange(len(sentence))[:, None] * w["inverse_periods"]
    looked_up = w["table"][sentence]
    x = looked_up + (looked_up + np.concatenate((np.sin(angles), np.cos(angles)), 1))
    for layer in range(2):
        def norm(values, gain, bias):
            mean = values.mean(1, keepdims=True)
            return (values - mean) / np.sqrt(values.var(1, keepdims=True) + w["epsilon"]) * w[gain] + w[bias]

        qkv = norm(x, f"norm_gain_{layer}", f"norm_bias_{layer}") @ w[f"qkv_kernel_{layer}"] + w[f"qkv_bias_{layer}"]
        query, key, value = np.split(qkv, 3, 1)
        mixed = []
        for head in range(HEADS):
            part = slice(head * query.shape[1] // HEADS, (head + 1) * query.shape[1] // HEADS)
            scores = np.exp(w[f"query_scale_{layer}"] * query[:, part] @ key[:, part].T)
            mixed.append(scores / scores.sum(1, keepdims=True) @ value[:, part])
        residual = x if layer else x @ w["residual_kernel"] + w["residual_bias"]
        x = residual + np.concatenate(mixed, 1) @ w[f"out_kernel_{layer}"] + w[f"out_bias_{layer}"]
        inner = norm(x, f"ffn_gain_{layer}", f"ffn_norm_bias_{layer}") @ w[f"up_kernel_{layer}"] + w[f"up_bias_{layer}"]
        x = x + np.maximum(inner, 0) @ w[f"down_kernel_{layer}"] + w[f"down_bias_{layer}"]
    answer = np.tanh(x.mean(0) @ w["head_kernel"] + w["head_bias"])
    return answer / np.linalg.norm(answer)


class EncoderTest(unittest.TestCase):
    def setUp(self):
        self.encoder = Encoder(made_up_weights())

    def test_the_arithmetic_is_that_of_the_package(self):
        got = self.encoder.embed(SENTENCES).numpy()
        for embedding, sentence in zip(got, SENTENCES):
            np.testing.assert_allclose(embedding, one_by_one(self.encoder.weights, sentence), atol=1e-6)

    def test_sentences_are_independent(self):
        together = self.encoder.embed(SENTENCES)
        for row, sentence in zip(together, SENTENCES):
            torch.testing.assert_close(row, self.encoder.embed([sentence])[0], atol=1e-6, rtol=0)

    def test_ranks_in_fp32_equal_the_model_and_coarser_formats_turn_embeddings(self):
        exact = self.encoder.embed(SENTENCES)
        turned = []
        for way in (Way("fp32", "fp32", sends="fp32"), Way("int8", "int8", GROUPS_OF_128),
                    Way("int4", "int4", GROUPS_OF_128)):
            hooks = Parallel(self.encoder.dimensions, 8, way)
            turned.append(float((1 - (exact * self.encoder.embed(SENTENCES, hooks)).sum(1)).max()))
            self.assertEqual(set(hooks.errors), {"0/out", "0/down", "1/out", "1/down"})
        self.assertLess(turned[0], 1e-6)
        self.assertLess(10 * turned[1], turned[2])

    def test_weights_are_read_by_their_names(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, value in self.encoder.weights.items():
                np.save(pathlib.Path(folder) / f"{name}.npy", value.numpy())
            again = Encoder.load(pathlib.Path(folder))
        self.assertTrue(torch.equal(again.embed(SENTENCES), self.encoder.embed(SENTENCES)))


class TellingTest(unittest.TestCase):
    def setUp(self):
        vectors = np.random.default_rng(3).standard_normal((60, 8))
        self.exact = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def test_equal_embeddings_move_nothing(self):
        errors = compared(self.exact, self.exact)
        self.assertAlmostEqual(errors["cosine_least"], 1.0, places=12)
        self.assertEqual((errors["pairs_moved"], errors["places_mean"], errors["places_most"]), (0, 0.0, 0))

    def test_a_turned_embedding_is_reported(self):
        turned = self.exact.copy()
        turned[5] = -turned[5]
        errors = compared(self.exact, turned)
        self.assertAlmostEqual(errors["cosine_least"], -1.0, places=12)
        self.assertAlmostEqual(errors["cosine_mean"], 1 - 2 / 60, places=12)
        self.assertGreater(errors["pairs_moved"], 0)

    def test_ranks_order_values_by_size(self):
        self.assertEqual(ranks_of(np.array([0.5, 0.9, 0.5, 0.1])).tolist(), [1, 0, 2, 3])

    def test_pairs_are_different_and_reproducible(self):
        pairs = pairs_of(60)
        self.assertEqual(len({tuple(pair) for pair in pairs.tolist()}), PAIRS)
        self.assertTrue((pairs[:, 0] < pairs[:, 1]).all())
        self.assertTrue((pairs == pairs_of(60)).all())
        with self.assertRaisesRegex(QualityError, "20 sentences have 190 pairs, and 1000 are needed"):
            pairs_of(20)

    def test_sentences_are_whole_and_spread(self):
        text = " ".join(f"Sentence number {number} is long enough to be one of them." for number in range(100)) + " No."
        found = sentences_of(text, 10)
        self.assertEqual([sentence.split()[2] for sentence in found], [str(10 * place) for place in range(10)])
        with self.assertRaisesRegex(QualityError, "the text has 100 sentences of 40 to 200 characters, and 101"):
            sentences_of(text, 101)

    def test_prepared_files_are_not_fetched_again(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "encoder").mkdir()
            (folder / "encoder" / "sentences.txt").write_text("One.\nTwo.\n")
            with mock.patch("subprocess.run", side_effect=AssertionError("asked npm")):
                prepare(folder, ["One.", "Two."])

    def test_a_partial_model_is_fetched_again(self):
        """A tool that fails or is killed after writing some files: the folder counts only once
        complete."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for code in (1, 0):
                def tool(command, code=code, **_):
                    (command[2] / "embeddings.npy").touch()
                    return subprocess.CompletedProcess(command, code)

                with mock.patch("subprocess.run", tool):
                    if code:
                        with self.assertRaisesRegex(QualityError, "could not be read"):
                            prepare(folder, ["One."])
                        self.assertFalse((folder / "encoder").exists())
                    else:
                        prepare(folder, ["One."])
            self.assertEqual((folder / "encoder" / "sentences.txt").read_text(), "One.\n")
            self.assertTrue((folder / "encoder" / "embeddings.npy").is_file())
            self.assertEqual([path.name for path in folder.iterdir()], ["encoder"])


if __name__ == "__main__":
    unittest.main()
