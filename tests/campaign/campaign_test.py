"""Tests of the campaign itself: contents of cases, invariants and their violations, and shrinking
of failures.

Usage: campaign_test.py EQUARX_SIM [unittest arguments]
"""
import copy
import json
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import cases
import kinds
import program
import schema
import shrink
from desk import Desk
from draw import Draw
from invariants import bytes as conservation, machines, oracle, results, texts, values
from invariants import others as other_invariants, steps as step_invariants
from make import chips, experiments, malformed, others, steps, stored

PROGRAM = ""
ENOUGH = 1500  # cases per kind; every key must occur in one


def keys_of(node: object, path: str = "") -> set[str]:
    """Paths in the form of schema.keys()."""
    if isinstance(node, list):
        return set().union(*(keys_of(child, f"{path}[]") for child in node)) if node else set()
    if not isinstance(node, dict):
        return set()
    found = set()
    for key, child in node.items():
        here = f"{path}.{key}" if path else key
        found |= {here} | keys_of(child, here)
    return found


def pattern(key: str) -> re.Pattern:
    """Matches a path in a schema, in which * stands for any name."""
    return re.compile(re.escape(key).replace(r"\*", r"[^.\[\]]+"))


def small_experiment() -> dict:
    return {"hardware": "tpu-v5e", "topology": {"ring": 4}, "tensor": {"bytes": "4 KiB"},
            "collectives": [{"label": "a", "algorithm": "ring", "minishards": 1, "microshards": 1}]}


class Coverage(unittest.TestCase):
    """Every key of every schema occurs in some case."""

    def check(self, name: str, made: list, apart: str | tuple[str, ...] = "nothing") -> None:
        """`apart`: keys that other tests cover, with all below them."""
        found = set().union(*(keys_of(one) for one in made))
        missing = [key for key in schema.keys(name)
                   if not key.startswith(apart) and not any(map(pattern(key).fullmatch, found))
                   and key.rsplit(".", 1)[-1] not in chips.WORKGROUPS]  # given together, by built-in chips
        self.assertEqual(missing, [])

    def test_experiments(self):
        self.check("experiment", [experiments.experiment(Draw(f"keys:{i}"))["config"] for i in range(ENOUGH)])

    def test_steps(self):
        self.check("step", [steps.step(Draw(f"keys:{i}"))["config"] for i in range(ENOUGH)])

    def test_sweeps_and_calibrations(self):
        self.check("sweep", [others.sweep(Draw(f"keys:{i}"))["config"] for i in range(ENOUGH)])
        self.check("calibration", [others.calibration(Draw(f"keys:{i}"))["config"] for i in range(300)],
                   apart="kernels")

    def test_files(self):
        made = [experiments.experiment(Draw(f"keys:{i}"))["files"] for i in range(ENOUGH)]
        self.check("topology", [one["graph.json"] for one in made if "graph.json" in one])
        self.check("model", [one["model.json"] for one in made if "model.json" in one])
        self.check("hardware", [others.hardware(Draw(f"keys:{i}"))["files"]["chip.json"] for i in range(ENOUGH)])

    def test_stored_formats(self):
        # Those of layer inputs and of blocks have oracles of their own: tests/invariants/stored_inputs_test.py,
        # stored_test.py.
        self.check("format", [stored.stored(Draw(f"keys:{i}"))["files"]["format.json"] for i in range(ENOUGH)],
                   apart=("groups.rows", "before.factor_steps", "feedback", "widths"))

    def test_a_key_without_cases_is_found(self):
        made = [experiments.experiment(Draw(f"keys:{i}"))["config"] for i in range(300)]
        for one in made:
            one.pop("wire_buffers", None)
        with self.assertRaisesRegex(AssertionError, "wire_buffers"):
            self.check("experiment", made)


