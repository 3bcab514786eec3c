"""Sweeps from the command line: started, killed, resumed, sharded, refused.

Usage: sweep_test.py EQUARX_SIM [unittest arguments]
"""
import csv
import json
import os
import pathlib
import random
import resource
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
WRONG_INPUT = 2
SOME_FAILED = 1


def small_sweep(sizes=8, minishards=5, slices=("4x2", "2x2")):
    """Fast points: times only, of few chips."""
    return {
        "base": {
            "hardware": "tpu-v5e",
            "topology": {"slice": "4x2"},
            "tensor": {"bytes": "64 KiB"},
            "collectives": [
                {"label": "bf16", "algorithm": "ring", "format": "bf16"},
                {"label": "int8", "algorithm": "equarx", "format": "int8"},
            ],
            "numerics": "off",
        },
        "axes": [
            {"key": "/topology/slice", "values": list(slices)},
            {"key": "/collectives/int8/minishards", "range": {"from": 1, "to": minishards, "step": 1}},
            {"key": "/tensor/bytes",
             "range": {"from": "64 KiB", "to": f"{64 * sizes} KiB", "step": "64 KiB"}},
        ],
    }


class SweepCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="equarx-sweep-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, sweep, name="sweep.json"):
        path = self.folder / name
        path.write_text(json.dumps(sweep))
        return path

    def command(self, sweep, out, *more):
        return [PROGRAM, "sweep", str(sweep), "-o", str(self.folder / out), *more]

    def run_sweep(self, sweep, out="out", *more, code=0, **options):
        done = subprocess.run(self.command(sweep, out, *more), capture_output=True, text=True,
                              timeout=120, cwd=self.folder, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def lines(self, out="out"):
        text = (self.folder / out / "results.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def rows(self, out="out"):
        with (self.folder / out / "results.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def wait_for_lines(self, out, count):
        file = self.folder / out / "results.jsonl"
        end = time.monotonic() + 60
        while not file.exists() or file.read_bytes().count(b"\n") < count:
            self.assertLess(time.monotonic(), end, "the sweep does not get on")
            time.sleep(0.005)


class Results(SweepCase):
    def test_rows_equal_those_of_single_runs(self):
        sweep = small_sweep(sizes=2, minishards=1)
        # the default in a sweep, but not for a single run of this size
        sweep["base"]["engine"] = "direct"
        self.run_sweep(self.write(sweep))
        rows = self.rows()
        self.assertEqual([row["point"] for row in rows], list("00112233"))
        self.assertEqual([row["label"] for row in rows], ["bf16", "int8"] * 4)
        self.assertEqual([row["/tensor/bytes"] for row in rows][::2], ["64 KiB", "128 KiB"] * 2)
        config = self.folder / "config.json"
        config.write_text(json.dumps(sweep["base"]))
        single = json.loads(subprocess.check_output(
            [PROGRAM, "run", config, "--json", "--set", "/topology/slice=2x2", "--set",
             "/collectives/1/minishards=1", "--set", "/tensor/bytes=128 KiB"]))
        lines = [line for line in self.lines() if line["point"] == 3]
        self.assertEqual([line["run"] for line in lines], single["runs"])
        self.assertEqual([line["config"] for line in lines], [single["config"]] * 2)
        for row, run in zip(rows[-2:], single["runs"]):
            self.assertEqual(float(row["time_s"]), run["time_s"])
            self.assertEqual(float(row["breakdown/payload_s"]), run["breakdown"]["payload_s"])
        self.assertEqual([row["tensor_bytes"] for row in rows][::2], ["65536", "131072"] * 2)
        self.assertEqual([row["topology"] for row in rows][::4], ["slice 4x2", "slice 2x2"])
        self.assertEqual({(row["label"], row["hardware"], row["format"], row["quantize"]) for row in rows},
                         {("bf16", "tpu-v5e", "bf16", ""), ("int8", "tpu-v5e", "int8", "both")})

    def test_a_changed_chip_is_labelled_by_its_changes(self):
        sweep = small_sweep(sizes=1, minishards=1, slices=("2x2",))
        sweep["axes"].append({"key": "/hardware/link_bandwidth", "values": ["45 GB/s", "90 GB/s"]})
        self.run_sweep(self.write(sweep))
        self.assertEqual([row["hardware"] for row in self.rows()][1::2],
                         ["tpu-v5e", "tpu-v5e (link_bandwidth 90 GB/s)"])

    def test_workers_compute_the_same_values(self):
        sweep = small_sweep(sizes=1, minishards=2, slices=("2x2",))
        sweep["base"] |= {"numerics": "on", "engine": "direct"}
        self.run_sweep(self.write(sweep))
        config = self.folder / "config.json"
        config.write_text(json.dumps(sweep["base"]))
        single = json.loads(subprocess.check_output(
            [PROGRAM, "run", config, "--json", "--set", "/topology/slice=2x2", "--set",
             "/collectives/1/minishards=2"]))
        self.assertEqual([line["run"] for line in self.lines() if line["point"] == 1], single["runs"])
        self.assertEqual(float(self.rows()[-1]["numerics/mse"]), single["runs"][1]["numerics"]["mse"])

    def test_a_repeated_sweep_computes_nothing(self):
        sweep = self.write(small_sweep(sizes=2))
        self.assertIn("20 computed now", self.run_sweep(sweep).stdout)
        before = (self.folder / "out" / "results.jsonl").read_bytes()
        (self.folder / "out" / "results.csv").unlink()
        self.assertIn("0 computed now", self.run_sweep(sweep).stdout)
        self.assertEqual((self.folder / "out" / "results.jsonl").read_bytes(), before)
        self.assertEqual(len(self.rows()), 40)

    def test_an_extended_sweep_computes_only_new_points(self):
        self.run_sweep(self.write(small_sweep(sizes=2)))
        self.assertIn("10 computed now", self.run_sweep(self.write(small_sweep(sizes=3))).stdout)
        self.run_sweep(self.write(small_sweep(sizes=3)), "anew")
        self.assertEqual(self.rows(), self.rows("anew"))

    def test_points_with_the_same_meaning_are_computed_once(self):
        sweep = small_sweep(sizes=1, minishards=1, slices=("2x2",))
        sweep["axes"][2] = {"key": "/tensor/bytes", "values": ["1 MiB", "1024 KiB"]}
        self.assertIn("1 computed now", self.run_sweep(self.write(sweep)).stdout)
        self.assertEqual([row["/tensor/bytes"] for row in self.rows()],
                         ["1 MiB"] * 2 + ["1024 KiB"] * 2)

    def test_failing_points_are_recorded_and_the_rest_continues(self):
        sweep = small_sweep(sizes=1, minishards=1)
        sweep["axes"][0] = {"key": "/topology", "values": [{"mesh": "3x7"}, {"mesh": "4x2"}]}
        done = self.run_sweep(self.write(sweep), code=SOME_FAILED)
        self.assertIn("1 failed", done.stdout)
        self.assertRegex(done.stderr, r'^equarx-sim: 1 failed: {"mesh":"3x7"} 1 64 KiB: .*3x7.*\n$')
        failed = [line for line in self.lines() if "error" in line]
        self.assertEqual([line["point"] for line in failed], [0])
        self.assertIn("3x7", failed[0]["error"])
        self.assertEqual([row["error"] != "" for row in self.rows()], [True, False, False])
        again = self.run_sweep(self.write(sweep), code=SOME_FAILED)
        self.assertIn("0 computed now, 1 failed", again.stdout)
        self.assertIn("1 computed now, 1 failed",
                      self.run_sweep(self.write(sweep), "out", "--retry", code=SOME_FAILED).stdout)

    def test_points_that_do_not_fit_are_results(self):
        sweep = small_sweep(sizes=1, minishards=1, slices=("4x2",))
        sweep["axes"][2] = {"key": "/tensor/bytes", "values": ["64 KiB", "64 GiB", "128 GiB"]}
        sweep["base"]["numerics"] = "off"
        done = self.run_sweep(self.write(sweep))
        self.assertIn("3 points, 3 computed now, 2 do not fit, 0 failed", done.stdout)
        self.assertRegex(done.stderr, r"^equarx-sim: 2 do not fit, the first: 4x2 1 64 GiB: .*128.0 GiB.*HBM.*\n$")
        self.assertEqual([line.get("needs_bytes") for line in sorted(self.lines(), key=lambda line: line["point"])], [None, None, 2 * 2**36, 2 * 2**37])
        self.assertEqual([row["status"] for row in self.rows()], ["", "", "does not fit", "does not fit"])
        self.assertIn("0 computed now, 2 do not fit, 0 failed", self.run_sweep(self.write(sweep), "out", "--retry").stdout)
        page = subprocess.run([PROGRAM, "report", self.folder / "out/results.jsonl", "-o", self.folder / "r.html"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(page.stderr, "")
        self.assertIn('"does not fit"', (self.folder / "r.html").read_text())

    def test_points_with_the_same_error_are_reported_once(self):
        sweep = small_sweep(sizes=2, minishards=2)
        sweep["axes"][0] = {"key": "/topology", "values": [{"mesh": "3x7"}, {"mesh": "4x2"}]}
        done = self.run_sweep(self.write(sweep), code=SOME_FAILED)
        self.assertRegex(done.stderr, r'^equarx-sim: 4 failed, the first: {"mesh":"3x7"} 1 64 KiB: .*\n$')

    def test_a_point_that_fails_again_is_not_a_repeated_run(self):
        sweep = small_sweep(sizes=1, minishards=1)
        sweep["axes"][0] = {"key": "/topology", "values": [{"mesh": "3x7"}, {"mesh": "4x2"}]}
        self.run_sweep(self.write(sweep), code=SOME_FAILED)
        self.run_sweep(self.write(sweep), "out", "--retry", code=SOME_FAILED)
        done = subprocess.run([PROGRAM, "report", self.folder / "out/results.jsonl", "-o", self.folder / "r.html"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")

    def test_a_point_whose_process_dies_fails_alone(self):
        sweep = small_sweep(sizes=12)
        child = subprocess.Popen(self.command(self.write(sweep), "out", "--jobs", "1"),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for_lines("out", 4)
        workers = pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        os.kill(int(workers[0]), signal.SIGKILL)
        self.assertEqual(child.wait(60), SOME_FAILED)
        failed = [line for line in self.lines() if "error" in line]
        self.assertEqual(len(failed), 1)
        self.assertIn("signal 9", failed[0]["error"])
        self.run_sweep(self.write(sweep), "out", "--retry")
        self.assertEqual({row["error"] for row in self.rows()}, {""})

    def test_dry_run_computes_nothing(self):
        out = self.run_sweep(self.write(small_sweep(sizes=2)), "out", "--dry-run").stdout
        self.assertIn("20 points", out)
        self.assertIn("20 of this run's 20 points to compute", out)
        self.assertFalse((self.folder / "out").exists())


class EarlierStates(SweepCase):
    """The same folder, after the sweep was changed."""

    def sweep_on(self, hardware):
        sweep = small_sweep(sizes=2, minishards=1)
        sweep["base"]["hardware"] = hardware
        return self.write(sweep)

    def report(self):
        page = self.folder / "report.html"
        done = subprocess.run([PROGRAM, "report", self.folder / "out/results.jsonl", "-o", page],
                              capture_output=True, text=True, check=True)
        return page.read_text(), done.stderr

    def test_rows_of_another_base_are_reported_and_distinguished(self):
        self.assertEqual(self.run_sweep(self.sweep_on("tpu-v5e")).stderr, "")
        self.assertNotIn('"key":"/hardware"', self.report()[0])
        bases = {line["base"] for line in self.lines()}
        self.assertEqual(len(bases), 1)
        done = self.run_sweep(self.sweep_on("tpu-v6e"))
        self.assertIn('results.jsonl: 8 rows from another base: /hardware was "tpu-v5e" and is "tpu-v6e"; ',
                      done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(len(self.lines()), 16)
        self.assertEqual(len({line["base"] for line in self.lines()}), 2)
        page, _ = self.report()
        self.assertIn('"key":"/hardware"', page)
        self.assertIn('"tpu-v5e","tpu-v6e"', page)

    def test_set_changes_the_base(self):
        sweep = self.sweep_on("tpu-v5e")
        self.run_sweep(sweep, "out", "--set", "/hardware=tpu-v6e", "--set", "/collectives/int8/ring=semi-loop")
        self.assertEqual({(line["config"]["hardware"], line["config"]["collectives"][1]["ring"])
                          for line in self.lines()}, {("tpu-v6e", "semi-loop")})
        self.assertIn("8 rows from another base: /hardware", self.run_sweep(sweep).stderr)

    def test_excluded_points_do_not_change_the_base(self):
        self.run_sweep(self.write(small_sweep(sizes=3, minishards=1)))
        self.assertEqual(self.run_sweep(self.sweep_on("tpu-v5e")).stderr, "")

    def test_an_equivalent_base_is_the_same(self):
        self.run_sweep(self.sweep_on("tpu-v5e"))
        sweep = small_sweep(sizes=2, minishards=1)
        sweep["base"] |= {"baseline": "bf16", "tensor": {"bytes": "65536 B"}}
        done = self.run_sweep(self.write(sweep))
        self.assertIn("0 computed now", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_rows_of_earlier_contents_of_a_file_are_excluded_from_reports(self):
        chip = json.loads(subprocess.check_output([PROGRAM, "hardware", "tpu-v5e", "--json"]))
        file = self.folder / "chip.json"
        file.write_text(json.dumps(chip))
        self.run_sweep(self.sweep_on(str(file)))
        chip["parameters"]["link_bandwidth"]["value"] = "20 GB/s"
        file.write_text(json.dumps(chip))
        done = self.run_sweep(self.sweep_on(str(file)))
        self.assertIn("8 rows from earlier contents of files named in the configuration", done.stderr)
        self.assertIn("8 rows are from an earlier state of the sweep", self.report()[1])


class Interruptions(SweepCase):
    def test_killed_at_any_moment_and_resumed(self):
        sweep = self.write(small_sweep(sizes=8))
        self.run_sweep(sweep, "whole")
        random_numbers = random.Random(os.environ.get("EQUARX_TEST_SEED", "7"))
        stored = 0
        for _ in range(6):
            child = subprocess.Popen(self.command(sweep, "killed"), stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            file = self.folder / "killed" / "results.jsonl"
            time.sleep(random_numbers.uniform(0.01, 0.4))
            child.kill()
            child.wait()
            if file.exists():
                whole = file.read_bytes().rpartition(b"\n")[0].split(b"\n")
                self.assertGreaterEqual(len(whole), stored)
                stored = len(whole)
        self.run_sweep(sweep, "killed")
        self.assertEqual(self.rows("killed"), self.rows("whole"))
        key = lambda line: (line["point"], line["run"]["label"])
        self.assertEqual(sorted(self.lines("killed"), key=key), sorted(self.lines("whole"), key=key))

    def test_no_process_outlives_the_sweep(self):
        sweep = self.write(small_sweep(sizes=20))
        for ending in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            out = f"out{int(ending)}"
            child = subprocess.Popen(self.command(sweep, out), stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            self.wait_for_lines(out, 2)
            child.send_signal(ending)
            child.wait(30)
            end = time.monotonic() + 10
            marker = str(self.folder / out)
            while marker in subprocess.check_output(["ps", "-eo", "args"], text=True):
                self.assertLess(time.monotonic(), end, "a worker is left")
                time.sleep(0.02)

    def test_signals_keep_finished_points(self):
        sweep = self.write(small_sweep(sizes=20))
        done = 0
        for ending in (signal.SIGINT, signal.SIGTERM):
            child = subprocess.Popen(self.command(sweep, "out"), stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
            self.wait_for_lines("out", done + 4)
            child.send_signal(ending)
            _, err = child.communicate(timeout=30)
            self.assertEqual(child.returncode, 128 + ending)
            self.assertIn(f"stopped by signal {int(ending)}", err)
            self.assertGreaterEqual(len(self.lines()), done + 4)
            done = len(self.lines())
        self.run_sweep(sweep)
        self.assertEqual(len(self.rows()), 400)

    def test_a_truncated_file_is_reported_and_repaired(self):
        sweep = self.write(small_sweep(sizes=2))
        self.run_sweep(sweep)
        rows = self.rows()
        file = self.folder / "out" / "results.jsonl"
        os.truncate(file, file.stat().st_size - 100)
        done = self.run_sweep(sweep)
        self.assertIn("2 broken or incomplete lines ignored", done.stderr)
        self.assertIn("1 computed now", done.stdout)
        self.assertEqual(self.rows(), rows)

    def test_a_full_disk_ends_it_and_loses_nothing(self):
        sweep = self.write(small_sweep(sizes=4))
        limit = 20_000

        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the limit is then an error of write()
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = self.run_sweep(sweep, code=WRONG_INPUT, preexec_fn=limit_files, restore_signals=False)
        self.assertIn("free some space and run the same command again", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        file = self.folder / "out" / "results.jsonl"
        self.assertTrue(file.read_bytes().endswith(b"\n"))
        before = len(self.lines())
        self.assertGreater(before, 2)
        done = self.run_sweep(sweep)
        self.assertNotIn("broken", done.stderr)
        self.assertIn(f"{40 - before // 2} computed now", done.stdout)


class Shards(SweepCase):
    def test_shards_merge_by_concatenation(self):
        sweep = self.write(small_sweep(sizes=3))
        self.run_sweep(sweep, "whole")
        points = []
        (self.folder / "merged").mkdir()
        with (self.folder / "merged" / "results.jsonl").open("wb") as merged:
            for i in range(1, 5):
                self.run_sweep(sweep, f"shard{i}", "--shard", f"{i}/4")
                points += sorted({line["point"] for line in self.lines(f"shard{i}")})
                merged.write((self.folder / f"shard{i}" / "results.jsonl").read_bytes())
        self.assertEqual(sorted(points), list(range(30)))
        self.assertIn("0 computed now", self.run_sweep(sweep, "merged").stdout)
        self.assertEqual(self.rows("merged"), self.rows("whole"))

    def test_more_shards_than_points(self):
        sweep = self.write(small_sweep(sizes=1, minishards=1))
        self.assertIn("0 points", self.run_sweep(sweep, "out", "--shard", "7/7").stdout)

    def test_shards_have_folders_of_their_own(self):
        sweep = self.write(small_sweep(sizes=1, minishards=1), "tiny.json")
        subprocess.run([PROGRAM, "sweep", sweep, "--shard", "2/2"], cwd=self.folder, check=True,
                       capture_output=True)
        self.assertTrue((self.folder / "results/tiny/shard-2-of-2/results.csv").exists())

    def test_wrong_shards(self):
        sweep = self.write(small_sweep())
        for shard in ("0/2", "3/2", "1", "1/", "/2", "1/2/3", "a/b", "-1/2", "1/0"):
            done = self.run_sweep(sweep, "out", f"--shard={shard}", code=WRONG_INPUT)
            self.assertIn("expected i/n", done.stderr)


class Refusals(SweepCase):
    def refused(self, done, text):
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(done.stdout, "")

    def test_set_of_an_axis(self):
        sweep = self.write(small_sweep())
        self.refused(self.run_sweep(sweep, "out", "--set", "/tensor/bytes=1 MiB", code=WRONG_INPUT),
                     "sweep.json: /axes/2: --set /tensor/bytes: the sweep varies /tensor/bytes; ")
        self.refused(self.run_sweep(sweep, "out", "--set", "/hardwear=x", code=WRONG_INPUT), "unknown key 'hardwear'")
        self.refused(self.run_sweep(sweep, "out", "--set", "hardware", code=WRONG_INPUT), "--set hardware: expected")

    def test_two_sweeps_into_one_folder(self):
        sweep = self.write(small_sweep(sizes=20))
        first = subprocess.Popen(self.command(sweep, "out"), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(first.wait)
        self.addCleanup(first.terminate)
        self.wait_for_lines("out", 2)
        second = self.run_sweep(sweep, code=WRONG_INPUT)
        self.refused(second, f"another sweep or study (process {first.pid}) is writing to")

    def test_results_of_another_version(self):
        sweep = self.write(small_sweep(sizes=1))
        self.run_sweep(sweep)
        file = self.folder / "out" / "results.jsonl"
        old = file.read_text().replace('"version":"', '"version":"0.0.')
        file.write_text(old)
        self.refused(self.run_sweep(sweep, code=WRONG_INPUT), "--fresh")
        self.assertEqual(file.read_text(), old)
        done = self.run_sweep(sweep, "out", "--fresh")
        self.assertIn("older results moved to", done.stderr)
        self.assertEqual((self.folder / "out" / "results.1.jsonl").read_text(), old)

    def test_too_many_points(self):
        sweep = small_sweep()
        sweep["axes"][1]["range"]["to"] = 100_000
        self.refused(self.run_sweep(self.write(sweep), code=WRONG_INPUT), "has 1600000 points; confirm with --yes")
        self.assertFalse((self.folder / "out").exists())

    def test_axes_with_invalid_pointers(self):
        sweep = small_sweep()
        sweep["axes"][1]["key"] = "/collectives/int8/minishard"
        self.refused(self.run_sweep(self.write(sweep), code=WRONG_INPUT),
                     "sweep.json: /axes/1: /collectives/1/minishard: unknown key 'minishard'")

    def test_invalid_values(self):
        sweep = small_sweep()
        sweep["axes"][2] = {"key": "/tensor/bytes", "values": ["1 MiB", "2 potatoes"]}
        self.refused(self.run_sweep(self.write(sweep), code=WRONG_INPUT),
                     'sweep.json: /axes/2: no point with "2 potatoes" is a valid configuration: /tensor/bytes: ')
        self.assertFalse((self.folder / "out").exists())

    def test_an_output_that_is_not_a_folder(self):
        self.refused(self.run_sweep(self.write(small_sweep()), "sweep.json", code=WRONG_INPUT),
                     "is not a writable folder")

    def test_jobs(self):
        for jobs in ("0", "-1", "x"):
            self.refused(self.run_sweep(self.write(small_sweep()), "out", f"--jobs={jobs}",
                                        code=WRONG_INPUT), "jobs")


class Progress(SweepCase):
    def test_a_terminal_shows_a_progress_bar(self):
        sweep = small_sweep()
        sweep["base"]["engine"] = "simgrid"  # so that it takes a while
        code, seen = terminal.seen(self.command(self.write(sweep), "out"))
        self.assertEqual(code, 0)
        self.assertRegex(seen, r"\[#*\.*\] \d+ of 80 points \(\d+ %\), [\d.]+ per second, \d+ s left")
        self.assertTrue(seen.endswith("\r\x1b[K"))

    def test_short_sweeps_are_silent_without_a_terminal(self):
        self.assertEqual(self.run_sweep(self.write(small_sweep(sizes=1))).stderr, "")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
