"""The study of planted outliers: its verdicts on made-up trainings, its checkpoints, its reduced form."""
import dataclasses
import json
import subprocess
import unittest
from unittest import mock

from quality import TextCase, command

import corpus
import outliers_study
from monitors import MONITORS
from outliers_study import Run


def training(losses: list[float], kurtosis: list[float]) -> dict:
    """With an evaluation every 10 steps."""
    steps = [10 * (index + 1) for index in range(len(losses))]
    return {"step": steps, "loss": losses, "stopped": None, "stopped_step": None,
            "seen": [{"kurtosis 0/x": value} for value in kurtosis]}


class VerdictTest(unittest.TestCase):
    def test_harm_lasts_to_the_end(self):
        healthy = training([4.0, 3.0, 2.0, 1.0], [3.0] * 4)
        for losses, harmed in (([4.0, 3.2, 2.2, 1.2], 20), ([4.0, 3.2, 2.0, 1.2], 40), ([4.0, 3.2, 2.2, 1.05], None),
                               ([4.0, 3.0, float("nan"), float("nan")], 30)):
            self.assertEqual(outliers_study.harmed_at(training(losses, [3.0] * 4), healthy), harmed)
        stopped = training([4.0, 3.0], [3.0] * 2) | {"stopped_step": 25}
        self.assertEqual(outliers_study.harmed_at(stopped, healthy), 25)

    def test_thresholds_are_of_other_seeds(self):
        results = {}
        for kind in outliers_study.KINDS:
            for seed in (11, 1):
                results[Run(kind, "fp8", "none", seed)] = training([4.0, 3.0, 2.0], [3.0, 3.0, 3.0 if seed == 11 else 7.0])
            for products in outliers_study.SCHEMES:
                results.setdefault(Run(kind, products, "none", 1), training([4.0, 3.0, 2.0], [3.0] * 3))
                for plant in outliers_study.PLANTS:
                    losses = [4.0, 3.0, 2.5 if (products, plant) == ("fp8", "channel") else 2.0]
                    results[Run(kind, products, plant, 1)] = training(losses, [3.0, 6.5, 9.0])
        summary = outliers_study.summary_of(results, outliers_study.SIZES["reduced"])
        self.assertEqual(summary["ceilings"]["llama"]["kurtosis"], 3.0)
        self.assertEqual(summary["false_alarms"]["fog"], dict.fromkeys(MONITORS, 0) | {"kurtosis": 1})
        row = summary["planted"]["llama fp8, channel grows, seed 1"]
        self.assertEqual((row["harmed"], row["warned"]["kurtosis"], row["lead"]["kurtosis"]), (30, 20, 10))
        self.assertEqual(list(summary["claims"].values()), [True, True, True, False, True, False])


class StudyTest(TextCase):
    def test_a_training_continues_from_its_checkpoint(self):
        text = corpus.prepare(self.folder, self.text)
        size = outliers_study.SIZES["reduced"]
        size = dataclasses.replace(size, schedule=dataclasses.replace(size.schedule, steps=6))
        for kind, given in (("fog", "fog"), ("llama", "nvfp4"), ("llama", "pams4")):
            definition = outliers_study.definition_of(Run(kind, "fp8", "channel", 1), size, text.digest())
            definition["scheme"] = outliers_study.scheme.given_json(given)
            whole = outliers_study.train(self.folder, "cpu", definition)
            with mock.patch.object(outliers_study, "CHECKPOINT", 2), mock.patch.object(
                    outliers_study.Trainer, "advance", autospec=True, side_effect=self.until(4)):
                with self.assertRaises(KeyboardInterrupt):
                    outliers_study.train(self.folder, "cpu", definition)
            self.assertTrue(outliers_study.checkpoint_file(self.folder, definition).exists())
            self.assertEqual(outliers_study.train(self.folder, "cpu", definition), whole, given)
            self.assertFalse(outliers_study.checkpoint_file(self.folder, definition).exists())

    @staticmethod
    def until(last: int):
        advance = outliers_study.Trainer.advance

        def stopping(trainer):
            if trainer.step == last:
                raise KeyboardInterrupt
            return advance(trainer)

        return stopping

    def test_the_reduced_form(self):
        done = subprocess.run(command("outliers", "--output", self.folder / "out", "--reduced", "--text", self.text,
                                      "--threads", 1, "--device", "cpu"), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("reduced form on the CPU", done.stdout)
        summary = json.loads((self.folder / "out" / "results.json").read_text())["summary"]
        self.assertEqual((summary["size"], summary["device"], len(summary["planted"])), ("reduced", "cpu", 8))
        self.assertTrue(summary["claims"]["they do not harm fog"])
        refused = subprocess.run(command("outliers", "--output", self.folder / "out", "--device", "cuda"),
                                 capture_output=True, text=True, check=False)
        if not outliers_study.torch.cuda.is_available():
            self.assertEqual(refused.returncode, 2)
            self.assertIn("--device cuda: PyTorch has no GPU here; use --device cpu", refused.stderr)


if __name__ == "__main__":
    unittest.main()