class Seeds(unittest.TestCase):
    def test_a_case_is_reproducible(self):
        for number in range(60):
            kind = cases.kind_of(f"5:{number}", None)
            self.assertEqual(kind, cases.kind_of(f"5:{number}", None))
            self.assertEqual(json.dumps(cases.content_of(f"5:{number}", kind)),
                             json.dumps(cases.content_of(f"5:{number}", kind)))

    def test_every_kind_and_many_different_cases_are_generated(self):
        made = [cases.kind_of(f"5:{number}", None) for number in range(1000)]
        self.assertEqual(set(made), set(kinds.KINDS))
        self.assertGreater(len({json.dumps(experiments.experiment(Draw(f"5:{i}"))) for i in range(200)}), 195)

    def test_malformed_cases_differ_from_valid_ones(self):
        changed = 0
        for i in range(100):
            draw, again = Draw(f"6:{i}"), Draw(f"6:{i}")
            made = malformed.malformed(draw)
            valid = experiments.experiment(again) if again.chance(0.65) else steps.step(again)
            changed += made != valid
        self.assertGreater(changed, 90)


class FakeProgram(unittest.TestCase):
    """Invariants on doctored answers: a program that prints given output."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="equarx-campaign-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, body: str) -> str:
        path = self.folder / "program"
        path.write_text(f"#!/bin/sh\ncat > /dev/null\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def breaks(self, invariant: str, body: str) -> None:
        with self.assertRaises(program.Broken) as found:
            program.check(program.ask(self.program(body), [], self.folder, seconds=2.0))
        self.assertEqual(found.exception.invariant, invariant)

    def test_violations(self):
        self.breaks("exit code", "echo 'error: internal' >&2; exit 1")
        self.breaks("exit code", "exit 3")
        self.breaks("crash", "kill -SEGV $$")
        self.breaks("crash", "kill -ABRT $$")
        self.breaks("hangs", "exec sleep 20")
        self.breaks("refusal", "exit 2")
        self.breaks("refusal", "echo one >&2; echo two >&2; exit 2")
        self.breaks("refusal", "echo result; echo one >&2; exit 2")
        self.breaks("refusal", "printf 'no end of line' >&2; exit 2")
        self.breaks("refusal", "echo 'error: internal error, please report' >&2; exit 2")
        self.breaks("refusal", "echo 'error: std::bad_alloc' >&2; exit 2")

    def test_valid_answers(self):
        for body in ("echo '{}'", "echo 'error: /tensor: too large' >&2; exit 2",
                     "echo 'equarx-sim: 40 % of about 9 candidates' >&2; echo 'error: /tensor: no' >&2; exit 2"):
            program.check(program.ask(self.program(body), [], self.folder))

    def test_json_without_infinity(self):
        with self.assertRaises(program.Broken):
            program.parse('{"time_s": NaN}')

    def test_show_without_a_fixed_point(self):
        body = 'case "$*" in show*) printf \'{"a": %s}\' $$ ;; *) echo "{}" ;; esac'
        content = {"config": {}}
        with self.assertRaisesRegex(program.Broken, "not the same"):
            texts.show(Desk(self.program(body), self.folder, content), content, Draw("1"))

    def test_validate_that_disagrees(self):
        body = 'case "$*" in validate*) echo "no" >&2; exit 2 ;; *) echo "{}" ;; esac'
        content = {"config": {}}
        with self.assertRaisesRegex(program.Broken, "validate"):
            texts.validate(Desk(self.program(body), self.folder, content), content, Draw("1"))


class Doctored(unittest.TestCase):
    """Doctored results with one change each: the invariant of the changed value fails."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="equarx-campaign-")
        cls.addClassCleanup(cls.holder.cleanup)
        cls.desk = Desk(PROGRAM, pathlib.Path(cls.holder.name), {"config": small_experiment()})
        cls.result = cls.desk.result(small_experiment(), "--links")

    def breaks(self, invariant: str, change) -> None:
        result = copy.deepcopy(self.result)
        change(result["runs"][0])
        with self.assertRaises(program.Broken) as found:
            results.of_result(result)
        self.assertEqual(found.exception.invariant, invariant)

    def test_an_unchanged_result_passes(self):
        results.of_result(self.result)

    def test_each_change_breaks_its_invariant(self):
        self.breaks("lower bound", lambda run: run.update(lower_bound_s=run["time_s"] * 1.001))
        self.breaks("breakdown", lambda run: run["breakdown"].update(idle_s=0.0))
        self.breaks("core", lambda run: run["core"].update(busy_s=1.0))
        self.breaks("links", lambda run: run.update(wire_bytes_per_link=1))
        self.breaks("ranks identical", lambda run: run["numerics"].update(ranks_identical=False))
        self.breaks("errors", lambda run: run["numerics"].update(mse=1e6))
        self.breaks("errors", lambda run: run["numerics"].update(sqnr_db=1.0))
        self.breaks("speedup", lambda run: run.update(speedup=2.0))
        self.breaks("failure", lambda run: run.update(time_s=None))

    def doctored(self, change, *names) -> Desk:
        """A desk that doctors the results of configurations containing one of the names."""
        desk = Desk(PROGRAM, pathlib.Path(self.holder.name), {"config": small_experiment()})
        asked = desk.result

        def result(config, *flags):
            found = asked(config, *flags)
            if any(name in json.dumps(config) for name in names):
                found = copy.deepcopy(found)
                change(found["runs"][0])
            return found
        desk.result = result
        return desk

    def invariant_breaks(self, invariant, desk: Desk, seed: str = "1") -> None:
        with self.assertRaises(program.Broken):
            invariant(desk, {"config": small_experiment()}, Draw(seed))

    def test_pairs(self):
        def longer(run):
            run["time_s"] *= 1.001

        def shorter(run):
            run["time_s"] *= 0.5
        self.invariant_breaks(machines.engines, self.doctored(longer, '"simgrid"'))
        self.invariant_breaks(machines.symmetric, self.doctored(longer, '"symmetric"'))
        self.invariant_breaks(machines.slower_chip, self.doctored(shorter, '"based_on"'))
        self.invariant_breaks(machines.larger_tensor, self.doctored(shorter, '8 KiB', '12 KiB', '16 KiB', '20 KiB',
                                                                    '24 KiB', '28 KiB', '32 KiB', '36 KiB'))
        self.invariant_breaks(machines.faults, self.doctored(longer, '0.999999999'))
        self.invariant_breaks(machines.faults, self.doctored(shorter, 'bandwidth_factor": 0.2'))
        self.invariant_breaks(conservation.conservation,
                              self.doctored(lambda run: run["links"][0].update(bytes=1), "ring"))
        self.invariant_breaks(values.sums, self.doctored(lambda run: run["numerics"].update(mse=1.0), "ring"))
        self.invariant_breaks(values.sums, self.doctored(lambda run: run["numerics"].update(max_abs_error=9.0), "ring"))

    def test_unchanged_pairs_pass(self):
        desk = self.doctored(None)
        for invariant in (machines.engines, machines.symmetric, machines.slower_chip, machines.larger_tensor,
                          machines.faults, conservation.conservation, values.sums, values.clockless, oracle.agrees):
            invariant(desk, {"config": small_experiment()}, Draw("1"))

    def test_an_oracle_with_different_rounding(self):
        kept = oracle.quantized
        self.addCleanup(setattr, oracle, "quantized", kept)
        oracle.quantized = lambda tensor, block: kept(tensor, block + 1)
        self.invariant_breaks(oracle.agrees, self.doctored(None))


