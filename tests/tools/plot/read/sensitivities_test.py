"""Tests reading sensitivities of runs."""
import unittest

import made_up_run
from picture_case import PictureCase

from read import sensitivities


class Sensitivities(PictureCase):
    def result(self, change=None) -> None:
        """Writes a result of sensitivities, changed."""
        content = made_up_run.sensitivities()
        if change:
            change(content)
        made_up_run.write_result(self.folder / "result.json", content)

    def test_values_are_text_with_the_unit_or_plain_numbers(self):
        self.result(lambda content: content["parameters"]["barrier_time"].update(value=1.0))
        found = sensitivities.read(self.folder / "result.json", "")
        self.assertEqual([one.value for one in found.parameters[:2]], ["45 GB/s", "1"])

    def test_sensitivities_of_one_or_all_collectives(self):
        self.result()
        for label, expected in (("", {"bf16": 0.3, "int8": 0.15}), ("int8", {"int8": 0.15})):
            found = sensitivities.read(self.folder / "result.json", label)
            self.assertEqual(found.labels, list(expected))
            self.assertEqual(found.parameters[1].elasticities, expected)

    def test_variants_of_a_step_are_read_like_collectives(self):
        def to_step(content):
            content["variants"] = content.pop("runs")
            content["version"] = "0.2.0"
            content["config"] = {"hardware": "tpu-v5e", "topology": {"slice": "4x2"},
                                 "mesh": {"data": {"length": 4}, "fsdp": {"length": 2}}}
        self.result(to_step)
        found = sensitivities.read(self.folder / "result.json", "int8")
        self.assertEqual((found.labels, found.machine), (["int8"], "8 x tpu-v5e, slice 4x2"))
        self.assertEqual(self.run_plot("sensitivity", "result.json").returncode, 0)

    def test_rejects_unknown_labels(self):
        self.result()
        self.check_refused(["result.json", "'int4'", "nearest is 'int8'", "bf16, int8"], "sensitivity", "result.json",
                           "--label", "int4")

    def test_rejects_results_without_sensitivities(self):
        self.result(lambda content: content.pop("sensitivity"))
        self.check_refused(["result.json", "no sensitivities", "--json --sensitivity"], "sensitivity", "result.json")

    def test_rejects_failed_runs(self):
        def fail(content):
            content.pop("sensitivity")
            content["runs"][1]["time_s"] = None
        self.result(fail)
        self.check_refused(["result.json", "'int8' fails"], "sensitivity", "result.json")

    def test_rejects_invalid_numbers(self):
        def change_uncertainty(content):
            content["sensitivity"][1]["relative_uncertainty"] = value
        def change_elasticity(content):
            content["sensitivity"][1]["runs"][0]["time"] = value
        for value in (-0.1, float("nan"), float("inf")):
            with self.subTest(value=value):
                self.result(change_uncertainty)
                self.check_refused(["result.json", "'barrier_time'", "relative_uncertainty"], "sensitivity",
                                   "result.json")
        for value in (float("nan"), float("-inf")):
            with self.subTest(value=value):
                self.result(change_elasticity)
                self.check_refused(["result.json", "'barrier_time'", "elasticity", "'bf16'"], "sensitivity",
                                   "result.json")

    def test_rejects_other_and_malformed_files(self):
        for content in (b"", b"[]", b"{}", b"3", b"\xff\xfe", b'{"runs": [{}]}', b'{"runs": []}',
                        b'{"runs": [], "sensitivity": [{}], "config": {}}'):
            with self.subTest(content=content):
                (self.folder / "result.json").write_bytes(content)
                self.check_refused(["result.json"], "sensitivity", "result.json")
        for key in ("parameter", "class", "relative_uncertainty", "runs"):
            with self.subTest(key=key):
                self.result(lambda content, key=key: content["sensitivity"][0].pop(key))
                self.check_refused(["result.json: malformed", f"no key '{key}'"], "sensitivity", "result.json")
        self.check_refused(["none.json", "No such file"], "sensitivity", "none.json")


if __name__ == "__main__":
    unittest.main()
