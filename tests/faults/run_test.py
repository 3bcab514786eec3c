"""run.py notices a program that breaks the invariants, and says how to see it again. Usage: run_test.py"""
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def run(*arguments: str, breaks: str = "") -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-B", HERE / "run.py", *arguments, HERE / "broken_program.py"],
                          env=os.environ | {"EQUARX_BREAKS": breaks}, capture_output=True, text=True, check=False)


class RunTest(unittest.TestCase):
    def check_fails(self, breaks: str, fault: str, *words: str, kills: int = 6) -> None:
        done = run("--only", fault, "--kills", str(kills), "--seed", "1", breaks=breaks)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("FAILS: ", done.stdout)
        for word in words:
            self.assertIn(word, done.stdout)
        self.assertIn(f"again: tests/faults/run.py --only '{fault}' --seed 1", done.stdout)

    def test_a_program_that_keeps_the_invariants_passes(self):
        for fault in ("kill tune", "kill sweep"):
            done = run("--only", fault, "--kills", "3")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("3 tried, seed 1: 0 fail, 0 skipped", done.stdout)

    def test_half_a_file(self):
        self.check_fails("half", "kill tune", "best.json is not whole: 100 bytes of 8000")

    def test_lost_lines(self):
        self.check_fails("loses", "kill sweep", "lines that were finished are lost")

    def test_a_process_that_stays(self):
        self.check_fails("orphan", "kill tune", "processes were left")

    def test_an_end_by_a_signal(self):
        self.check_fails("aborts", "standard error is closed", "exit code -6", kills=0)

    def test_wrong_usage(self):
        for words in (["--only", "nothing"], ["--kills", "-1"]):
            done = run(*words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