class Steps(unittest.TestCase):
    def test_doctored(self):
        with tempfile.TemporaryDirectory() as folder:
            desk = Desk(PROGRAM, pathlib.Path(folder), {})
            found = desk.result({"hardware": "tpu-v5e", "topology": {"ring": 4}, "mesh": {"x": 4}, "step": {"tasks": [
                {"name": "a", "compute": {"time": "1 us"}},
                {"name": "b", "collective": {"kind": "all-reduce", "axes": ["x"], "bytes": "4 KiB"}, "after": ["a"]}]}})
        variant = found["runs"][0]
        step_invariants.of_variant(variant)
        step_invariants.order(found)
        for change in ({"lower_bound_s": 1.0}, {"core_busy_s": 1.0}, {"compute_s": 0.0}, {"critical_path": ["c"]}):
            with self.assertRaises(program.Broken):
                step_invariants.of_variant(variant | change)
        with self.assertRaises(program.Broken):
            step_invariants.of_variant(variant | {"tasks": variant["tasks"][:1]})
        found["runs"][0]["tasks"][1]["start_s"] = 0.0
        with self.assertRaises(program.Broken):
            step_invariants.order(found)


class Small(unittest.TestCase):
    def test_irrelevant_parts_are_dropped_and_relevant_ones_kept(self):
        content = {"config": {"a": {"b": [1, 2, {"bad": 977}], "c": "x"}, "d": "37.5 GB/s", "e": [1, 2, 3]}}

        def fails(made: dict) -> bool:
            return '"bad"' in json.dumps(made) and "GB/s" in json.dumps(made)
        self.assertEqual(shrink.shrink(content, fails, 20.0), {"config": {"a": {"b": [{"bad": 1}]}, "d": "1 GB/s"}})

    def test_time_is_limited(self):
        content = {"config": {"a": list(range(50))}}
        self.assertEqual(shrink.shrink(content, lambda made: True, 0.0), content)

    def test_a_failure_can_be_written_read_and_replayed(self):
        failure = cases.Failure("1:2", "run", "exit code", "result", "1", {"config": small_experiment(), "files": {}})
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(cases.read(cases.write(failure, pathlib.Path(folder))), failure)
        self.assertIsNone(cases.held(PROGRAM, failure, failure.content))
        self.assertEqual(cases.held("/bin/false", failure, failure.content).invariant, "exit code")


