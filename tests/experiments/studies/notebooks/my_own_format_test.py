"""The notebook on own formats compares a codec with built-in formats, and shows why another one is refused."""
import os
import re
import tempfile
import unittest

import notebook


class MyOwnFormat(notebook.Script):
    name = "my_own_format"

    def rows(self):
        found = re.findall(r"^(8 \S+(?: v5e)?) +(\S+) +(\S+) +[\d.]+ +([\d.]+) dB +([\d.]+) us +([\d.]+)x$", self.printed, re.M)
        return {(machine, algorithm, name): (float(sqnr), float(time)) for machine, algorithm, name, sqnr, time, _ in found}

    def test_every_algorithm_runs_on_both_machines_in_three_formats(self):
        self.assertEqual(len(self.rows()), 2 * 6 * 3)

    def test_the_codec_is_better_and_smaller_than_mxfp8(self):
        rows = self.rows()
        for machine, algorithm, name in rows:
            if name != "block-fp8":
                continue
            own, mx = rows[machine, algorithm, name], rows[machine, algorithm, "mxfp8-e4m3"]
            self.assertGreater(own[0], mx[0] + 0.5)
            self.assertLess(own[0], mx[0] + 1.5)
            self.assertLess(own[1], mx[1])

    def test_the_best_algorithm_is_the_stated_one(self):
        rows = self.rows()
        for machine, best in (("8 TPU v5e", "equarx"), ("8 H100", "two-shot")):
            times = {algorithm: time for (where, algorithm, name), (_, time) in rows.items()
                     if (where, name) == (machine, "block-fp8")}
            self.assertEqual(min(times, key=times.get), best)

    def test_a_scale_of_all_blocks_is_refused(self):
        self.assertIn("codec 'with_one_scale': the values of blocks of 128 depend on others", self.printed)

    def test_a_figure_is_saved_only_on_request(self):
        for options, files in (((), []), (("--save",), ["my_own_format.png"])):
            with tempfile.TemporaryDirectory() as folder:
                ran = notebook.ran_script(self.name, *options, folder=folder)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                self.assertEqual(os.listdir(folder), files)


if __name__ == "__main__":
    unittest.main()
