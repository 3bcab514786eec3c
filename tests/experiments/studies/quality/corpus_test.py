"""Several texts as one: every text has a part in both halves, and no held-out character is trained on."""
import pathlib
import tempfile
import unittest

import quality

import torch

import corpus


class CorpusTest(unittest.TestCase):
    def test_several_texts_are_woven(self):
        texts = ["a" * 400_000, "b" * 100_000, "c" * 50_000 + "\n"]
        whole = corpus.woven(texts)
        self.assertEqual(len(whole), 550_000)
        held_out = whole[int(len(whole) * 0.9):]
        self.assertEqual({letter: held_out.count(letter) for letter in "abc"}, {"a": 40_000, "b": 10_000, "c": 5_000})
        self.assertEqual(held_out[: corpus.WOVEN + 1], "a" * corpus.WOVEN + "b")

    def test_a_file_takes_the_place_of_several_packages(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            file = quality.text_file(folder)
            one = corpus.prepare(folder, file)
            self.assertTrue(torch.equal(one.train, corpus.prepare(folder, file, several=True).train))

    def test_a_missing_package_is_named_with_its_remedy(self):
        package = corpus.Package("no-such-doc", pathlib.Path("/no/such/folder"), "*.html")
        with self.assertRaisesRegex(corpus.QualityError, "apt-get install no-such-doc"):
            corpus._of_package(package)


if __name__ == "__main__":
    unittest.main()
