"""A killed study resumes after a kill at any moment, with the results of an undisturbed one."""
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

from quality import command, text_file

KILLS = int(os.environ.get("EQUARX_KILLS", "0"))  # of each study; 0 for one kill of some


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{process}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def children_of(process: int) -> list[int]:
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except FileNotFoundError:
        return []


class KillTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.text = text_file(self.folder)

    def arguments(self, study: str, where: str) -> list[str]:
        return command(study, "--output", self.folder / where, "--reduced", "--text", self.text, "--threads", 2)

    def finished(self, study: str, where: str) -> dict[str, str]:
        """Its output, by file."""
        done = subprocess.run(self.arguments(study, where), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {name: (self.folder / where / name).read_text() for name in ("results.json", "results.csv")}

    def killed(self, study: str, where: str, after: float) -> None:
        """Starts it, and kills it after so many seconds, as the kernel does when out of memory: its
        processes get no signal."""
        process = subprocess.Popen(self.arguments(study, where), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(after)
        children = children_of(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + 30
        while any(map(is_running, children)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse([child for child in children if is_running(child)], "processes did not end")

    def check(self, study: str) -> None:
        begin = time.monotonic()
        expected = self.finished(study, "whole")
        takes = time.monotonic() - begin
        moments = random.Random(study)
        for _ in range(max(KILLS, 1)):
            self.killed(study, "killed", moments.uniform(0.2, 0.9) * takes)
        self.assertEqual(self.finished(study, "killed"), expected)

    def test_inference(self):
        self.check("inference")

    def test_gradients(self):
        self.check("gradients")

    @unittest.skipUnless(KILLS, "asked for by EQUARX_KILLS=5")
    def test_products(self):
        self.check("products")

    @unittest.skipUnless(KILLS, "asked for by EQUARX_KILLS=5")
    def test_rates(self):
        self.check("rates")


if __name__ == "__main__":
    unittest.main()
