"""`equarx-sim reproduce` of the study of stored weights: its reduced form, an interruption, and an error."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from quality import STUDIES, text_file

from stored_weights import methods

PROGRAM = os.environ["EQUARX_SIM"]
STUDY = STUDIES / "stored" / "study.json"


def figure(results: dict, pointer: str):
    """The value at a JSON pointer without escapes."""
    for key in pointer.split("/")[1:]:
        results = results[key]
    return results


class ReproduceTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.study = json.loads(STUDY.read_text())

    def command(self, text: pathlib.Path) -> list[str]:
        """Writes the reduced study: figures of its methods."""
        reduced = [f"/{method.name}, {method.bits} bits/" for method in methods(reduced=True)]
        rows = [row for row in self.study["rows"] if any(name in row["metric"] for name in reduced)]
        self.assertIn("closed form", {row["role"] for row in rows})
        script = self.study["script"] | {"command": [
            str(STUDY.parent / part) if part.endswith(".py") else part for part in self.study["script"]["command"]]}
        script["command"] += ["--reduced", "--text", str(text)]
        (self.folder / "study.json").write_text(json.dumps(self.study | {"script": script, "rows": rows}))
        return [PROGRAM, "reproduce", str(self.folder), "-o", str(self.folder / "out"), "-j", "1"]

    def run_study(self, text: pathlib.Path) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(text), capture_output=True, text=True, check=False)

    def test_rows_are_figures_of_methods(self):
        names = {f"{method.name}, {method.bits} bits" for method in methods()}
        found = {row["metric"].split("/")[3] for row in self.study["rows"] if "/methods/" in row["metric"]}
        self.assertGreater(len(found), 30)
        self.assertLessEqual(found, names)

    def test_reduced_after_an_interruption(self):
        command = self.command(text_file(self.folder))
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            for line in process.stderr:
                if line.startswith("[1/"):
                    process.send_signal(signal.SIGTERM)
                    break
            messages = process.stderr.read()
            self.assertEqual(process.wait(), 128 + signal.SIGTERM, messages)
        self.assertIn("stopped by signal 15; run the same command again", messages)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cells are there already", done.stderr)
        self.assertIn(self.study["title"], done.stdout)
        results = json.loads((self.folder / "out" / "script" / "results.json").read_text())
        rows = json.loads((self.folder / "out" / "study.json").read_text())["rows"]
        for row in rows:
            self.assertEqual(row["simulated"], figure(results, row["metric"]), row["id"])
        self.assertTrue(all(row["within_tolerance"] for row in rows if row["role"] == "closed form"))

    def test_an_error_of_the_script_is_the_last_line(self):
        done = self.run_study(self.folder / "absent.txt")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1],
                         "equarx-sim: the script failed with exit code 2: stored.py: error: --text: cannot read ")


if __name__ == "__main__":
    unittest.main()
