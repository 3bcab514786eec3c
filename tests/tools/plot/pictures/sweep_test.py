"""Tests the picture of sweeps."""
import csv
import itertools
import json
import re
import unittest

import made_up_sweep
from legible import check_legible, drawn_texts
from picture_case import PictureCase

from drawing import style
from pictures import sweep
from read import point_files

SIZES = ["64 KiB", "1 MiB", "16 MiB"]
SLICES = ["2x2", "4x2"]
AXES = ["--x", "/tensor/bytes", "--y", "/topology/slice"]


def lines(shards=(1,)) -> list[dict]:
    """The lines of a made-up sweep; the last point failed."""
    made = []
    for point, (shape, size, minishards) in enumerate(itertools.product(SLICES, SIZES, shards)):
        head = {"point": point, "key": f"{point:016x}", "version": "9.8.7",
                "axes": {"/topology/slice": shape, "/tensor/bytes": size, "/collectives/1/minishards": minishards}}
        for label in ("bf16", "int8"):
            made.append(head | {"run": {"label": label, "time_s": 1e-5 * (point + 1), "failure": None,
                                        "speedup": 1 if label == "bf16" else 1.25 + point / 8,
                                        "numerics": {"nmse": 1e-4 * 10**point, "ranks_identical": True}}})
    made[-2:] = [{key: value for key, value in made[-1].items() if key != "run"} | {"error": "too large"}]
    return made


def texts(svg: str) -> list[str]:
    """The texts of a picture without the source line; matplotlib writes each as a comment."""
    return [text for text in re.findall("<!-- (.*) -->", svg) if not text.startswith("simulated")]