class Command(unittest.TestCase):
    """campaign.py from the command line."""

    def run_campaign(self, *arguments: str) -> subprocess.CompletedProcess:
        command = ["/usr/bin/python3", "-B", str(pathlib.Path(__file__).parent / "campaign.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    def test_failures_are_reported_written_and_replayed(self):
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder)
            broken = where / "program"
            broken.write_text("#!/bin/sh\ncat > /dev/null\necho defect >&2\nexit 1\n")
            broken.chmod(0o755)
            given = ["--program", str(broken), "--only", "quantize", "--output", str(where / "failures")]
            done = self.run_campaign(*given, "--cases", "2", "--jobs", "2", "--seed", "4")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("bash tools/campaign.sh --case 4:0 --only quantize", done.stdout)
            self.assertRegex(done.stdout, r"quantize +2 +0 +0 +2")
            self.assertIn("2 of 2 cases", done.stderr)
            written = sorted((where / "failures").iterdir())
            self.assertEqual(len(written), 2)
            self.assertEqual(self.run_campaign(*given, "--replay", str(written[0])).returncode, 1)
            self.assertEqual(self.run_campaign(*given, "--found", str(where / "failures")).returncode, 1)
            one = self.run_campaign(*given, "--case", "4:0")
            self.assertEqual(one.returncode, 1)
            self.assertIn("breaks 'exit code'", one.stdout)

    def test_the_number_of_jobs_changes_nothing(self):
        one, two = (self.run_campaign("--program", PROGRAM, "--cases", "12", "--seed", "8", "--jobs", jobs,
                                      "--only", "quantize") for jobs in ("1", "2"))
        self.assertEqual(one.returncode, 0, one.stdout)
        self.assertEqual(one.stdout.splitlines()[1:], two.stdout.splitlines()[1:])

    def test_wrong_options(self):
        self.assertEqual(self.run_campaign("--jobs", "0").returncode, 2)
        self.assertEqual(self.run_campaign("--only", "nothing").returncode, 2)
        missing = self.run_campaign("--program", "/missing")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("bash tools/build.sh release equarx-sim", missing.stderr)


class Distances(unittest.TestCase):
    def test_distances_on_a_ring(self):
        names = list("abcdef")
        hops = other_invariants.distances(names, list(zip(names, names[1:] + names[:1])))
        self.assertEqual([hops["a"][name] for name in names], [0, 1, 2, 3, 2, 1])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
