"""Chips, topologies, formats, programs, sweeps and tunings."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import equarx

CONFIG = "configs/experiments/allreduce_v5e_4x2.json"
PROGRAM = pathlib.Path(os.environ["EQUARX_BUILD"], "equarx-sim")


def printed(*arguments) -> str:
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


class Known(unittest.TestCase):
    def test_chips_match_the_program(self):
        chips = equarx.hardware()
        self.assertEqual([chip.to_dict() for chip in chips], json.loads(printed("hardware", "--json")))
        self.assertEqual(str(chips), printed("hardware"))
        chip = equarx.hardware("tpu-v5e")
        self.assertEqual(chip.to_dict(), json.loads(printed("hardware", "tpu-v5e", "--json")))
        self.assertEqual(str(chip), printed("hardware", "tpu-v5e"))
        with self.assertRaisesRegex(equarx.InputError, "tpu-v5e"):
            equarx.hardware("tpu-v5x")

    def test_topologies_match_the_program(self):
        topology = equarx.topology({"torus": "4x4"})
        self.assertEqual(topology.to_dict(), json.loads(printed("topology", "--torus", "4x4", "--json")))
        self.assertEqual(str(topology), printed("topology", "--torus", "4x4"))
        self.assertIn("<svg", topology.to_svg())
        # too many chips to be legible
        self.assertIsNone(equarx.topology({"torus": "128x128"})._repr_svg_())
        with self.assertRaises(equarx.InputError) as caught:
            equarx.topology({"slice": "4x"})
        self.assertEqual(caught.exception.pointer, "/topology/slice")

    def test_formats_have_their_properties(self):
        formats = {entry["name"]: entry for entry in equarx.formats()}
        self.assertEqual(formats["nvfp4"], {"name": "nvfp4", "element": "fp4-e2m1", "bits": 4, "scaled": True,
                                            "shared_scale": False, "scale": "e4m3", "layout": "contiguous", "block": 16,
                                            "tensor_scale": True})
        self.assertEqual(formats["bf16"], {"name": "bf16", "element": "bf16", "bits": 16, "scaled": False,
                                           "shared_scale": False})
        shared = [name for name, entry in formats.items() if entry["shared_scale"]]
        self.assertEqual(shared, ["fp8lm-e4m3", "fp8lm-e5m2", "global-qsgd-int8", "global-qsgd-exp8"])


class Programs(unittest.TestCase):
    def test_sends_move_the_bytes_of_a_ring(self):
        program = equarx.Program(CONFIG, "bf16", {"/tensor/bytes": "8 MiB"})
        sends = [row for row in program if row["op"] == "send"]
        # 2 (N - 1) / N of the tensor
        self.assertEqual(sum(row["bytes"] for row in sends), 2 * 7 * 2**20)
        self.assertEqual({row["channel"] for row in sends}, {"forward", "backward"})
        self.assertEqual(program.ranks, 8)
        self.assertEqual(len(program), len(program.to_rows()))

    def test_a_timeline_ends_when_the_run_does(self):
        overrides = {"/simulation": "full", "/numerics": "off", "/engine": "direct", "/tensor/bytes": "1 MiB"}
        time = equarx.run(CONFIG, overrides).runs["full-loop"].time
        rows = equarx.Program(CONFIG, "full-loop", overrides).timeline()
        self.assertAlmostEqual(max(row["end_s"] for row in rows), time, delta=1e-12)
        self.assertEqual({row["chip"] for row in rows}, {f"({x},{y})" for x in range(4) for y in range(2)})
        transfers = [row for row in rows if row["kind"] == "transfer"]
        self.assertTrue(all(row["start_s"] < row["end_s"] and row["to_chip"] != row["chip"] for row in transfers))

    def test_a_timeline_has_the_chips_of_all_slices(self):
        network = {"slices": 2, "bandwidth": "12.5 GB/s", "latency": "10 us"}
        config = {"hardware": "tpu-v5e", "topology": {"slice": "2x2", "network": network}, "numerics": "off",
                  "tensor": {"bytes": "64 KiB"}, "collectives": [{"algorithm": "hierarchical"}], "engine": "direct"}
        rows = equarx.Program(config).timeline()
        self.assertEqual({row["chip"] for row in rows}, {f"{i}:({x},{y})" for i in range(2) for x in range(2)
                                                         for y in range(2)})
        transfers = [row for row in rows if row["kind"] == "transfer"]
        self.assertTrue(any(row["chip"][0] != row["to_chip"][0] for row in transfers))

    def test_one_collective_must_be_named(self):
        for label, message in [(None, "^there are 2 collectives; name one of bf16, full-loop$"),
                               ("int9", "^there is no collective 'int9'; there are bf16, full-loop$")]:
            with self.assertRaisesRegex(equarx.InputError, message):
                equarx.Program(CONFIG, label)
        with self.assertRaisesRegex(equarx.InputError, "a program has one algorithm"):
            equarx.Program(CONFIG, "bf16", {"/collectives/0/algorithm": "auto"})


class Sweeps(unittest.TestCase):
    axes = {"/numerics": ["off"], "/topology/slice": ["2x2", "4x2"], "/tensor/bytes": ["64 KiB", "1 MiB"]}

    def test_a_sweep_has_every_combination(self):
        swept = equarx.sweep(CONFIG, self.axes, jobs=2)
        self.assertEqual(len(swept), 8)
        self.assertFalse(swept.failures)
        for line in swept:
            alone = equarx.run(CONFIG, {**line["axes"], "/engine": "direct"}).runs[line["run"].label]
            self.assertEqual(alone.time, line["run"].time)
        row = swept.to_rows()[0]
        self.assertEqual((row["/topology/slice"], row["/tensor/bytes"], row["label"]), ("2x2", "64 KiB", "bf16"))
        self.assertGreater(row["breakdown/payload_s"], 0)

    def test_frames_have_the_rows(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("without pandas")
        swept = equarx.sweep(CONFIG, self.axes).to_frame()
        self.assertEqual(len(swept), 8)
        self.assertEqual(set(swept["/topology/slice"]), {"2x2", "4x2"})
        self.assertEqual(list(equarx.hardware().to_frame()["name"]), [chip.name for chip in equarx.hardware()])
        program = equarx.Program(CONFIG, "bf16")
        self.assertEqual(len(program.to_frame()), len(program))

    def test_results_are_kept_in_a_given_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            first = equarx.sweep(CONFIG, self.axes, folder=folder)
            self.assertTrue(pathlib.Path(folder, "results.csv").is_file())
            self.assertEqual(first.to_rows(), equarx.sweep(CONFIG, self.axes, folder=folder).to_rows())

    def test_a_failed_point_has_its_reason(self):
        swept = equarx.sweep(CONFIG, {"/numerics": ["off"], "/topology": [{"mesh": "3x7"}, {"slice": "4x2"}]})
        [failure] = swept.failures
        self.assertEqual(failure["axes"]["/topology"], {"mesh": "3x7"})
        self.assertIn("3x7", failure["error"])
        self.assertIn("1 failed", repr(swept))

    def test_a_point_that_does_not_fit_is_no_failure(self):
        swept = equarx.sweep(CONFIG, {"/numerics": ["off"], "/tensor/bytes": ["1 MiB", "1 TiB"]})
        self.assertEqual(swept.failures, [])
        [point] = swept.does_not_fit
        self.assertEqual(point["axes"]["/tensor/bytes"], "1 TiB")
        self.assertEqual(point["needs_bytes"], 2 * 2**40)
        self.assertIn("HBM", point["reason"])
        self.assertIn("1 do not fit", repr(swept))
        self.assertEqual(swept.to_rows()[-1]["status"], "does not fit")

    def test_a_wrong_axis_is_named(self):
        with self.assertRaises(equarx.InputError) as caught:
            equarx.sweep(CONFIG, {"/tensor/bites": [1, 2]})
        self.assertNotIn("\n", str(caught.exception))
        self.assertIn("/tensor/bites", str(caught.exception))


class Tunings(unittest.TestCase):
    def test_tuning_matches_the_program(self):
        arguments = ("--set", "/tensor/bytes=1 MiB", "--formats", "int8,bf16", "--min-sqnr", "30 dB")
        tuned = equarx.tune(CONFIG, {"/tensor/bytes": "1 MiB"}, formats=["int8", "bf16"], min_sqnr=30)
        self.assertEqual(tuned.to_dict(), json.loads(printed("tune", CONFIG, "--json", *arguments)))
        self.assertGreaterEqual(tuned.best.sqnr_db, 30)
        again = equarx.run(tuned.best_config, {"/engine": "direct"})
        self.assertIn(tuned.best.time_s, [run.time for run in again.runs.values()])

    def test_a_step_is_tuned(self):
        config = "configs/experiments/buckets_v5e_16x16.json"
        changes = {"/topology/slice": "4x4", "/mesh/data": 16, "/step/tasks/1/compute/flops": 5e10}
        tuned = equarx.tune(config, changes, formats=["int8", "bf16"])
        self.assertIsInstance(tuned, equarx.TunedStep)
        self.assertEqual([group.group for group in tuned.groups], ["bucket"])
        self.assertGreater(tuned.variants[-1].speedup, 1)
        self.assertEqual([variant["label"] for variant in tuned.best_config["variants"]], ["bf16", "tuned"])
        self.assertIn("best: tuned", repr(tuned))

    def test_wrong_limits_are_named(self):
        for options in ({"min_sqnr": "30 metres"}, {"formats": ["int9"]}, {"max_time": "soon"}):
            with self.subTest(options), self.assertRaises(equarx.InputError) as caught:
                equarx.tune(CONFIG, **options)
            self.assertNotIn("\n", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
