"""Training that communicates every k steps: the reduced study, and its exchange against means in NumPy."""
import json
import subprocess
import unittest

from quality import TextCase, command

import corpus
import torch
from local_study import RANKS, Local, Outer
from models import Shape
from training import Schedule

SHAPE = Shape(layers=1, width=32, heads=2, ffn=64)


class LocalTest(TextCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.corpus = corpus.prepare(cls.folder, cls.text)

    def local(self, way: Outer) -> Local:
        return Local(way, SHAPE, Schedule(steps=4, every=2, sequences=8, length=32, held_out=2), self.corpus, 1)

    @staticmethod
    def flat(model: torch.nn.Module) -> torch.Tensor:
        return torch.cat([weight.detach().flatten() for weight in model.parameters()])

    def test_local_sgd_ends_at_the_mean_of_the_ranks(self):
        local = self.local(Outer("mean", 3, "fp32"))
        begin = self.flat(local.whole.model).clone()
        local.advance()
        local.advance()
        self.assertTrue(torch.equal(self.flat(local.whole.model), begin))
        self.assertFalse(torch.equal(self.flat(local.ranks[0].model), self.flat(local.ranks[1].model)))
        for trainer in local.ranks:
            trainer.advance()
        mean = sum(self.flat(trainer.model).double() for trainer in local.ranks) / RANKS
        local.exchange()
        self.assertLess((self.flat(local.whole.model) - mean).abs().max(), 1e-6)
        for trainer in local.ranks:
            self.assertTrue(torch.equal(self.flat(trainer.model), self.flat(local.whole.model)))

    def test_diloco_takes_steps_of_nesterov(self):
        local = self.local(Outer("momentum", 1, "fp32", rate=0.7, momentum=0.9))
        velocity = 0.0
        for _ in range(2):
            begin = self.flat(local.whole.model).double()
            for trainer in local.ranks:
                trainer.advance()
            change = begin - sum(self.flat(trainer.model).double() for trainer in local.ranks) / RANKS
            velocity = 0.9 * velocity + change
            local.exchange()
            expected = begin - 0.7 * (change + 0.9 * velocity)
            self.assertLess((self.flat(local.whole.model) - expected).abs().max(), 1e-6)

    def test_the_reduced_study_quantizes_outer_gradients(self):
        done = subprocess.run(command("local", "--output", self.folder / "local", "--reduced", "--text", self.text,
                                      "--threads", 1), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["way"]: row for row in json.loads((self.folder / "local" / "results.json").read_text())["rows"]}
        self.assertEqual({row["exchanges"] for row in rows.values()}, {3})
        self.assertLess(rows["DiLoCo fp32, every 2"]["nmse"], 1e-9)
        self.assertGreater(rows["DiLoCo int4, every 2"]["nmse"], 1e-4)


if __name__ == "__main__":
    unittest.main()