class SweepPicture(PictureCase):
    def write(self, name: str, entries: list[dict]) -> None:
        (self.folder / name).write_text("".join(json.dumps(entry) + "\n" for entry in entries))

    def drawn(self, *arguments) -> str:
        """The SVG of a picture that must come out."""
        ran = self.run_plot("sweep", *arguments)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        png, svg = ran.stdout.split()
        self.assertTrue((self.folder / png).read_bytes().startswith(b"\x89PNG"))
        return (self.folder / svg).read_text()

    def test_cells_have_values_and_failed_points_are_marked(self):
        self.write("r.jsonl", lines())
        text = self.drawn("r.jsonl", *AXES, "--label", "int8")
        for words in (*SIZES, *SLICES, "1.25x", "1.38x", "1.50x", "1.62x", "1.75x", "failed", "Speedup of int8",
                      "equarx-sim 9.8.7", "6 points"):
            self.assertIn(words, text)
        self.assertNotIn("1.88x", text)

    def test_points_that_do_not_fit_are_marked(self):
        made = lines()
        del made[-1]["error"]
        made[-1] |= {"status": "does not fit", "needs_bytes": 1e11, "reason": "why"}
        self.write("r.jsonl", made)
        text = self.drawn("r.jsonl", *AXES, "--label", "int8")
        self.assertIn("<!-- too large -->", text)
        self.assertNotIn("<!-- failed -->", text)

    def test_csv_gives_the_same_picture_without_the_version(self):
        self.write("r.jsonl", lines())
        with open(self.folder / "r.csv", "w", newline="", encoding="utf-8") as file:
            columns = ["point", "key", "/topology/slice", "/tensor/bytes", "label", "time_s", "speedup",
                       "numerics/nmse", "error"]
            table = csv.DictWriter(file, columns)
            table.writeheader()
            for line in lines():
                run = line.get("run", {})
                table.writerow({"point": line["point"], "key": line["key"], "error": line.get("error", ""),
                                **{axis: line["axes"][axis] for axis in columns[2:4]},
                                **{name: run.get(name, "") for name in columns[4:7]},
                                "numerics/nmse": run.get("numerics", {}).get("nmse", "")})
        for value in ("speedup", "nmse", "time_s"):
            chosen = [*AXES, "--label", "int8", "--value", value]
            one = self.drawn("r.jsonl", *chosen)
            other = self.drawn("r.csv", *chosen)
            self.assertEqual(texts(one), texts(other))
            self.assertIn("version: see results.jsonl", other)

    def test_shards_in_any_order_with_the_last_line_of_each_point(self):
        entries = lines()
        repeated = [dict(lines()[-2], point=5, key=f"{5:016x}", axes=lines()[-1]["axes"])]
        self.write("b.jsonl", entries[5:] + repeated)
        self.write("a.jsonl", entries[:5])
        text = self.drawn("b.jsonl", "a.jsonl", *AXES, "--label", "int8")
        self.assertNotIn("failed", text)
        self.assertLess(text.index("<!-- 64 KiB -->"), text.index("<!-- 16 MiB -->"))

    def test_other_axes_must_be_held(self):
        self.write("r.jsonl", lines(shards=(1, 2)))
        self.check_refused(["one value of /collectives/1/minishards (1, 2)", "plot.py sweep r.jsonl --label int8 --x "
                            "/tensor/bytes --y /topology/slice --where /collectives/1/minishards=1"], "sweep",
                           "r.jsonl", *AXES, "--label", "int8")
        text = self.drawn("r.jsonl", *AXES, "--label", "int8", "--where", "/collectives/1/minishards=2")
        self.assertIn("minishards of collective 1 = 2", text)

    def test_the_only_label_besides_the_baseline_is_the_default(self):
        made_up_sweep.write(self.folder / "r.jsonl", made_up_sweep.lines())
        for arguments in ((), ("--value", "time_s")):
            chosen = self.drawn("r.jsonl", *AXES, *arguments, "--label", "quick")
            self.assertEqual(texts(self.drawn("r.jsonl", *AXES, *arguments)), texts(chosen))
        (self.folder / "r.csv").write_text("point,key,/topology/slice,/tensor/bytes,label,speedup\n"
                                           "0,a,4x2,1 MiB,bf16,1\n0,a,4x2,1 MiB,int8,1.5\n")
        self.assertIn("Speedup of int8", self.drawn("r.csv", *AXES))

    def test_all_collectives_may_be_an_axis(self):
        self.write("r.jsonl", lines())
        text = self.drawn("r.jsonl", "--x", "label", "--y", "/tensor/bytes", "--where", "/topology/slice=4x2")
        for words in ("bf16", "int8", "1.00x", "1.62x", "failed", "Speedup of all collectives"):
            self.assertIn(f"<!-- {words} -->", text)
        self.check_refused(["one value of /topology/slice (2x2, 4x2)", "--where /topology/slice=2x2"], "sweep",
                           "r.jsonl", "--y", "label", "--x", "/tensor/bytes")
        self.check_refused(["--y label", "omit --label"], "sweep", "r.jsonl", "--y", "label", "--x",
                           "/tensor/bytes", "--label", "int8")

    def figure(self, speedups: dict[tuple[str, str], float], **changes):
        style.use()
        entries = [made_up_sweep.line(number, {"/topology/slice": shape, "/tensor/bytes": size}, "quick", speedup,
                                      **changes) for number, ((shape, size), speedup) in enumerate(speedups.items())]
        made_up_sweep.write(self.folder / "results.jsonl", entries)
        return sweep.draw(point_files.read([self.folder / "results.jsonl"]), "/tensor/bytes", "/topology/slice",
                          "speedup", "quick")

    def test_a_line_separates_gains_and_losses(self):
        speedups = dict(zip(itertools.product(SLICES, SIZES), (0.5, 0.99, 1.03, 0.8, 1.0, 1.9)))
        figure = self.figure(speedups)
        edges = {tuple(zip(line.get_xdata(), line.get_ydata())) for line in figure.axes[0].lines}
        self.assertEqual(edges, {((1.5, -0.5), (1.5, 0.5)), ((0.5, 0.5), (1.5, 0.5)), ((0.5, 0.5), (0.5, 1.5))})
        self.assertTrue(any("blue line: break-even, 1x" in text for text, _ in drawn_texts(figure)))
        check_legible(self, figure)

    def test_no_break_even_line_without_losses(self):
        figure = self.figure(dict.fromkeys(itertools.product(SLICES, SIZES), 1.5))
        self.assertEqual(list(figure.axes[0].lines), [])
        self.assertFalse(any("break-even" in text for text, _ in drawn_texts(figure)))

    def test_the_caption_has_shared_properties_and_axes_have_words(self):
        figure = self.figure(dict.fromkeys(itertools.product(SLICES, SIZES), 1.5))
        texts = [text for text, _ in drawn_texts(figure)]
        self.assertTrue(any(text.startswith("AllReduce of bf16 on tpu-v5e; values from N(0, 1)") for text in texts))
        self.assertIn("tensor on each chip", texts)
        self.assertIn("slice", texts)
        one = self.figure({("4x2", "1 MiB"): 1.5})
        self.assertTrue(any(text.startswith("AllReduce of 1 MiB of bf16 on each of 8 x tpu-v5e, slice 4x2")
                            for text, _ in drawn_texts(one)))

    def test_object_values_have_words(self):
        entries = lines()
        for entry in entries:
            axes = dict(entry["axes"])
            entry["axes"] = axes | {"/topology": {"torus": axes.pop("/topology/slice")}}
        self.write("r.jsonl", entries)
        text = self.drawn("r.jsonl", "--x", "/tensor/bytes", "--y", "/topology", "--label", "int8")
        self.assertIn("<!-- torus 4x2 -->", text)

    def test_values_over_many_decades_have_a_logarithmic_scale(self):
        self.write("r.jsonl", lines())
        self.assertIn("0.0001", self.drawn("r.jsonl", *AXES, "--label", "int8", "--value", "nmse"))

    def test_rejects_invalid_options(self):
        self.write("r.jsonl", lines())
        self.check_refused(["--x and --y", "/topology/slice, /tensor/bytes"], "sweep", "r.jsonl")
        three = [line | {"run": line["run"] | {"label": "int4"}} for line in lines()[:2]]
        self.write("three.jsonl", lines() + three)
        self.check_refused(["--label", "bf16, int8, int4"], "sweep", "three.jsonl", *AXES)
        label = ["--label", "int8"]
        self.check_refused(["'/tensor/byte'", "nearest is '/tensor/bytes'"], "sweep", "r.jsonl", *label, "--x",
                           "/tensor/byte", "--y", "/topology/slice")
        self.check_refused(["both /tensor/bytes"], "sweep", "r.jsonl", *label, "--x", "/tensor/bytes", "--y",
                           "/tensor/bytes")
        self.check_refused(["'speeds'", "speedup"], "sweep", "r.jsonl", *label, *AXES, "--value", "speeds")
        self.check_refused(["AXIS=VALUE"], "sweep", "r.jsonl", *label, *AXES, "--where", "minishards")
        self.check_refused(["'7'", "there is: 1"], "sweep", "r.jsonl", *label, *AXES, "--where",
                           "/collectives/1/minishards=7")
        self.check_refused(["--chip", "gantt"], "sweep", "r.jsonl", *label, *AXES, "--chip", "3")

    def test_rejects_malformed_files(self):
        for content, problem in {"": "an empty file", "a,b\n1,2\n": "columns 'a', 'b'", "{}\n": "an empty JSON object",
                                 '{"point": 1\n': "malformed JSON",
                                 "point,key,/a\nx,y,z\n": "line 2"}.items():
            with self.subTest(content=content):
                (self.folder / "bad").write_text(content)
                self.check_refused(["bad", problem], "sweep", "bad", *AXES)
        self.write("failed.jsonl", lines()[-1:])
        self.check_refused(["all points failed"], "sweep", "failed.jsonl", *AXES)


if __name__ == "__main__":
    unittest.main()
