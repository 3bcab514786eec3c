"""Pictures of results, as equarx-plot draws them, and tables for notebooks."""
import pathlib
import tempfile
import unittest
from unittest import mock

import equarx
import numpy
from equarx import _program
from equarx.result import html_of_rows

CONFIG = {"hardware": "tpu-v5e", "topology": {"slice": "4x2"}, "tensor": {"bytes": "1 MiB"},
          "collectives": [{"label": "bf16", "algorithm": "ring"}, {"label": "int8", "algorithm": "equarx"}],
          "baseline": "bf16"}
SERVED = "configs/experiments/serve_llama3.1_70b_v6e_8.json"


class Pictures(unittest.TestCase):
    def check(self, picture, *texts):
        svg = picture._repr_svg_()
        self.assertIn("<svg", svg)
        for text in texts:
            self.assertTrue(f"<!-- {text}" in svg, text)

    def test_of_tuning_and_advice(self):
        self.check(equarx.tune(CONFIG, formats=["int8"]).plot(), "NMSE relative to the exact sum")
        self.check(equarx.advise(CONFIG).plot(), "tensor on each chip")

    def test_of_a_served_model(self):
        served = equarx.serve(SERVED, {"/serving/load/requests": 50})
        self.check(served.plot(), "share with this latency or less")

    def test_of_a_sweep_by_size_and_by_axes(self):
        swept = equarx.sweep({**CONFIG, "numerics": "off"}, {"/topology/slice": ["2x2", "4x2"],
                                                            "/tensor/bytes": ["1 MiB", "8 MiB"]})
        self.check(swept.plot("sweep", label="int8", x="/tensor/bytes", y="/topology/slice"), "8 MiB")
        self.check(swept.plot(), "8 MiB")
        with self.assertRaisesRegex(equarx.InputError, "sweep: .*nothing"):
            swept.plot("sweep", label="int8", x="/nothing", y="/topology/slice").to_svg()

    def test_tables_of_a_sweep_and_of_errors(self):
        swept = equarx.sweep({**CONFIG, "numerics": "off"}, {"/tensor/bytes": ["1 MiB", "8 MiB"]})
        table = swept._repr_html_()
        self.assertIn("<th>/tensor/bytes</th><th>label</th><th>time_s</th><th>speedup</th>", table)
        self.assertEqual(table.count("<tr>"), 1 + 2 * 2)
        self.assertIn("<td>8 MiB</td><td>int8</td>", table)
        self.assertIn("nmse</th>", equarx.allreduce(numpy.ones((4, 512), "f4"), "int8")._repr_html_())

    def test_long_tables_end_with_the_number_of_other_rows(self):
        rows = [{"<a>": index} for index in range(100)]
        self.assertTrue(html_of_rows(rows, 60).endswith("<td>59</td></tr></table><p>40 more rows</p>"))
        self.assertIn("<th>&lt;a&gt;</th>", html_of_rows(rows))

    def test_files_by_their_ending(self):
        picture = equarx.advise(CONFIG).plot()
        with tempfile.TemporaryDirectory() as folder:
            for ending, begin in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
                path = picture.save(pathlib.Path(folder, "p").with_suffix(ending))
                self.assertTrue(path.read_bytes().startswith(begin), ending)
            with self.assertRaisesRegex(equarx.InputError, "does not end in .svg, .png or .pdf"):
                picture.save(f"{folder}/p.gif")

    def test_unknown_kinds_and_a_missing_program_are_named(self):
        swept = equarx.sweep({**CONFIG, "numerics": "off"}, {"/tensor/bytes": ["1 MiB"]})
        with self.assertRaisesRegex(equarx.InputError, "pie"):
            swept.plot("pie").to_svg()
        with mock.patch.object(_program, "path", lambda: "/nowhere/bin/equarx-sim"), \
                self.assertRaisesRegex(equarx.ProgramError, "plot.py was not found next to /nowhere/bin/equarx-sim"):
            swept.plot("speedup").to_svg()


if __name__ == "__main__":
    unittest.main()
