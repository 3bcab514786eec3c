"""Progress output of long commands on a terminal, and their messages when stopped by a signal.

Usage: terminal_test.py EQUARX_SIM [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

import terminal

PROGRAM = ""
ERASE = "\r\x1b[K"
# Many messages simulated by SimGrid; about a second in total.
LONG_RUN = {
    "hardware": "tpu-v5e",
    "topology": {"slice": "4x4"},
    "tensor": {"bytes": "8 MiB"},
    "collectives": [{"label": "bf16", "algorithm": "two-shot", "minishards": 16}],
    "numerics": "off",
    "simulation": "full",
    "engine": "simgrid",
}


class TerminalCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="equarx-terminal-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def config(self, **changes) -> str:
        (self.folder / "config.json").write_text(json.dumps(LONG_RUN | changes))
        return "config.json"

    def seen(self, *words: str, **how) -> str:
        """Runs a command on a terminal and returns its standard error."""
        code, text = terminal.seen([PROGRAM, *words], cwd=self.folder, **how)
        self.assertEqual(code, 0)
        return text


class Progress(TerminalCase):
    def test_a_run_shows_part_fraction_and_remaining_time(self):
        for engine, shape in (("simgrid", "4x4"), ("direct", "8x8")):
            with self.subTest(engine):
                text = self.seen("run", self.config(engine=engine, topology={"slice": shape}))
                self.assertRegex(text, r"1 of 1: bf16: simulating \d+ messages: \d+ %, \d+ s left")
                self.assertTrue(text.endswith(ERASE))

    def test_numerics_show_progress(self):
        many = {"tensor": {"bytes": "64 MiB"}, "numerics": "on", "topology": {"slice": "4x4"},
                "collectives": [{"algorithm": "ring"}]}
        self.assertRegex(self.seen("run", self.config(**many)),
                         r"1 of 2: ring bf16: computing the values of 16 ranks: \d+ %")

    def test_lines_fit_the_terminal(self):
        text = self.seen("run", self.config(), columns=30)
        lines = text.split(ERASE)
        self.assertGreater(len(lines), 2)
        self.assertLessEqual(max(map(len, lines)), 29)
        sweep = {"base": LONG_RUN | {"topology": {"slice": "2x2"}},
                 "axes": [{"key": "/tensor/values/seed", "range": {"from": 1, "to": 40, "step": 1}}]}
        (self.folder / "sweep.json").write_text(json.dumps(sweep))
        lines = self.seen("sweep", "sweep.json", columns=40).split(ERASE)
        self.assertLessEqual(max(map(len, lines)), 39)

    def test_a_terminal_that_cannot_erase_gets_no_line_to_erase(self):
        for kind in ("dumb", ""):
            text = self.seen("run", self.config(), terminal=kind)
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\r", text.replace("\r\n", ""))


class Signals(TerminalCase):
    def is_writing(self, process: int) -> bool:
        """True if the process has an unnamed new file in the folder."""
        links = [os.readlink(link) for link in pathlib.Path(f"/proc/{process}/fd").iterdir() if link.is_symlink()]
        return any(link.startswith(str(self.folder)) and link.endswith(" (deleted)") for link in links)

    def stopped(self, ending: signal.Signals, *words: str, writes: bool = False) -> str:
        """Stops a running command by a signal and returns its standard error. `writes`: wait until it writes a file."""
        child = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 30
        while writes and not self.is_writing(child.pid):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        time.sleep(0.1 if writes else 0.5)
        child.send_signal(ending)
        _, err = child.communicate(timeout=30)
        self.assertEqual(child.returncode, -ending)
        return err

    def long(self) -> str:
        return self.config(tensor={"bytes": "64 MiB"}, topology={"slice": "8x8"},
                           collectives=[{"algorithm": "two-shot", "minishards": 64}])

    def test_a_stopped_run_reports_its_output(self):
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(ending):
                self.assertEqual(self.stopped(ending, "run", self.long()),
                                 f"equarx-sim: stopped by signal {int(ending)}; no result\n")

    def test_a_stopped_run_leaves_no_partial_trace_and_keeps_an_older_one(self):
        (self.folder / "trace.json").write_text("older")
        err = self.stopped(signal.SIGINT, "run", self.config(), "--trace", "trace.json", writes=True)
        self.assertEqual(err, "equarx-sim: stopped by signal 2; trace.json was not written\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["config.json", "trace.json"])
        self.assertEqual((self.folder / "trace.json").read_text(), "older")

    def test_a_stopped_tune_leaves_no_partial_configuration(self):
        config = self.config(tensor={"bytes": "256 MiB"}, numerics="on", collectives=[{"algorithm": "ring"}])
        err = self.stopped(signal.SIGTERM, "tune", config, "-o", "best.json", writes=True)
        self.assertIn("equarx-sim: stopped by signal 15; best.json was not written\n", err)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["config.json"])

    def test_ignored_signals_stay_ignored(self):
        child = subprocess.Popen([PROGRAM, "run", self.config()], cwd=self.folder, stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.PIPE,
                                 preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(0.2)
        child.send_signal(signal.SIGHUP)
        out, err = child.communicate(timeout=60)
        self.assertEqual((child.returncode, err), (0, ""))
        self.assertRegex(out, re.compile(r"^AllReduce"))


class StandardInput(TerminalCase):
    def ran(self, *words: str, text: str):
        return subprocess.run([PROGRAM, *words], cwd=self.folder, input=text, capture_output=True, text=True,
                              check=False)

    def test_a_configuration_may_come_from_standard_input(self):
        small = json.dumps(LONG_RUN | {"topology": {"slice": "2x2"}})
        (self.folder / "c.json").write_text(small)
        for command in ("run", "show"):
            self.assertEqual(self.ran(command, "-", text=small).stdout, self.ran(command, "c.json", text="").stdout)
        self.assertEqual(self.ran("validate", "-", text=small).stdout, "standard input: valid\n")
        shown = self.ran("show", "-", "--set", "/hardware=tpu-v6e", text=small).stdout
        self.assertEqual(json.loads(shown)["hardware"], "tpu-v6e")

    def test_errors_name_standard_input(self):
        for text, part in (("", "standard input: "), ("{", "standard input: "),
                           (json.dumps(LONG_RUN | {"hardwear": 1}), "standard input: /hardwear: unknown key")):
            for command in ("run", "show", "tune"):
                done = self.ran(command, "-", text=text)
                self.assertEqual(done.returncode, 2)
                self.assertTrue(done.stderr.startswith("equarx-sim: error: " + part), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
