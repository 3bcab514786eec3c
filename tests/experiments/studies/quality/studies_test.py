"""The commands in their reduced form: their output, and their errors."""
import csv
import json
import os
import subprocess
import unittest

from quality import TextCase, command

import step_times
from gradients_study import schemes


def run(study: str, *arguments, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(command(study, *arguments), capture_output=True, text=True, check=False,
                          env=os.environ | environment)


class StudiesTest(TextCase):
    def check(self, study: str) -> dict:
        done = run(study, "--output", self.folder / study, "--reduced", "--text", self.text, "--threads", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        results = json.loads((self.folder / study / "results.json").read_text())
        with open(self.folder / study / "results.csv", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), len(results["rows"]))
        self.assertGreater((self.folder / study / f"{study}.png").stat().st_size, 10_000)
        return results

    def test_inference_shows_the_cost_of_a_bad_format(self):
        results = self.check("inference")
        loss = {(row["way"], row["ranks"]): row["kl_nats"] for row in results["rows"] if not row["only"]}
        self.assertLess(100 * loss["bf16", 8], loss["int4, one scale for 32768", 8])
        bad, bf16 = (next(row for row in results["rows"] if row["name"] == f"{way} over 8, seed 1")
                     for way in ("int4, one scale for 32768", "bf16"))
        self.assertLess(bf16["change_low"], 1e-4)
        self.assertGreater(bad["top1_agreement"], 0)
        again = run("inference", "--output", self.folder / "inference", "--reduced", "--text", self.text)
        self.assertIn("of 14 cells are there already", again.stdout)
        self.check_models(results)

    def check_models(self, results: dict) -> None:
        """Two models with perplexities of their own; means agree with their rows."""
        summary = results["summary"]
        self.assertNotEqual(*summary["exact_perplexity"].values())
        for way in summary["ways"]:
            rows = [row for row in results["rows"]
                    if (row["way"], row["ranks"], row["only"]) == (way["way"], way["ranks"], "")]
            self.assertEqual(way["seeds"], len(rows))
            self.assertAlmostEqual(way["kl_nats"], sum(row["kl_nats"] for row in rows) / len(rows))
            self.assertTrue(way["kl_low"] < way["kl_nats"] < way["kl_high"])
        self.assertEqual({(way["way"], way["ranks"]) for way in summary["ways"] if way["seeds"] == 2},
                         {("bf16", 2), ("int8 by 128", 2)})

    def test_weights_belong_to_their_text(self):
        where, other = self.folder / "texts", self.folder / "other.txt"
        other.write_text("a text of other words about nothing " * 2000)
        rows = []
        for text in (self.text, other, self.text):
            done = run("inference", "--output", where, "--reduced", "--text", text, "--threads", 1)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows.append(json.loads((where / "results.json").read_text())["summary"]["exact_perplexity"])
            for cell in where.glob("cells/bf16*"):
                cell.unlink()  # re-evaluated with the existing weights
        self.assertEqual(rows[0], rows[2])
        self.assertNotEqual(rows[0], rows[1])

    def test_products_compare_recipes(self):
        results = self.check("products")
        names = {row["name"] for row in results["rows"]}
        self.assertLessEqual({"llama bf16, seed 1", "fog fp8, seed 1"}, names)
        saturated = {row["name"]: row["saturated"] for row in results["rows"]}
        self.assertGreater(saturated["llama fp8, margin -6, seed 1"], 10 * saturated["llama fp8, seed 1"])
        forced = results["summary"]["forced"]
        for kind in ("llama", "fog"):
            doubled = forced[f"{kind} fp8, doubling rate, seed 1"]
            self.assertIsNotNone(doubled["diverged"])
            self.assertLess(doubled["warned"]["rms"], doubled["diverged"])
            self.assertRegex(forced[f"{kind} fp8, doubling rate, no saturation, seed 1"]["stopped"],
                             r"not finite in step \d+; first in [01]/\w+/\w+, where a value does not fit e[45]m")

    def test_fog_is_the_published_one_unless_the_adapted_one_is_asked_for(self):
        import products_study
        made = {fog: products_study.definitions({"schedule": {}}, True, fog) for fog in ("published", "adapted")}
        of = {fog: cells["fog fp8, seed 1"] for fog, cells in made.items()}
        self.assertEqual([of[fog]["shape"]["final_norm"] for fog in of], [False, True])
        self.assertEqual([of[fog]["shape"]["softmax_scale"] for fog in of], [0.125, None])
        weights = {fog: of[fog]["scheme"]["forward"]["weights"] for fog in of}
        self.assertEqual([weights[fog].get("history") for fog in of], [1024, None])
        self.assertEqual(*(cells["llama fp8, seed 1"] for cells in made.values()))
        self.assertEqual(run("products", "--output", self.folder / "none", "--fog", "other").returncode, 2)

    def test_the_rate_with_the_least_loss_is_chosen(self):
        done = run("rates", "--output", self.folder / "rates", "--reduced", "--text", self.text, "--threads", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        results = json.loads((self.folder / "rates" / "results.json").read_text())
        for kind, best in results["summary"]["best"].items():
            rows = [row for row in results["rows"] if row["kind"] == kind]
            self.assertEqual(best, min(rows, key=lambda row: row["validation"])["rate"])

    def test_feedback_takes_the_time_of_its_bytes(self):
        """For each of the 8.03e9 / 8 weights of a chip, 4 bytes are read and 4 written, at 0.8619
        of 3.35 TB/s."""
        seconds = step_times.of([scheme for scheme in schemes() if scheme.is_timed], step_times.NETWORKS[0])
        for name in ("int4, two-shot", "ZeRO++ int4"):
            self.assertAlmostEqual(seconds[f"{name}, feedback"] - seconds[name], 8 * 8.03e9 / 8 / (0.8619 * 3.35e12), 5)

    def test_networks_take_the_time_of_their_bytes(self):
        """2 x 7/8 of 8.03e9 / 8 gradients of each GPU, an eighth of a node's bandwidth to each."""
        some = [scheme for scheme in schemes() if scheme.name in ("bf16", "EQuARX int8", "int8, two-shot")]
        seconds = {network.name: step_times.of(some, network) for network in step_times.NETWORKS}
        slow = seconds["12.5 GB/s a node"]
        bytes_s = 1.75 * 8.03e9 / 8 / (12.5e9 / 8)
        self.assertAlmostEqual((slow["bf16"] - slow["int8, two-shot"]) / bytes_s, 1, delta=0.05)
        self.assertAlmostEqual(slow["EQuARX int8"] / slow["int8, two-shot"], 1, delta=0.05)
        for name in slow:
            times = [each[name] for each in seconds.values()]
            self.assertEqual(times, sorted(times, reverse=True), name)
        fast = seconds["50 GB/s a GPU"]
        self.assertLess(fast["bf16"] / fast["EQuARX int8"], 1.1)

    def test_gradients_have_times_over_every_network(self):
        summary = self.check("gradients")["summary"]
        self.assertEqual(set(summary["step_s"]), {network.name for network in step_times.NETWORKS})
        for network, seconds in summary["step_s"].items():
            for steps, reached in zip(summary["steps_to"], summary["reached_s"][network]):
                self.assertEqual(reached, {name: count * seconds[name] for name, count in steps.items()})
        self.assertEqual(summary["above_baseline"]["bf16"]["mean"], 0)

    def test_errors_are_one_line(self):
        short = self.folder / "short.txt"
        short.write_text("too short")
        none = self.folder / "none"
        none.mkdir()
        words = ("--text", self.text)
        (none / "torch.py").write_text("raise ImportError('none')\n")
        for arguments, environment, message in (
                (("--text", short), {}, "the text is too short"),
                (("--text", self.folder / "absent.txt"), {}, "cannot read"),
                (("--threads", 0), {}, "use 1 or more"),
                (("--threads", "many"), {}, "invalid int value: 'many'; see --help"),
                (("--output", short, *words), {}, "--output: cannot write"),
                (("--output", "/proc/none", *words), {}, "--output: cannot write"),
                ((), {"PYTHONPATH": f"{none}:{os.environ['PYTHONPATH']}"}, "apt-get install python3-torch")):
            done = run("inference", "--output", self.folder / "wrong", "--reduced", *arguments, **environment)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
