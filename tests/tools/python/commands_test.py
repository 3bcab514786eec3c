"""Functions of subcommands give the results of the program, and wrong use names the argument."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import equarx
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ["EQUARX_BUILD"]) / "equarx-sim"
CONFIGS = ROOT / "configs"
COLLECTIVE = CONFIGS / "experiments" / "allreduce_v5e_4x2.json"
HLO = CONFIGS / "programs" / "fsdp_layer_v5e_4x4.hlo.txt"
SMALL = {"hardware": "tpu-v5e", "topology": {"slice": "2x2"}, "tensor": {"bytes": "1 MiB", "dtype": "bf16"},
         "collectives": [{"label": "bf16", "algorithm": "ring", "format": "bf16"},
                         {"label": "int8", "algorithm": "equarx", "format": "int8"}]}
# Subcommands whose function has another name, or several; None: for the shell only.
NAMES = {"import": "import_hlo", "export": "export_chakra", "config": None}


def printed(*arguments: str) -> str:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True, cwd=ROOT).stdout


class Commands(unittest.TestCase):
    def test_every_subcommand_has_a_function(self):
        listed = re.findall(r"^  (\w+)  ", printed("--help").split("Subcommands:")[1].split("Examples:")[0], re.M)
        self.assertGreater(len(listed), 20)
        for name in listed:
            if NAMES.get(name, name) is not None:
                self.assertIn(NAMES.get(name, name), equarx.__all__)

    def test_advice_of_a_collective(self):
        advice = equarx.advise(COLLECTIVE, {"/tensor": {"bytes": "8 MiB", "dtype": "bf16"}}, formats=["int8"], min_sqnr=30)
        self.assertEqual((advice.quantize, advice.verdict), ("yes", "yes"))
        self.assertAlmostEqual(advice.limits.max_nmse, 1e-3)
        self.assertEqual(repr(advice), "Advice(yes)")
        self.assertIn("<th style='text-align:left'>quantize</th><td>yes</td>", advice._repr_html_())

    def test_advice_of_a_program_needs_a_topology(self):
        with self.assertRaisesRegex(equarx.InputError, "--topology") as caught:
            equarx.advise(HLO)
        self.assertEqual(caught.exception.pointer, "")

    def test_an_imported_program(self):
        imported = equarx.import_hlo(HLO, topology="4x4")
        self.assertEqual(imported.to_dict(), json.loads(printed("import", "hlo", str(HLO), "--topology", "4x4", "--json")))

    def test_schedules_and_traces(self):
        with tempfile.TemporaryDirectory() as folder:
            schedule = pathlib.Path(folder, "ring.xml")
            schedule.write_text(equarx.export_msccl(SMALL | {"hardware": "mi300x", "topology": {"fully-connected": 4}},
                                                    {"/collectives": [{"label": "one", "algorithm": "one-shot",
                                                                       "format": "bf16"}]}))
            self.assertIn("<algo ", schedule.read_text())
            self.assertEqual(equarx.import_msccl(schedule, topology="fully-connected:4").to_dict()["program"], "equarx-sim")
            prefix = pathlib.Path(folder, "step")
            equarx.export_chakra(CONFIGS / "experiments" / "buckets_v5e_16x16.json", prefix)
            self.assertTrue(pathlib.Path(f"{prefix}.0.et").exists())

    def test_kernels_of_dicts(self):
        rows = [{"kernel": "gemm", "m": m, "k": 8192, "n": 8192} for m in (16, 4096)]
        timed = equarx.kernels(rows, "a100")
        self.assertEqual(len(timed.rows), 2)
        self.assertLess(timed.rows[0].simulated, timed.rows[1].simulated)
        self.assertEqual(repr(timed), "Timed(2 kernels on a100)")
        with self.assertRaisesRegex(equarx.InputError, "kernel"):
            equarx.kernels([{"kernel": "none"}], "a100")

    def test_a_calibrated_chip_is_hardware(self):
        with tempfile.TemporaryDirectory() as folder:
            chip = pathlib.Path(folder, "chip.json")
            fitted = equarx.calibrate(CONFIGS / "calibrations" / "made_up_chip.json", chip)
            self.assertAlmostEqual(fitted.parameters.link_efficiency.value, 0.909, places=3)
            self.assertGreater(equarx.run(SMALL, {"/hardware": str(chip)}).baseline.time, 0)
        with self.assertRaisesRegex(equarx.InputError, "/measurements"):
            equarx.calibrate({"hardware": "tpu-v5e", "fit": ["link_efficiency"]})

    def test_accuracy_and_a_study(self):
        questions = {row["question"] for row in equarx.accuracy().to_dict()["questions"]}
        self.assertIn("tpu-collective", questions)
        study = equarx.reproduce(ROOT / "experiments" / "studies" / "published" / "quickreduce", jobs=1)
        self.assertEqual(len(study.to_rows()), len(study.rows))
        self.assertGreater(len(study.rows), 3)
        with self.assertRaisesRegex(equarx.InputError, "no_such_study"):
            equarx.reproduce("no_such_study")

    def test_errors_of_layers_on_arrays(self):
        random = np.random.default_rng(1)
        keys, values, queries = (random.standard_normal((2, 64, 128), "f4") for _ in range(3))
        coarse = equarx.attention(keys, values, queries, format="int4-row128")
        fine = equarx.attention(keys, values, queries, format="int8-row")
        self.assertGreater(coarse.output_nmse, 10 * fine.output_nmse)
        self.assertEqual((coarse.heads, coarse.tokens), (2, 64))
        x = random.standard_normal((32, 256), "f4")
        self.assertGreater(equarx.experts(x, combine="e4m3-row128").sum_nmse, equarx.experts(x).sum_nmse)
        with self.assertRaisesRegex(equarx.InputError, "keys: float32 is needed"):
            equarx.attention(keys.astype("f2"), values)

    def test_pages_and_comparisons(self):
        one, other = equarx.run(SMALL), equarx.run(SMALL, {"/hardware": "tpu-v6e"})
        with tempfile.TemporaryDirectory() as folder:
            page = equarx.report([one, other], pathlib.Path(folder, "page.html"), title="Two chips")
            self.assertIn("Two chips", page.read_text())
            with self.assertRaisesRegex(equarx.InputError, "a result is needed"):
                equarx.report(3, page)
        difference = equarx.compare(one, other)
        self.assertTrue(difference.to_dict()["parameters"] or difference.to_dict()["configuration"])

    def test_configurations(self):
        equarx.validate(SMALL)
        self.assertEqual(equarx.show(COLLECTIVE), json.loads(printed("show", str(COLLECTIVE))))
        for config, overrides, pointer in ((SMALL | {"topologie": 3}, None, "/topologie"),
                                           (SMALL, {"/tensor/dtype": "bf17"}, "/tensor/dtype")):
            with self.assertRaises(equarx.InputError) as caught:
                equarx.validate(config, overrides)
            self.assertEqual(caught.exception.pointer, pointer)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "wrong.json")
            file.write_text(json.dumps(SMALL | {"baseline": "none"}))
            with self.assertRaises(equarx.InputError) as caught:
                equarx.validate(file)
            self.assertEqual(caught.exception.pointer, "/baseline")
            self.assertTrue(str(caught.exception).startswith(f"{file}: "))
        for wrong in (3, None, ["a"]):
            with self.assertRaisesRegex(equarx.InputError, "configuration must be"):
                equarx.show(wrong)

    def test_golden_vectors(self):
        with tempfile.TemporaryDirectory() as folder:
            written = equarx.vectors(CONFIGS / "experiments" / "contract_h100_8.json", pathlib.Path(folder, "golden"),
                                     cases=["ties"])
            self.assertEqual(written.ranks, 8)
            self.assertTrue((pathlib.Path(folder, "golden") / written.manifest).exists())


if __name__ == "__main__":
    unittest.main()
