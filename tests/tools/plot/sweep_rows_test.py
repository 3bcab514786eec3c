"""Tests the pictures of studies when they are drawn of a sweep's results."""
import itertools
import json
import unittest

from picture_case import PictureCase

import quantities
import sweep_file
import sweep_rows
from legible import check_legible
from pictures import speedup_by_size

SIZES = ["64 KiB", "1500 kB", "16 MiB"]
SLICES = {"2x2": 4, "4x2": 8}


def line(point: int, axes: dict, label: str, speedup: float, **changes) -> dict:
    """A line of results.jsonl; changes are of its configuration."""
    time = 1e-4 / speedup
    config = {"hardware": "tpu-v5e", "topology": {"slice": axes.get("/topology/slice", "4x2")},
              "tensor": {"bytes": axes.get("/tensor/bytes", "1 MiB"), "dtype": "bf16",
                         "values": {"distribution": "normal", "seed": 1}},
              "collective": "all-reduce", "baseline": "plain",
              "collectives": [{"label": "plain", "algorithm": "ring", "ring": "full-loop", "format": "bf16"},
                              {"label": "quick", "algorithm": "equarx", "ring": "full-loop", "format": "int8"}]}
    parts = {"payload_s": 0.75 * time, "scales_s": 0.0, "overhead_s": 0.0, "bubbles_s": 0.25 * time}
    return {"point": point, "key": f"{point:016x}", "version": "9.8.7", "axes": axes, "config": config | changes,
            "run": {"label": label, "algorithm": "ring" if label == "plain" else "equarx", "time_s": time,
                    "speedup": speedup, "lower_bound_s": time / 2, "wire_bytes_per_link": 1000,
                    "chips": SLICES[config["topology"]["slice"]], "breakdown": parts,
                    "numerics": {"mse": 1e-4, "nmse": 1e-5, "sqnr_db": 50.0, "mse_vs_baseline": 2e-4}}}


