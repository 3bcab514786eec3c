"""run.py detects a program that violates the invariants, and prints how to reproduce it. Usage:
run_test.py"""
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
        self.assertIn(f"reproduce: tests/faults/run.py --only '{fault}' --seed 1", done.stdout)

    def test_a_program_that_keeps_the_invariants_passes(self):
        for fault in ("kill tune", "kill sweep"):
            done = run("--only", fault, "--kills", "3")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("3 tried, seed 1: 0 fail, 0 skipped", done.stdout)

    def test_a_partial_file(self):
        self.check_fails("half", "kill tune", "best.json is incomplete: 100 bytes of 8000")

    def test_lost_lines(self):
        self.check_fails("loses", "kill sweep", "finished lines are lost")

    def test_a_remaining_process(self):
        self.check_fails("orphan", "kill tune", "processes did not end")

    def test_termination_by_a_signal(self):
        self.check_fails("aborts", "standard error is closed", "exit code -6", kills=0)

    def test_wrong_usage(self):
        for words in (["--only", "nothing"], ["--kills", "-1"]):
            done = run(*words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
