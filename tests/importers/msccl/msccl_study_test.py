#!/usr/bin/env python3
"""Checks the MSCCL study against its README and the schedules in configs/.

Usage: msccl_study_test.py EQUARX_SIM [unittest arguments]
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
STUDY = ROOT / "experiments/studies/published/msccl"
PROGRAM = ""


def output(*command):
    return subprocess.run([sys.executable, "-B", *command], capture_output=True, text=True, check=True).stdout


class Study(unittest.TestCase):
    def test_the_table_matches_the_readme(self):
        made = output(str(STUDY / "study.py"), PROGRAM, "--strict")
        self.assertIn(made.strip(), (STUDY / "README.md").read_text(encoding="utf-8"))

    def test_fit_uses_calibration_rows_only_and_gives_the_chip_s_parameters(self):
        found = re.search(r"rate ([\d.]+) GB/s, kernel_startup ([\d.]+) us", output(str(STUDY / "study.py"), PROGRAM, "--fit"))
        chip = json.loads((ROOT / "configs/hardware/mi300x.json").read_text(encoding="utf-8"))["parameters"]
        self.assertAlmostEqual(float(found[1]), float(chip["thread_block_rate"]["value"].split()[0]), delta=0.1)
        self.assertAlmostEqual(float(found[2]), float(chip["kernel_startup"]["value"].split()[0]), delta=0.1)

    def test_the_example_is_written_by_the_study(self):
        made = output(str(STUDY / "allpairs.py"), "--gpus", "4")
        self.assertEqual(made, (ROOT / "configs/schedules/allreduce_allpairs_4.xml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