def lines(axes=None, **changes) -> list[dict]:
    """Two collectives at each combination of the axes."""
    axes = axes or {"/topology/slice": list(SLICES), "/tensor/bytes": SIZES}
    points = [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
    return [line(point, at, label, speedup, **changes) for point, at in enumerate(points)
            for label, speedup in (("plain", 1.0), ("quick", 1.5 + point))]


class OfASweep(PictureCase):
    def write(self, entries: list[dict], name="results.jsonl"):
        path = self.folder / name
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        return path

    def rows(self, entries: list[dict], where=None):
        return sweep_rows.read([self.write(entries)], where or {})

    def test_rows_have_what_the_table_of_a_study_has(self):
        rows = self.rows(lines(axes={"/tensor/bytes": ["1500 kB"]}))
        self.assertEqual([row.text("label") for row in rows], ["plain", "quick"])
        expected = {"hardware": "tpu-v5e", "topology": "slice 4x2", "collective": "AllReduce", "baseline": "plain",
                    "values": "normal", "algorithm": "equarx", "format": "int8", "dtype": "bf16"}
        self.assertEqual({column: rows[1].text(column) for column in expected}, expected)
        numbers = {"chips": 8, "tensor_bytes": 1.5e6, "speedup": 1.5, "payload_s": 0.5e-4, "sqnr_db": 50.0,
                   "mse_vs_baseline": 2e-4, "lower_bound_s": 1e-4 / 3}
        for column, number in numbers.items():
            self.assertAlmostEqual(rows[1].number(column), number)
        self.assertFalse(rows[1].has("model"))

    def test_sizes_of_shapes_files_and_prefills(self):
        [row, _] = self.rows(lines(axes={"/x": [1]}, tensor={"shape": [3, 5], "dtype": "fp32",
                                                             "values": {"files": ["a.npy"]}},
                                   workload={"model": "m", "phase": "prefill", "tokens": 7, "batch": 2}))
        self.assertEqual([row.text(name) for name in ("tensor_bytes", "values", "model", "phase", "tokens", "batch")],
                         ["60", "files", "m", "prefill", "7", "2"])

    def test_pictures_name_the_baseline_the_version_and_the_points(self):
        entries = lines()
        failed = {key: value for key, value in entries[-1].items() if key not in ("run", "config")}
        self.write([*entries[:-2], failed | {"error": "too large"}])
        ran = self.run_plot("speedup", "results.jsonl")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        text = (self.folder / "speedup.svg").read_text()
        for words in ("slice 2x2 (4 chips)", "slice 4x2 (8 chips)", "over the plain AllReduce",
                      "equarx-sim 9.8.7, 6 points (1 failed), hash "):
            self.assertIn(words, text)
        self.assertNotIn("paper: no gain", text)

    def test_a_baseline_of_bf16_on_the_papers_chip_is_beside_the_paper(self):
        entries = json.loads(json.dumps(lines()).replace('"plain"', '"bf16"'))
        self.write(entries)
        self.run_plot("speedup", "results.jsonl")
        self.assertIn("paper: no gain", (self.folder / "speedup.svg").read_text())

    def test_other_collectives_are_called_by_their_names(self):
        self.write(lines(collective="all-gather"))
        self.run_plot("time", "results.jsonl")
        text = (self.folder / "time.svg").read_text()
        self.assertIn("time of one AllGather", text)
        self.assertNotIn("AllReduce", text)

    def test_many_topologies_are_in_rows(self):
        slices = [f"{count}x1" for count in range(2, 9)]
        SLICES.update({name: int(name[0]) for name in slices})
        self.addCleanup(lambda: [SLICES.pop(name) for name in slices])
        figure = speedup_by_size.draw(self.rows(lines(axes={"/topology/slice": slices, "/tensor/bytes": SIZES})))
        self.assertEqual(len(figure.axes), 7)
        self.assertEqual(len({round(axes.get_position().y0, 6) for axes in figure.axes}), 2)
        check_legible(self, figure)

    def test_other_axes_must_be_held_and_may_be_held_at_several_values(self):
        axes = {"/collectives/quick/minishards": [1, 2], "/topology/slice": list(SLICES), "/tensor/bytes": SIZES}
        self.write(lines(axes=axes))
        self.check_refused(["/collectives/quick/minishards", "--where"], "time", "results.jsonl")
        self.check_refused(["'3'", "there is: 1, 2"], "time", "results.jsonl", "--where",
                           "/collectives/quick/minishards=3")
        self.check_refused(["'/minishards'", "nearest"], "time", "results.jsonl", "--where", "/minishards=3")
        held = ["--where", "/collectives/quick/minishards=2", "--where", "/tensor/bytes=16 MiB"]
        self.assertEqual(self.run_plot("time", "results.jsonl", *held).returncode, 0)
        self.check_refused(["second row for plain", "--where", "/tensor/bytes"], "error", "results.jsonl",
                           *held[:2], "--where", "/topology/slice=4x2")
        self.check_refused(["second row for plain", "some of: /topology/slice"], "breakdown", "results.jsonl", *held)
        ran = self.run_plot("breakdown", "results.jsonl", *held, "--where", "/topology/slice=4x2")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        both = {"/tensor/bytes": SIZES[:2], "/collectives/quick/minishards": ["1"], "/topology/slice": ["2x2"]}
        self.assertEqual(len(sweep_rows.read([self.folder / "results.jsonl"], both)), 4)

    def test_values_of_axes_that_are_objects_are_held_by_their_words(self):
        self.write(lines(axes={"/tensor/values": [{"files": ["a/b.npy"]}, {"distribution": "normal"}]}))
        ran = self.run_plot("breakdown", "results.jsonl", "--where", "/tensor/values=files b.npy")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.check_refused(["there is: files b.npy, distribution normal"], "breakdown", "results.jsonl", "--where",
                           "/tensor/values=uniform")
        self.assertEqual(sweep_file.short('{"torus": "4x4"}'), "torus 4x4")
        self.assertEqual(sweep_file.short("[not JSON"), "[not JSON")

    def test_what_is_not_of_a_sweep_is_refused(self):
        self.write(lines())
        self.check_refused(["paper", "rows.csv"], "paper", "results.jsonl")
        self.check_refused(["experiment"], "time", "results.jsonl", "--experiment", "sizes")
        self.check_refused(["phase", "prefill"], "prefill_time", "results.jsonl")
        (self.folder / "results.csv").write_text("point,key,/tensor/bytes,label\n0,a,1 MiB,plain\n")
        self.check_refused(["results.csv", "results.jsonl"], "time", "results.csv")
        (self.folder / "points.csv").write_text("experiment\nsizes\n")
        self.check_refused(["--where", "results.jsonl"], "time", "points.csv", "--where", "/a=1")
        self.check_refused(["--where"], "study", ".", "--where", "/a=1")
        self.check_refused(["AXIS=VALUE"], "time", "results.jsonl", "--where", "minishards")

    def test_broken_lines_are_named(self):
        for change in ({"tensor": {}}, {"topology": 7}, {"collectives": []}, {"collective": "all"},
                       {"tensor": {"bytes": "many", "dtype": "bf16", "values": {"distribution": "normal"}}}):
            with self.subTest(change=change):
                self.write(lines(**change))
                self.check_refused(["results.jsonl, line 1"], "time", "results.jsonl")
        entries = lines()
        del entries[1]["config"]
        self.write(entries)
        self.check_refused(["line 2", "'config'"], "time", "results.jsonl")
        self.write([{key: value for key, value in lines()[0].items() if key != "run"} | {"error": "too large"}])
        self.check_refused(["no point succeeded"], "time", "results.jsonl")

    def test_decimal_sizes_are_sizes(self):
        self.assertEqual(quantities.size_of("1500 kB"), 1.5e6)
        self.assertEqual(quantities.size_of("2 GB"), 2e9)


if __name__ == "__main__":
    unittest.main()
