"""Studies of schemes: verdicts, the reduced form, and a scheme of the user."""
import json
import subprocess
import unittest

from quality import STUDIES, TextCase, command

import schemes_study
from schemes_study import Claim

PUBLISHED = STUDIES.parent / "published"


class VerdictTest(unittest.TestCase):
    def test_a_hit_needs_every_seed(self):
        losses = {"a": [1.0, 2.0], "b": [1.1, 2.1], "c": [0.9, 2.2]}
        rows = schemes_study.claims_of([Claim("a", "b", "x"), Claim("b", "a", "x"), Claim("a", "c", "x"),
                                        Claim("b", "a", "x", within=0.11)], losses)
        self.assertEqual([row["verdict"] for row in rows], ["hit", "miss", "undecided", "hit"])
        self.assertAlmostEqual(rows[2]["worst"], 0.1)
        self.assertEqual(rows[3]["claim"], "b at most 11.0% worse than a (x)")

    def test_a_training_that_stopped_is_worse_than_any(self):
        self.assertEqual(schemes_study.final({"stopped": "step 3", "held_out": [2.0]}), float("inf"))

    def test_ablations_leave_keys_out(self):
        made = schemes_study.fp4_schemes()
        self.assertEqual(made["fp4, DGE only"]["forward"]["activations"], made["fp4-direct"]["forward"]["activations"])
        self.assertEqual(made["fp4, OCC only"]["forward"]["weights"], made["fp4-direct"]["forward"]["weights"])


class StudyTest(TextCase):
    def run_study(self, *arguments) -> subprocess.CompletedProcess:
        return subprocess.run(command("schemes", "--output", self.folder / "out", "--reduced", "--text", self.text,
                                      "--threads", 1, *arguments), capture_output=True, text=True, check=False)

    def test_the_reduced_form_with_a_scheme_of_the_user(self):
        own = self.folder / "own.json"
        own.write_text(json.dumps({"forward": {"weights": {"code": "int3", "groups": "row", "scale": "exact"}}}))
        done = self.run_study("--study", "fp4", "--scheme", own, "--scheme", "e8m2")
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads((self.folder / "out" / "results.json").read_text())["summary"]
        self.assertEqual(len(summary["claims"]), 5)
        losses = {name: row["mean"] for name, row in summary["losses"].items()}
        self.assertEqual(len(set(losses.values())), 8)  # every scheme has its own arithmetic
        self.assertIn(str(own), losses)
        self.check_rows("fp4")

    def check_rows(self, study: str) -> None:
        """Every row of a published study names a number of the results, and a known relation."""
        results = json.loads((self.folder / "out" / "results.json").read_text())
        for row in json.loads((PUBLISHED / study / "study.json").read_text())["rows"]:
            value = results
            for key in row["metric"].split("/")[1:]:
                value = value[int(key) if isinstance(value, list) else key]
            self.assertIsInstance(value, (int, float), row["id"])
            self.assertIn(row.get("relation", "equals"), ("equals", "at most"), row["id"])

    def test_the_other_studies(self):
        for study in ("masks", "pams"):
            self.assertEqual(self.run_study("--study", study).returncode, 0)
            self.check_rows(study)

    def test_errors_are_one_line(self):
        own = self.folder / "own.json"
        own.write_text(json.dumps({"forward": {"weights": {"code": "int3"}}}))
        for arguments, message in ((("--scheme", "absent"), "scheme 'absent': cannot read absent"),
                                   (("--scheme", own), "own.json/forward/weights/scale: 'none' is not possible"),
                                   (("--study", "other"), "invalid choice: 'other'")):
            done = self.run_study(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
